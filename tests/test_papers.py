"""What the project's papers claim and a machine can check: links, paths, commands, pictures."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from firmware_bridge.cli import COMMANDS
from firmware_bridge.core.game.machine import mermaid

ROOT: Final = Path(__file__).parent.parent
PAPERS: Final = {
    str(file.relative_to(ROOT)): file.read_text()
    for top in ("", "drivers", "firmware_bridge", "simulator", "tests", "udev")
    for file in sorted((ROOT / top).glob("*.md") if top == "" else (ROOT / top).rglob("*.md"))
}
README: Final = PAPERS["README.md"]
TOPS: Final = tuple(f"{name}/" for name in ("drivers", "firmware_bridge", "simulator", "tests", "udev"))
PROGRAMS: Final = {
    "firmware-bridge": "from firmware_bridge.cli import main; main()",
    "table-simulator": "from simulator.cli import main; main()",
}
# What a paper writes before its paths, where it leaves that out for the reader's sake.
INSIDE: Final = {"firmware_bridge/README.md": "firmware_bridge", "simulator/README.md": "simulator"}


def in_code(text: str) -> Iterator[str]:
    """What stands between single back quotes, outside of blocks."""
    yield from re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def paths(paper: str) -> Iterator[str]:
    """Files and folders that the paper names: below one of the top folders, or in code, in the paper's own room."""
    yield from re.findall(
        r"(?<![\w/.-])((?:drivers|firmware_bridge|simulator|tests|udev)/[\w/-]+\.(?:py|toml|sh))", PAPERS[paper]
    )
    inside = ROOT / INSIDE[paper] if paper in INSIDE else None
    for code in in_code(PAPERS[paper]):
        named = code.partition("::")[0]
        if named.startswith(TOPS):
            yield named
        elif inside is not None and re.fullmatch(r"[a-z_]+/([a-z_]+/)*([a-z_]+\.(py|toml))?", named):
            yield str((inside / named).relative_to(ROOT))


def commands() -> Iterator[tuple[str, ...]]:
    """Program and names of each command line that a paper shows."""
    for text in PAPERS.values():
        for program, rest in re.findall(r"\b(firmware-bridge|table-simulator)((?: [a-z][a-z-]*)+)", in_lines(text)):
            yield (program, *shlex.split(rest)[: depth(program, rest)])


def in_lines(text: str) -> str:
    """The parts of a paper that are meant to be typed: code in the text, and indented lines."""
    return "\n".join([*in_code(text), *re.findall(r"^ {4}(\S.*)$", text, re.MULTILINE)])


def depth(program: str, rest: str) -> int:
    """How many words after the program are names of commands; the rest are arguments."""
    first = rest.split()[0]
    return 2 if program == "firmware-bridge" and first in {"house", "journal"} else 1


@pytest.mark.parametrize("paper", PAPERS)
def test_every_file_it_links_to_is_there(paper: str) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", PAPERS[paper])
    here = (ROOT / paper).parent
    assert [link for link in links if "://" not in link and not (here / link).exists()] == []


@pytest.mark.parametrize("paper", PAPERS)
def test_every_path_it_names_is_there(paper: str) -> None:
    missing = [path for path in paths(paper) if not (ROOT / path).exists() and not list(ROOT.glob(path))]
    assert missing == []


@pytest.mark.parametrize("paper", PAPERS)
def test_every_make_target_it_names_is_there(paper: str) -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"(?:`|^    )make ([a-z-]+)", PAPERS[paper], re.MULTILINE))
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []


def test_readme_has_the_two_commands_that_set_everything_up() -> None:
    assert re.findall(r"^    make ([a-z-]+)", README, re.MULTILINE) == ["demo", "test"]


@pytest.mark.parametrize("command", sorted(set(commands())), ids=" ".join)
def test_every_command_line_is_one(command: tuple[str, ...]) -> None:
    program, *names = command
    shown = subprocess.run(  # the names alone, with --help: nothing is started
        [sys.executable, "-c", PROGRAMS[program], *names, "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr


@pytest.mark.parametrize("paper", PAPERS)
def test_every_module_it_runs_is_there(paper: str) -> None:
    modules = [name for name in re.findall(r"python -m ([a-z_.]+)", PAPERS[paper]) if name.startswith("tests.")]
    assert [name for name in modules if not (ROOT / f"{name.replace('.', '/')}.py").exists()] == []


def test_the_diagram_is_the_machines_own() -> None:
    shown = re.search(r"```mermaid\n(.*?)\n```", README, re.DOTALL)
    assert shown is not None
    assert shown.group(1).strip() == mermaid().strip()


def test_every_command_is_named_in_readme() -> None:
    table = README.split("## Commands")[1].split("\n## ")[0]
    assert [name for name in COMMANDS if f"`{name}" not in table] == []
