"""The daemon as a process: how it starts, what it says to what it cannot use, and how it ends."""

import fcntl
import json
import os
import pty
import resource
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.e2e.process import BRIDGE, DEADLINE_S, Running, bridge, running, wait_until

pytestmark = pytest.mark.real
CONFIG = """
[table]
name = "test"
deal = "rotation"

[house]
file = "licensed"

[journal]
file = "table.journal"
key = "table.key"

[sockets]
control = "control.sock"
feed = "feed.sock"

[[device]]
name = "shoe"
kind = "shoe"
driver = "tdp"
port = "serial:/dev/no-such-port"
"""


def write(folder: Path, text: str = CONFIG) -> Path:
    config = folder / "table.toml"
    config.write_text(text)
    return config


def test_a_port_that_somebody_holds_is_told_with_the_holder(tmp_path: Path) -> None:
    far, port = pty.openpty()
    fcntl.flock(port, fcntl.LOCK_EX)
    name = os.ttyname(port)
    holder = subprocess.Popen(("/bin/sleep", "300"), stdin=port)
    os.close(port)
    try:
        with running(write(tmp_path, CONFIG.replace("/dev/no-such-port", name))) as daemon:
            daemon.wait_for(f"process {holder.pid} (/bin/sleep")
            assert f"process {holder.pid}" in bridge("status", "--config", str(daemon.config)).stdout
            assert daemon.stop() == 0
    finally:
        holder.kill()
        holder.wait()
        os.close(far)


def test_people_tell_and_ask_from_the_command_line(tmp_path: Path) -> None:
    with running(write(tmp_path)) as daemon:
        control = ("--control", str(tmp_path / "control.sock"))
        wager = ("tell", "wager", "1", "--ante", "500", "--pair-plus", "100", *control, "--id", "w", "--json")
        first = bridge(*wager)
        assert first.returncode == 0
        assert json.loads(first.stdout)["accepted"] is True
        assert bridge(*wager).stdout == first.stdout
        assert "seat 2 wagers ante 5.00" in bridge("tell", "wager", "2", "--ante", "500", *control).stdout
        nothing_held = bridge("tell", "ruling", "continue", "--reason", "counted", *control)
        assert nothing_held.returncode == 1
        assert nothing_held.stderr.startswith("firmware-bridge: ")
        for arguments in (("card_identified", "2", "3", "Zz"), ("decision", "1", "maybe"), ("wager", "one")):
            wrong = bridge("tell", *arguments, *control)
            assert wrong.returncode == 2
            assert "Traceback" not in wrong.stderr
        status = json.loads(bridge("status", "--config", str(daemon.config), "--json").stdout)
        assert status["round"]["number"] == 1
        assert status["lost"] == ["shoe"]
        assert "no-such-port" in bridge("status", *control).stdout
        assert daemon.stop() == 0
    gone = bridge("tell", "no_more_bets", *control)
    assert gone.returncode == 1
    assert "Nobody answers at" in gone.stderr


def test_every_fact_has_its_command_with_its_arguments() -> None:
    shown = bridge("tell", "--help").stdout
    for usage in ("seats", "SEATS...", "play|fold", "SEAT INDEX CARD", "[--pair-plus PAIR_PLUS]", "no_more_bets"):
        assert usage in shown


def test_a_disk_that_refuses_holds_the_dealing_until_it_takes_writes_again(tmp_path: Path) -> None:
    with running(write(tmp_path)) as daemon:
        tell = ("--config", str(daemon.config))
        assert bridge("tell", "wager", "1", "--ante", "500", *tell).returncode == 0
        with file_size_limit(daemon, tmp_path / "table.journal-wal"):
            refused_now = bridge("tell", "wager", "2", "--ante", "500", "--id", "two", *tell)
            assert refused_now.returncode == 1
            assert "Nothing was changed" in refused_now.stderr
            assert "nothing can be told now" in bridge("status", *tell).stdout
        daemon.wait_for("the journal takes writes again")
        assert bridge("tell", "wager", "2", "--ante", "500", "--id", "two", *tell).returncode == 0
        round_now = json.loads(bridge("status", *tell, "--json").stdout)["round"]
        assert round_now["number"] == 1
        assert daemon.stop() == 0


@contextmanager
def file_size_limit(daemon: Running, file: Path) -> Iterator[None]:
    """No file of the daemon may grow beyond the present size of `file`."""
    pid = daemon.process.pid
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (file.stat().st_size, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


def test_on_a_terminal_log_lines_are_for_people(tmp_path: Path) -> None:
    master, terminal = pty.openpty()
    config = write(tmp_path)
    process = subprocess.Popen((*BRIDGE, "run", "--config", str(config)), stderr=terminal)
    os.close(terminal)
    try:
        os.set_blocking(master, False)
        shown = b""

        def ready() -> bool:
            nonlocal shown
            with suppress(BlockingIOError):
                shown += os.read(master, 65536)
            return b"ready" in shown

        wait_until(ready, "a ready line")
        process.send_signal(signal.SIGTERM)
        assert process.wait(DEADLINE_S) == 0
    finally:
        process.kill()
        process.wait()
        os.close(master)
    assert b'{"' not in shown
    assert b"info" in shown


@pytest.mark.parametrize("redirect", ["2>/dev/full", "2>&-", "<&- >&- 2>&-"])
def test_it_runs_on_where_its_log_cannot_be_written(tmp_path: Path, redirect: str) -> None:
    config = write(tmp_path)
    command = f'exec "$0" "$@" {redirect}'
    daemon = subprocess.Popen(("/bin/sh", "-c", command, *BRIDGE, "run", "--config", str(config)))
    try:
        wait_until(
            lambda: daemon.poll() is not None or bridge("status", "--config", str(config)).returncode == 0, "an answer"
        )
        assert daemon.poll() is None
        told = bridge("tell", "wager", "1", "--ante", "500", "--config", str(config))
        assert told.returncode == 0, told.stderr
        daemon.send_signal(signal.SIGTERM)
        daemon.wait(DEADLINE_S)
        shown = bridge("journal", "show", "--config", str(config))
        assert "seat 1 wagers ante 5.00" in shown.stdout
    finally:
        daemon.kill()
        daemon.wait()
