"""What the doctor finds of the service and its record."""

import pytest

from firmware_bridge.doctor.findings import Health
from tests.firmware_bridge.doctor.table_pc import TablePc


def test_a_user_that_is_missing(pc: TablePc) -> None:
    pc.groups("")
    (finding, *_) = pc.bad()
    assert finding.check == "users"
    assert "no group table-devices" in finding.sentence
    assert "systemd-sysusers" in finding.sentence


def test_rules_that_are_missing_or_hidden(pc: TablePc) -> None:
    pc.write("/etc/udev/rules.d/70-firmware-bridge.rules", "")
    assert "hides" in pc.only("udev rules").sentence
    pc.at("/etc/udev/rules.d/70-firmware-bridge.rules").unlink()
    pc.at("/usr/local/lib/udev/rules.d/70-firmware-bridge.rules").unlink()
    assert "not installed" in pc.only("udev rules").sentence


@pytest.mark.parametrize(
    ("check", "own", "installed"),
    [
        ("udev rules", "/etc/udev/rules.d/70-firmware-bridge.rules", "udev/rules.d/70-firmware-bridge.rules"),
        ("service", "/etc/systemd/system/firmware-bridge.service", "systemd/system/firmware-bridge.service"),
    ],
)
def test_an_own_copy_that_hides_what_is_installed(pc: TablePc, check: str, own: str, installed: str) -> None:
    text = pc.at(f"/usr/local/lib/{installed}").read_text()
    pc.write(own, text)
    assert pc.bad() == []
    pc.write(own, f"# mine\n{text}")
    finding = pc.only(check)
    assert finding.health is Health.WARNING
    assert f"{own} hides /usr/local/lib/{installed}" in finding.sentence


def test_a_unit_that_is_missing(pc: TablePc) -> None:
    pc.at("/usr/local/lib/systemd/system/firmware-bridge.service").unlink()
    told = {finding.check: finding for finding in pc.bad()}
    assert "not installed" in told["service"].sentence


@pytest.mark.parametrize(
    ("answer", "health", "words"),
    [
        ("ActiveState=failed\nUnitFileState=enabled\nResult=exit-code\nExecMainStatus=2\n", Health.WRONG, "status 2"),
        ("ActiveState=inactive\nUnitFileState=enabled\n", Health.WARNING, "is stopped"),
        ("ActiveState=activating\nUnitFileState=enabled\n", Health.WARNING, "activating"),
        ("ActiveState=active\nUnitFileState=disabled\n", Health.WARNING, "systemctl enable"),
        (None, Health.UNKNOWN, "does not tell"),
    ],
)
def test_how_the_service_stands(pc: TablePc, answer: str | None, health: Health, words: str) -> None:
    pc.answers["systemctl"] = answer
    finding = pc.only("service")
    assert finding.health is health
    assert words in finding.sentence


def test_udev_that_does_not_run(pc: TablePc) -> None:
    pc.at("/proc/2/comm").unlink()
    finding = pc.only("udev")
    assert finding.health is Health.WRONG
    assert "systemctl start systemd-udevd" in finding.sentence
