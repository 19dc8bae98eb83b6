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


def refused(config: Path, *, status: int) -> str:
    """What a daemon says that does not start: one sentence, nothing left behind."""
    ended = bridge("run", "--config", str(config))
    assert ended.returncode == status, ended.stderr
    assert ended.stdout == ""
    sentence = ended.stderr.strip().splitlines()[-1]
    assert sentence.startswith("firmware-bridge: ")
    assert sentence.endswith(".")
    assert "Traceback" not in ended.stderr
    assert not (config.parent / "control.sock").exists()
    return sentence


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ('deal = "rotation"', 'deal = "rotation"\nspeed = 3', "the key table.speed is not known"),
        ('file = "licensed"', 'file = "nobody"', "there is no house 'nobody': name one of"),
        ('deal = "rotation"', 'deal = "rotation"\nseats = 14', "places at most"),
        ('deal = "rotation"', 'deal = "rotation"\nschedule = 99', "no schedule 99: it has"),
        ('deal = "rotation"', 'deal = "rotation"\ndecks = 3', "decks"),
        ('port = "serial:/dev/no-such-port"', "", "the key device[0].port is missing"),
        ('port = "serial:/dev/no-such-port"', 'port = "/dev/ttyS0"', 'write "serial:/dev/ttyS0"'),
        ('driver = "tdp"', 'driver = "tpd"', "tdp"),
    ],
)
def test_a_wrong_configuration_is_told(tmp_path: Path, right: str, wrong: str, told: str) -> None:
    assert right in CONFIG
    assert told in refused(write(tmp_path, CONFIG.replace(right, wrong)), status=2)


def test_no_configuration_is_told(tmp_path: Path) -> None:
    assert "There is no configuration file" in refused(tmp_path / "nowhere.toml", status=2)


def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "table.key").write_text("00" * 32)
    (tmp_path / "table.key").chmod(0o644)
    assert "chmod 600" in refused(write(tmp_path), status=1)


def test_a_file_that_is_no_journal_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "table.journal").write_text("dear diary")
    assert "is not a journal of this program" in refused(write(tmp_path), status=1)
    assert (tmp_path / "table.journal").read_text() == "dear diary"


def test_a_journal_that_another_daemon_writes_is_refused_and_the_daemon_named(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    shared = CONFIG.replace('"table.journal"', f'"{tmp_path}/table.journal"')
    shared = shared.replace('"table.key"', f'"{tmp_path}/table.key"')
    with running(write(tmp_path)) as daemon:
        assert f"process {daemon.process.pid}" in refused(write(other, shared), status=1)
        assert bridge("status", "--config", str(daemon.config)).returncode == 0


def test_a_socket_that_another_daemon_has_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    config = write(other, CONFIG.replace('"feed.sock"', f'"{tmp_path}/feed.sock"'))
    with running(write(tmp_path)):
        assert "another process listens at" in refused(config, status=1)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_missing_port_is_waited_for_and_a_stop_is_clean(tmp_path: Path, how: signal.Signals) -> None:
    with running(write(tmp_path)) as daemon:
        daemon.wait_for("/dev/no-such-port")
        assert daemon.stop(how) == 0
        lines = [json.loads(line) for line in daemon.log.splitlines()]
    told = [line["event"] for line in lines if line["level"] == "info"]
    # Where udev does not run, one line says so; whether it does depends on the machine.
    assert [line for line in told if line != "hotplug_unavailable"] == ["ready", "stopped"]
    assert sum("no-such-port" in line.get("sentence", "") for line in lines) == 1, "told once, not at every try"
    assert not (tmp_path / "control.sock").exists()
    assert not (tmp_path / "feed.sock").exists()


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
