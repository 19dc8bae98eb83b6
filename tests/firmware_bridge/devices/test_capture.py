"""Recording a port: off the device's way, whatever happens to the disk."""

import os
import stat
from pathlib import Path

from pytest_mock import MockerFixture
from structlog.testing import capture_logs

from drivers.transports import pcapng
from drivers.transports.pcapng import Piece, read_capture
from firmware_bridge.devices.capture import LOOK_AFTER, Capture

NONCE = b"12345678"


def recorder(folder: Path) -> Capture:
    return Capture("shoe", "serial:/dev/x", folder, wall_ns=lambda: 1_700_000_000 * 10**9, passing_ns=lambda: 7)


def test_a_run_is_one_file_for_its_owner_alone_and_a_warning_says_what_is_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "records" / "of today"
    with capture_logs() as lines:
        tap = recorder(folder)
        for _ in range(2):
            tap.opened(NONCE)
            tap.passed(to_host=False, data=b"hello")
        tap.close()
        tap.close()
    (file,) = folder.iterdir()
    assert file.name == "shoe-20231114T221320.000000Z.pcapng"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    read = read_capture(file)
    assert [connection.nonce for connection in read] == [NONCE, NONCE]
    assert read[0].pieces == [Piece(1_700_000_000 * 10**9, to_host=False, data=b"hello")]
    assert len(lines) == 1
    assert f"is recorded in {file}, the cards that lie face down included" in lines[0]["sentence"]


def test_a_folder_that_cannot_be_used_costs_the_recording_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with capture_logs() as lines:
        tap = recorder(tmp_path / "file")
        for _ in range(3):
            tap.opened(NONCE)
            tap.passed(to_host=True, data=b"x")
        tap.close()
    assert len(lines) == 1
    assert "nothing more of this port is recorded" in lines[0]["sentence"]


def test_a_full_disk_costs_the_recording_alone(tmp_path: Path, mocker: MockerFixture) -> None:
    tap = recorder(tmp_path)
    tap.opened(NONCE)
    mocker.patch.object(os, "write", side_effect=OSError(28, "No space left on device"))
    with capture_logs() as lines:
        for _ in range(3):
            tap.passed(to_host=True, data=b"x")
            tap.opened(NONCE)
    assert len(lines) == 1
    assert "No space left on device" in lines[0]["sentence"]


def test_the_time_of_day_is_asked_once_a_connection(tmp_path: Path) -> None:
    """Set meanwhile, by years at the first start perhaps, it would make a pause of years to play back."""
    times = iter(range(10**9, 10**10, 10**9))
    tap = Capture("shoe", "serial:/dev/x", tmp_path, wall_ns=lambda: next(times), passing_ns=iter(range(99)).__next__)
    for _ in range(2):
        tap.opened(NONCE)
        for _ in range(3):
            tap.passed(to_host=True, data=b"x")
    tap.close()
    (file,) = tmp_path.iterdir()
    told = [[piece.at_ns for piece in connection.pieces] for connection in read_capture(file)]
    assert told == [[10**9 + 1, 10**9 + 2, 10**9 + 3], [3 * 10**9 + 1, 3 * 10**9 + 2, 3 * 10**9 + 3]]


def test_a_file_that_was_taken_away_gets_a_successor(tmp_path: Path) -> None:
    days = iter(range(0, 10**17, 10**14))
    tap = Capture("shoe", "serial:/dev/x", tmp_path / "of today", wall_ns=lambda: next(days))
    tap.opened(NONCE)
    (file,) = (tmp_path / "of today").iterdir()
    file.unlink()
    file.parent.rmdir()
    tap.opened(NONCE)
    tap.passed(to_host=True, data=b"x")
    tap.close()
    (file,) = (tmp_path / "of today").iterdir()
    assert [len(connection.pieces) for connection in read_capture(file)] == [1]


def test_the_last_of_the_disk_is_left_to_the_journal(tmp_path: Path, mocker: MockerFixture) -> None:
    tap = recorder(tmp_path)
    tap.opened(NONCE)
    tap.passed(to_host=True, data=b"x")
    room = os.statvfs(tmp_path)
    little = os.statvfs_result((1 << 20, 1 << 20, room.f_blocks, 255, 255, *tuple(room)[5:]))
    mocker.patch.object(os, "statvfs", return_value=little)
    with capture_logs() as lines:
        for _ in range(20):
            tap.passed(to_host=True, data=bytes(LOOK_AFTER // 8))
        tap.opened(NONCE)
    (file,) = tmp_path.iterdir()
    assert file.stat().st_size < 2 * LOOK_AFTER
    assert len(lines) == 1
    assert "its disk is almost full" in lines[0]["sentence"]


def test_an_error_at_the_end_of_a_file_does_not_reach_the_link(tmp_path: Path, mocker: MockerFixture) -> None:
    tap = recorder(tmp_path)
    tap.opened(NONCE)
    close = os.close
    mocker.patch.object(os, "close", side_effect=lambda fd: (close(fd), (_ for _ in ()).throw(OSError(5, "I/O"))))
    tap.close()
    tap.close()


def test_a_file_does_not_grow_for_ever(tmp_path: Path, mocker: MockerFixture) -> None:
    mocker.patch.object(pcapng, "LARGEST_FILE", 1000)
    tap = recorder(tmp_path)
    tap.opened(NONCE)
    with capture_logs() as lines:
        for _ in range(10):
            tap.passed(to_host=True, data=bytes(200))
    (file,) = tmp_path.iterdir()
    assert file.stat().st_size < 1300
    assert [line["sentence"].partition(" (")[2] for line in lines] == [
        "the file has its greatest size: start the daemon anew for another); the device is not affected"
    ]
