"""A command whose output takes no more says so, and its status is told to whoever started it."""

import os
import subprocess
import sys

import pytest

BRIDGE = ("/bin/sh", "-c", 'exec "$0" -c "from firmware_bridge.cli import main; main()" "$@"', sys.executable)


def bridge(redirect: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    shell, option, command, *python = BRIDGE
    whole = (shell, option, f"{command} {redirect}", *python, *arguments)
    return subprocess.run(whole, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("arguments", [("rank", "Qh", "Jh", "Th"), ("diagram",), ("--help",)])
def test_a_full_disk_is_told_in_a_sentence(arguments: tuple[str, ...]) -> None:
    done = bridge(">/dev/full", *arguments)
    assert done.returncode == 1
    assert done.stderr.startswith("firmware-bridge: the output ")
    assert "No space left" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("arguments", [("diagram",), ("rank", "Qh", "Jh", "Th")])
def test_an_output_that_was_closed_is_no_error(arguments: tuple[str, ...]) -> None:
    done = bridge(">&-", *arguments)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("redirect", ["", "2>&1", "2>&-"])
def test_a_reader_that_went_away_is_told_by_the_status_alone(redirect: str, unbuffered: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    shell, option, command, *python = BRIDGE
    whole = (shell, option, f"{command} {redirect}", *python, "diagram")
    try:
        environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        done = subprocess.run(whole, stdout=writing, stderr=subprocess.PIPE, env=environment, timeout=60, check=False)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")
