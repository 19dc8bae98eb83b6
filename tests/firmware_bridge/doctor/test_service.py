"""What the doctor finds of the service and its record."""

import os
from pathlib import Path

import pytest

from firmware_bridge.doctor.findings import Health
from firmware_bridge.doctor.machine import Machine
from firmware_bridge.doctor.unit import installed_unit
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


def test_udev_that_does_not_run(pc: TablePc) -> None:
    pc.at("/proc/2/comm").unlink()
    finding = pc.only("udev")
    assert finding.health is Health.WRONG
    assert "systemctl start systemd-udevd" in finding.sentence


def test_a_journal_that_root_left_behind(pc: TablePc) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root makes files that the service may not write")
    pc.service_owns_nothing()
    pc.write("/var/lib/firmware-bridge/table.journal-wal", "", 0o600)
    pc.write("/var/lib/firmware-bridge/table.journal.of-last-year", "", 0o600)
    finding = pc.only("journal")
    assert finding.health is Health.WRONG
    assert "chown firmware-bridge: /var/lib/firmware-bridge/table.journal-wal" in finding.sentence


def test_a_journal_that_is_a_folder(pc: TablePc) -> None:
    pc.at("/var/lib/firmware-bridge/table.journal").mkdir()
    assert "is no file" in pc.only("journal").sentence


def test_a_folder_that_the_unit_keeps_from_being_written(pc: TablePc) -> None:
    pc.change('name = "shoe"', 'name = "shoe"\ncapture = "/srv/recordings"')
    finding = pc.only("folders")
    assert finding.health is Health.WRONG
    assert "ReadWritePaths=/srv/recordings" in finding.sentence
    pc.write("/etc/systemd/system/firmware-bridge.service.d/more.conf", "[Service]\nReadWritePaths=-/srv\n")
    assert pc.bad() == []


def test_f36_a_clock_that_nobody_sets(pc: TablePc) -> None:
    pc.answers["timedatectl"] = "no\n"
    assert pc.only("clock").health is Health.WARNING
    pc.answers["timedatectl"] = None
    assert pc.only("clock").health is Health.UNKNOWN


def test_a_folder_that_the_service_may_not_write(pc: TablePc) -> None:
    pc.at("/var/lib/firmware-bridge").chmod(0o500)
    assert pc.only("journal").health is Health.WRONG
    pc.at("/var/lib/firmware-bridge").rmdir()
    assert "There is no folder" in pc.only("journal").sentence


@pytest.mark.parametrize(("blocks", "health"), [(10, Health.WRONG), (500, Health.WARNING)])
def test_f55_a_disk_that_is_almost_full(
    pc: TablePc, blocks: int, health: Health, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = os.statvfs(pc.root)

    def little(_: Path) -> os.statvfs_result:
        return os.statvfs_result((1 << 20, 1 << 20, room.f_blocks, blocks, blocks, *tuple(room)[5:]))

    monkeypatch.setattr(os, "statvfs", little)
    finding = pc.only("disk")
    assert finding.health is health
    assert f"Only {blocks} MiB" in finding.sentence
