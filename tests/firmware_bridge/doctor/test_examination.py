import os
from pathlib import Path

import pytest

from firmware_bridge.doctor.findings import Health
from firmware_bridge.doctor.machine import Machine
from tests.firmware_bridge.doctor.table_pc import TablePc


def test_where_everything_is_well_everything_is_green(pc: TablePc) -> None:
    assert pc.bad() == []
    assert len(pc.findings()) >= 20
    assert all(finding.sentence.endswith(".") for finding in pc.findings())


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
