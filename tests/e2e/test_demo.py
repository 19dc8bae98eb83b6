"""The demo as a person runs it: a process of its own, the real daemon as its child."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

pytestmark = pytest.mark.real

MAIN = "import sys; from simulator.cli import main; sys.argv[0] = 'table-simulator'; main()"
DEMO = (sys.executable, "-c", MAIN, "demo")
AT_MS = re.compile(rb'("(?:at_ms|effective_at_ms)":)\d+')


def environment(scratch: Path) -> dict[str, str]:
    return {**os.environ, "TMPDIR": str(scratch), "COLUMNS": "100"}


def run(scratch: Path, *options: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        (*DEMO, *options), env=environment(scratch), capture_output=True, timeout=110, check=False, cwd=scratch
    )


def start(scratch: Path, *options: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        (*DEMO, *options), env=environment(scratch), stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=scratch
    )


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pids: Sequence[int]) -> list[int]:
    return [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def wait_for(process: "subprocess.Popen[bytes]", text: bytes) -> None:
    """Read its output up to `text`."""
    assert process.stdout is not None
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        line = process.stdout.readline()
        if text in line:
            return
        assert line, process.stderr.read() if process.stderr else b""
    pytest.fail(f"{text!r} never came")


@pytest.fixture
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short path: sockets lie under it."""
    return tmp_path_factory.mktemp("d")


@pytest.mark.parametrize("rig", ["group", "rotation"])
def test_the_same_seed_gives_the_same_bytes_but_for_the_times(scratch: Path, rig: str) -> None:
    options = ("--pace", "0", "--rounds", "6", "--seed", "1", "--rig", rig, "--json")
    first, second = run(scratch, *options), run(scratch, *options)
    assert first.stderr == second.stderr == b""
    assert first.returncode == second.returncode == 0
    lines = first.stdout.splitlines()
    outcome = json.loads(lines[-1])
    assert outcome["rounds"] == 6 == outcome["dealt"] + outcome["void"]
    assert outcome["held"] == 0
    assert [json.loads(line)["seq"] for line in lines[:-1]] == list(range(1, len(lines)))
    assert AT_MS.sub(rb"\1", first.stdout) == AT_MS.sub(rb"\1", second.stdout)
    assert list(scratch.iterdir()) == []


@pytest.mark.long
@pytest.mark.timeout(400)
def test_fifty_rounds_twice() -> None:
    options = ("--pace", "0", "--rounds", "50", "--seed", "1", "--json")
    outputs = [subprocess.run((*DEMO, *options), capture_output=True, timeout=190, check=True).stdout for _ in range(2)]
    first, second = (AT_MS.sub(rb"\1", output) for output in outputs)
    assert first == second


def test_it_shows_the_rounds_and_sums_them_up(scratch: Path) -> None:
    done = run(scratch, "--pace", "0", "--rounds", "3", "--keep", "kept")
    said = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b"")
    for shown in ("shuffler is there", "shoe is there", "layout is there", "card 3", "shows", "settled", "3 rounds:"):
        assert shown in said
    kept = {path.name for path in (scratch / "kept").iterdir()}
    assert {"table.toml", "table.journal", "table.key", "daemon.log"} <= kept
    again = run(scratch, "--keep", "kept")
    assert again.returncode == 2
    assert again.stderr.decode().startswith("table-simulator: The folder kept is not empty")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ending_it_leaves_nothing(scratch: Path, number: signal.Signals) -> None:
    process = start(scratch, "--pace", "1", "--rounds", "50")
    wait_for(process, b"card 1")
    family = children(process.pid)
    assert family
    process.send_signal(number)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert errors == b""
    assert alive(family) == []
    assert list(scratch.iterdir()) == []


def test_a_second_signal_does_not_cut_the_end_short(scratch: Path) -> None:
    process = start(scratch, "--pace", "1", "--rounds", "50")
    wait_for(process, b"card 1")
    family = children(process.pid)
    process.send_signal(signal.SIGINT)
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.0001)
    assert (process.returncode, process.communicate()[1]) == (130, b"")
    assert alive(family) == []
    assert list(scratch.iterdir()) == []


def test_its_daemon_ends_with_it_even_where_it_is_killed(scratch: Path) -> None:
    process = start(scratch, "--pace", "1", "--rounds", "50")
    wait_for(process, b"card 1")
    family = children(process.pid)
    process.kill()
    process.communicate(timeout=30)
    deadline = time.monotonic() + 30
    while alive(family) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert alive(family) == []


def test_a_full_disk_ends_it_with_a_sentence(scratch: Path) -> None:
    """As full as can be arranged anywhere: no file may grow beyond what the first rounds need."""
    limited = ("/bin/sh", "-c", 'ulimit -f 256; exec "$0" "$@"', *DEMO, "--pace", "0", "--rounds", "50", "--json")
    done = subprocess.run(limited, env=environment(scratch), capture_output=True, timeout=110, check=False)
    said = done.stderr.decode()
    assert done.returncode == 1
    assert said.startswith("table-simulator: ")
    assert "dealing is held" in said
    assert "Traceback" not in said
    assert list(scratch.iterdir()) == []


def test_a_daemon_that_dies_is_told_with_the_end_of_its_log(scratch: Path) -> None:
    process = start(scratch, "--pace", "1", "--rounds", "50")
    wait_for(process, b"card 1")
    (daemon,) = children(process.pid)
    os.kill(daemon, signal.SIGKILL)
    _, errors = process.communicate(timeout=30)
    said = errors.decode()
    assert process.returncode == 1
    assert said.startswith("table-simulator: The daemon ended with status -9. The end of its log:\n    ")
    assert "Traceback" not in said
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(("options", "begins"), [(("--json",), b"round_opened"), ((), b"round 1  opens")])
def test_a_reader_that_goes_away_ends_it(scratch: Path, options: tuple[str, ...], begins: bytes) -> None:
    process = start(scratch, "--pace", "0", "--rounds", "50", *options)
    wait_for(process, begins)
    family = children(process.pid)
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(timeout=30) == 141
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert alive(family) == []
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(("redirect", "says"), [(">/dev/full", "No space left"), (">&-", "The output is closed")])
def test_an_output_that_takes_nothing_is_told(scratch: Path, redirect: str, says: str) -> None:
    command = ("/bin/sh", "-c", f'exec "$0" "$@" {redirect}', *DEMO, "--pace", "0", "--rounds", "2", "--json")
    done = subprocess.run(command, env=environment(scratch), capture_output=True, timeout=110, check=False)
    said = done.stderr.decode()
    assert done.returncode in (1, 2)
    assert says in said
    assert said.startswith("table-simulator: ")
    assert "Traceback" not in said
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--house", "casino-royale"), "casino-royale"),
        (("--house", "./missing.toml"), "missing.toml"),
        (("--keep", "/proc/nowhere"), "/proc/nowhere"),
        (("--keep", "x" * 120), "too long"),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence(scratch: Path, options: tuple[str, ...], says: str) -> None:
    done = run(scratch, *options)
    said = done.stderr.decode()
    assert done.returncode == 2
    assert says in said
    assert said.startswith("table-simulator: ")
    assert "Traceback" not in said
