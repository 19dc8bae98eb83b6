import pytest

from firmware_bridge.doctor.findings import Health
from firmware_bridge.doctor.machine import Machine
from firmware_bridge.doctor.unit import installed_unit
from tests.firmware_bridge.doctor.table_pc import TablePc


def test_a_drop_in_changes_what_the_service_may(pc: TablePc) -> None:
    pc.write("/etc/systemd/system/firmware-bridge.service.d/more.conf", "[Service]\nSupplementaryGroups=dialout\n")
    unit = installed_unit(Machine(pc.root, pc.ask))
    assert unit.more_groups == ("table-devices", "dialout")
    pc.write("/etc/systemd/system/firmware-bridge.service.d/z.conf", "[Service]\nSupplementaryGroups=\n")
    assert installed_unit(Machine(pc.root, pc.ask)).more_groups == ()


def test_a_unit_that_is_masked(pc: TablePc) -> None:
    pc.at("/etc/systemd/system").mkdir(parents=True)
    pc.at("/etc/systemd/system/firmware-bridge.service").symlink_to("/dev/null")
    pc.answers["systemctl"] = "ActiveState=inactive\nUnitFileState=masked\nLoadState=masked\n"
    finding = pc.only("service")
    assert finding.health is Health.WRONG
    assert "systemctl unmask firmware-bridge" in finding.sentence


@pytest.mark.parametrize(
    ("more", "health", "words"),
    [
        ("LoadState=loaded\nNeedDaemonReload=yes\n", Health.WARNING, "systemctl daemon-reload"),
        ("LoadState=bad-setting\n", Health.WRONG, "systemctl status firmware-bridge"),
    ],
)
def test_a_unit_that_was_edited(pc: TablePc, more: str, health: Health, words: str) -> None:
    pc.answers["systemctl"] = f"ActiveState=active\nUnitFileState=enabled\n{more}"
    finding = pc.only("service")
    assert finding.health is health
    assert words in finding.sentence


def test_a_unit_of_several_lines_and_quotes_is_read(pc: TablePc) -> None:
    drop_in = '[Service]\nSupplementaryGroups="dialout" \\\n    table-devices\n'
    pc.write("/etc/systemd/system/firmware-bridge.service.d/more.conf", drop_in)
    assert pc.bad() == []
    assert installed_unit(Machine(pc.root, pc.ask)).more_groups == ("table-devices", "dialout", "table-devices")
