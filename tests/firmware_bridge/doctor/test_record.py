import os
from pathlib import Path

import pytest

from firmware_bridge.doctor.findings import Health
from tests.firmware_bridge.doctor.table_pc import TablePc


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
