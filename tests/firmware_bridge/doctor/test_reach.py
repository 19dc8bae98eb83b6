import os

import pytest

from firmware_bridge.doctor.findings import Health
from tests.firmware_bridge.doctor.table_pc import TablePc


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
