"""F36: each row says whether the time of day could be trusted when it was written."""

from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from firmware_bridge.journal.stamp import HostClock

SYNCHRONISED, TIME_ERROR, FORBIDDEN = 0, 5, -1


@pytest.mark.parametrize(("state", "synced"), [(SYNCHRONISED, True), (TIME_ERROR, False)])
def test_f36_the_kernel_says_whether_its_clock_is_right(
    tmp_path: Path,
    mocker: MockerFixture,
    state: int,
    synced: bool,  # noqa: FBT001
) -> None:
    libc = mocker.patch("ctypes.CDLL")
    libc.return_value.adjtimex.return_value = state
    (tmp_path / "synchronized").touch()
    assert HostClock(tmp_path / "synchronized")().clock_synced is synced


def test_f36_in_a_sandbox_systemds_own_mark_says_so(tmp_path: Path, mocker: MockerFixture) -> None:
    libc = mocker.patch("ctypes.CDLL")
    libc.return_value.adjtimex.return_value = FORBIDDEN
    clock = HostClock(tmp_path / "synchronized")
    assert clock().clock_synced is False
    (tmp_path / "synchronized").touch()
    assert clock().clock_synced is True
