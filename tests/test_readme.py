"""What README claims and a machine can check."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from firmware_bridge.cli import COMMANDS
from firmware_bridge.core.game.machine import mermaid

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_the_diagram_is_the_machines_own() -> None:
    shown = re.search(r"```mermaid\n(.*?)\n```", README, re.DOTALL)
    assert shown is not None
    assert shown.group(1).strip() == mermaid().strip()


def test_every_file_it_links_to_is_there() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_make_target_it_names_is_there() -> None:
    targets = set(re.findall(r"(?:`|^    )make ([a-z-]+)", README, re.MULTILINE))
    assert {"demo", "test", "check"} <= targets
    makefile = (ROOT / "Makefile").read_text()
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []


def test_every_command_is_named() -> None:
    table = README.split("## Commands")[1].split("\n## ")[0]
    assert [name for name in COMMANDS if f"`{name}" not in table] == []


@pytest.mark.parametrize("command", re.findall(r"\.venv/bin/firmware-bridge ((?:[a-z]+ )+)", README))
def test_every_command_line_it_shows_is_one(command: str) -> None:
    shown = subprocess.run(  # the names alone, with --help: nothing is started
        [sys.executable, "-c", "from firmware_bridge.cli import main; main()", *command.split(), "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
