"""What the doctor finds in the configuration, and what it says in all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from firmware_bridge.doctor.findings import Finding, Health, exit_status
from firmware_bridge.doctor.machine import MOST_BYTES, Machine, ask_system
from firmware_bridge.doctor.unit import Unit
from firmware_bridge.secret_files import KeyFileError
from tests.firmware_bridge.doctor.table_pc import TablePc


def test_where_everything_is_well_everything_is_green(pc: TablePc) -> None:
    assert pc.bad() == []
    assert len(pc.findings()) >= 20
    assert all(finding.sentence.endswith(".") for finding in pc.findings())


def test_a_configuration_that_cannot_be_used_leaves_the_rest_to_be_looked_at(pc: TablePc) -> None:
    pc.write("/etc/firmware-bridge/table.toml", "[tabel]\n")
    told = {finding.check: finding for finding in pc.bad()}
    assert told["configuration"].health is Health.WRONG
    assert told["house"].health is Health.UNKNOWN
    assert any(finding.check == "udev rules" and finding.health is Health.OK for finding in pc.findings())


def test_another_configuration_than_the_services(pc: TablePc) -> None:
    told = pc.at("/etc/firmware-bridge/table.toml")
    other = pc.at("/etc/firmware-bridge/table-2.toml")
    other.write_text(told.read_text())
    finding = next(finding for finding in pc.findings(other) if finding.health is not Health.OK)
    assert finding.health is Health.WARNING
    assert "The service is started with /etc/firmware-bridge/table.toml" in finding.sentence


def test_a_configuration_that_the_service_may_not_read(pc: TablePc) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root makes files that the service may not read")
    pc.service_owns_nothing()
    pc.at("/etc/firmware-bridge/table.toml").chmod(0o600)
    finding = pc.only("configuration")
    assert "chmod 644 /etc/firmware-bridge/table.toml" in finding.sentence


def test_a_configuration_that_was_changed_under_the_running_service(pc: TablePc) -> None:
    os.utime(pc.at("/etc/firmware-bridge/table.toml"), (1_700_000_000.5, 1_700_000_000.5))
    running = "ActiveState=active\nUnitFileState=enabled\nExecMainStartTimestamp=@"
    for started in ("1700000001", "1700000000", "", "n/a"):
        pc.answers["systemctl"] = f"{running}{started}\n"
        assert pc.bad() == []
    pc.answers["systemctl"] = f"{running}1699999999\n"
    finding = pc.only("configuration")
    assert finding.health is Health.WARNING
    assert "run systemctl restart firmware-bridge" in finding.sentence


def test_a_driver_that_is_not_there(pc: TablePc) -> None:
    file = pc.at("/etc/firmware-bridge/table.toml")
    file.write_text(file.read_text().replace('driver = "tdp"', 'driver = "tpd"', 1))
    finding = pc.only("configuration")
    assert "the device shuffler" in finding.sentence


def test_a_house_that_does_not_offer_what_the_table_wants(pc: TablePc) -> None:
    file = pc.at("/etc/firmware-bridge/table.toml")
    file.write_text(file.read_text().replace('deal = "group"', 'deal = "group"\ndecks = 6'))
    assert pc.only("house").health is Health.WRONG


def test_a_key_that_is_missing_is_named_by_the_file_to_make(pc: TablePc) -> None:
    pc.at("/etc/firmware-bridge/table.key").unlink()
    finding = pc.only("keys")
    assert finding.health is Health.WRONG
    assert "is not at /etc/firmware-bridge/table.key" in finding.sentence


@pytest.mark.parametrize(
    ("text", "mode", "words"),
    [("5a" * 32, 0o640, "chmod 600 /etc/firmware-bridge/table.key"), ("5a", 0o600, "does not hold 64 hex digits")],
)
def test_a_key_that_is_open_or_damaged(pc: TablePc, text: str, mode: int, words: str) -> None:
    pc.write("/etc/firmware-bridge/table.key", text, mode)
    finding = pc.only("keys")
    assert words in finding.sentence
    assert str(pc.root) not in finding.sentence


def test_a_key_that_only_root_may_read(pc: TablePc, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder shows it to whoever looks for the technician's own account."""

    def refuse(file: Path) -> None:
        raise KeyFileError from PermissionError(13, str(file))

    monkeypatch.setattr("firmware_bridge.doctor.settings.read_keys", refuse)
    finding = pc.only("keys")
    assert finding.health is Health.UNKNOWN
    assert finding.sentence.endswith("by root alone: run this as root.")


def test_a_key_that_is_not_handed_to_the_service(pc: TablePc) -> None:
    pc.change("service/table.key", "service/tabel.key")
    told = [finding.sentence for finding in pc.bad() if finding.check == "keys"]
    assert "it hands device-keys and table.key" in told[-1]
    pc.write("/run/credentials/firmware-bridge.service/tabel.key", "5a" * 32, 0o600)  # in some other way
    assert pc.bad() == []


def test_what_systemd_hands_over_has_to_be_there(pc: TablePc) -> None:
    pc.at("/etc/firmware-bridge/device-keys").rmdir()
    finding = pc.only("keys")
    assert finding.health is Health.WRONG
    assert "systemd hands /etc/firmware-bridge/device-keys to the service, which does not start" in finding.sentence


def test_a_key_that_the_service_may_not_read(pc: TablePc) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root makes files that the service may not read")
    pc.service_owns_nothing()
    pc.change("/run/credentials/firmware-bridge.service/table.key", "/etc/firmware-bridge/table.key")
    finding = pc.only("keys")
    assert finding.health is Health.WRONG
    assert "may not read the key /etc/firmware-bridge/table.key" in finding.sentence


def test_keys_of_paired_devices_are_found_in_their_folder() -> None:
    unit = Unit(None, "u", "g", (), {"device-keys": "/etc/firmware-bridge/device-keys"})
    given = Path("/run/credentials/firmware-bridge.service/device-keys_shoe.key")
    assert unit.source_of(given) == Path("/etc/firmware-bridge/device-keys/shoe.key")
    assert unit.source_of(Path("/srv/shoe.key")) is None


def test_a_check_that_fails_spoils_no_other(pc: TablePc, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = pc.findings()

    def fail(_: Path) -> None:
        raise BlockingIOError

    monkeypatch.setattr(os, "statvfs", fail)
    monkeypatch.setattr(Machine, "processes", fail)
    told = pc.findings()
    failed = [finding for finding in told if finding.check in ("modem manager", "udev runs")]
    assert [finding.health for finding in failed] == [Health.UNKNOWN, Health.UNKNOWN]
    assert all("TypeError in " in finding.sentence for finding in failed)
    assert len(told) == len(whole)


def test_nothing_is_waited_for_and_nothing_read_without_end(pc: TablePc) -> None:
    os.mkfifo(pc.at("/etc/pipe"))
    assert Machine(pc.root).read("/etc/pipe") == ""
    pc.at("/etc/endless").symlink_to("/dev/zero")
    assert len(Machine(pc.root).read("/etc/endless") or "") <= MOST_BYTES
    for text in ("9" * 5000, "\u0663", "abc"):
        pc.write("/etc/passwd", f"firmware-bridge:x:{text}:{text}:::/bin/false\n")
        Machine(pc.root).groups_of("firmware-bridge")
        assert Machine(pc.root).user_id("nobody") is None


def test_the_worst_finding_is_the_status() -> None:
    ok, unknown, warning, wrong = (Finding("x", health, "X.") for health in Health)
    assert exit_status([]) == exit_status([ok]) == 0
    assert exit_status([ok, unknown]) == exit_status([warning, ok]) == 1
    assert exit_status([ok, warning, wrong, unknown]) == 2


def test_a_command_that_is_not_there_or_says_nothing_is_no_answer() -> None:
    assert ask_system(["/no/such/command"]) is None
    assert ask_system([sys.executable, "-c", ""]) is None
    assert ask_system([sys.executable, "-c", "print('yes')"]) == "yes\n"


@pytest.mark.real
def test_the_command_tells_the_same_as_json(pc: TablePc) -> None:
    run = "import sys; from firmware_bridge.cli import main; sys.argv[0] = 'firmware-bridge'; main()"
    command = [sys.executable, "-c", run, "doctor", "--config", str(pc.at("/nowhere.toml"))]
    words = subprocess.run(command, check=False, capture_output=True, text=True)
    as_json = subprocess.run([*command, "--json"], check=False, capture_output=True, text=True)
    assert words.returncode == as_json.returncode == 2
    assert "There is no configuration file" in words.stdout
    assert '"check":"configuration","health":"wrong"' in as_json.stdout
    assert "Traceback" not in words.stderr + as_json.stderr


@pytest.mark.real
def test_what_a_device_calls_itself_does_not_steer_the_terminal(pc: TablePc) -> None:
    pc.change('name = "table-1"', 'name = "table-1"\n"\\u001b[31m" = 1')
    run = "import sys; from firmware_bridge.cli import main; sys.argv[0] = 'firmware-bridge'; main()"
    command = [sys.executable, "-c", run, "doctor", "--config", str(pc.at("/etc/firmware-bridge/table.toml"))]
    told = subprocess.run(command, check=False, capture_output=True, text=True).stdout
    assert "?[31m is not known" in told
