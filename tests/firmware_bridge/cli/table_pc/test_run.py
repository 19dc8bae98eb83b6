import json
import signal
from pathlib import Path

import pytest

from tests.e2e.process import bridge, running

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
