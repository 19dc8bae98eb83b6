"""Ctrl-C in the first moments of a command, while Python still loads what it needs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.real

CTRL_C = "import os, signal; os.kill(os.getpid(), signal.SIGINT)"


@pytest.mark.parametrize(
    ("room", "command"), [("firmware_bridge.cli", ("run", "--help")), ("simulator.cli", ("demo", "--rounds", "1"))]
)
@pytest.mark.parametrize("loading", ["typer", "rich", "msgspec"])
def test_it_ends_without_a_word(tmp_path: Path, room: str, command: tuple[str, ...], loading: str) -> None:
    (tmp_path / f"{loading}.py").write_text(CTRL_C)
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{root}"}
    main = f"from {room} import main; main()"
    done = subprocess.run(
        (sys.executable, "-c", main, *command), env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
