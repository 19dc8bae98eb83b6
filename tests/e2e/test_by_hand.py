"""README's commands for running the daemon by hand, word for word but for the folder."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.process import wait_until

pytestmark = pytest.mark.real

README = (Path(__file__).parents[2] / "README.md").read_text()
BIN = Path(sys.executable).parent


def command_lines() -> list[list[str]]:
    block = README.split("To run the daemon by hand")[1].split("\n## ")[0]
    return [line.split("  #")[0].split() for line in re.findall(r"^    \.venv/bin/(.*)$", block, re.MULTILINE)]


def test_the_daemon_runs_by_hand_as_readme_says(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Devices, daemon and watch in their terminals; the rounds are dealt, and the record of the last is shown."""
    folder = tmp_path_factory.mktemp("h")
    devices, run, watch, tell, journal = (
        [str(BIN / name), *(word.replace("/tmp/table", str(folder / "t")) for word in words)]  # noqa: S108
        for name, *words in command_lines()
    )
    said = {name: folder / f"{name}.txt" for name in ("devices", "run", "watch")}
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, command: list[str]) -> subprocess.Popen[bytes]:
        with said[name].open("wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=output, env={**os.environ, "COLUMNS": "200"})
        started.append(process)
        return process

    try:
        dealing = start("devices", [*devices, "--pace", "0"])
        wait_until(lambda: "Now run" in said["devices"].read_text(), "the devices")
        daemon = start("run", run)
        wait_until(lambda: "ready" in said["run"].read_text() or daemon.poll() is not None, "the daemon")
        start("watch", watch)
        assert dealing.wait(60) == 0, said["devices"].read_text() + said["run"].read_text()
        wait_until(lambda: "round 3  settled" in said["watch"].read_text(), "the last round to be watched")
        for command in (tell, journal):
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
            assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("round 3: ")
        daemon.send_signal(signal.SIGTERM)
        assert daemon.wait(60) == 0
    finally:
        for process in started:
            process.kill()
            process.wait()
