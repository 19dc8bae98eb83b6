"""When the whole daemon tells systemd that it is ready, alive and stopping."""

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from pytest_mock import MockerFixture
from structlog.testing import capture_logs

from firmware_bridge.daemon.systemd import Notifier
from firmware_bridge.journal.errors import JournalFull
from firmware_bridge.journal.rows import Write
from firmware_bridge.journal.store import Store
from tests.drivers.transports.ends.pty_end import until
from tests.firmware_bridge.daemon.daemon_hall import Hall, running
from tests.firmware_bridge.daemon.service_manager import ServiceManager

SIGN = "WATCHDOG=1"


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServiceManager]:
    monkeypatch.setattr("firmware_bridge.daemon.systemd.SHORTEST_PAUSE_S", 0.0)
    there = ServiceManager(tmp_path / "notify")
    yield there
    there.close()


def watched_by(manager: ServiceManager) -> Notifier:
    return Notifier(manager.address, watchdog_s=0.5)


async def heard_until(manager: ServiceManager, what: str) -> list[str]:
    told = [await manager.hears()]
    while told[-1] != what:
        told.append(await manager.hears())
    return told


async def test_f50_it_is_ready_without_any_device_and_shows_that_it_lives(
    tmp_path: Path, manager: ServiceManager
) -> None:
    async with running(tmp_path, watched_by(manager)) as hall:
        told = await heard_until(manager, SIGN)
        assert "READY=1" in told
        assert any("0 of 1 devices connected" in line for line in told)
        assert not hall.shoe_is_up
        assert SIGN not in told[: told.index("READY=1")]


async def test_f50_it_is_not_ready_before_the_journal_takes_writes(
    tmp_path: Path, manager: ServiceManager, mocker: MockerFixture
) -> None:
    full = mocker.patch.object(Store, "commit", side_effect=JournalFull("the disk is full: make room"))
    async with running(tmp_path, watched_by(manager)):
        await until(lambda: full.call_count >= 2)
        assert "READY=1" not in manager.heard()


async def test_f50_a_journal_that_refuses_writes_is_no_reason_to_be_killed(
    tmp_path: Path, manager: ServiceManager, mocker: MockerFixture
) -> None:
    async with running(tmp_path, watched_by(manager)) as hall:
        await heard_until(manager, SIGN)
        mocker.patch.object(Store, "commit", side_effect=JournalFull("the disk is full: make room"))
        client = await hall.client()
        await client.tell("one", "wager", seat=1, ante=500)
        told = await heard_until(manager, "STATUS=the disk is full: make room")
        assert "STOPPING=1" not in told
        await heard_until(manager, SIGN)
        mocker.stopall()


async def test_f50_a_writer_that_hangs_ends_the_signs(
    tmp_path: Path, manager: ServiceManager, mocker: MockerFixture
) -> None:
    gate = threading.Event()
    commit = Store.commit

    def hang(store: Store, writes: Sequence[Write]) -> frozenset[int]:
        gate.wait(60)
        return commit(store, writes)

    with capture_logs() as lines:
        async with running(tmp_path, watched_by(manager)):
            await heard_until(manager, SIGN)
            mocker.patch.object(Store, "commit", hang)
            try:
                await until(lambda: any("writer" in line.get("sentence", "") for line in lines))
            finally:
                gate.set()
            manager.heard()
            await heard_until(manager, SIGN)


@pytest.mark.parametrize("part", ["control", "feed"])
async def test_f50_a_socket_that_nobody_serves_any_more_ends_the_signs(
    tmp_path: Path, manager: ServiceManager, part: str
) -> None:
    with capture_logs() as lines:
        async with running(tmp_path, watched_by(manager)) as hall:
            await heard_until(manager, SIGN)
            await _close(hall, part)
            await until(lambda: any(line.get("sentence", "").endswith(f"{part} did not move") for line in lines))


async def test_a_defect_in_the_status_line_ends_no_daemon_that_works(
    tmp_path: Path, manager: ServiceManager, mocker: MockerFixture
) -> None:
    mocker.patch("firmware_bridge.daemon.daemon.in_one_line", side_effect=ValueError("Qh"))
    with capture_logs() as lines:
        async with running(tmp_path, watched_by(manager)):
            await heard_until(manager, SIGN)
            await heard_until(manager, SIGN)
    told = [line["sentence"] for line in lines if line["event"] == "status_not_reported"]
    assert len(told) == 1
    assert "ValueError" in told[0]
    assert "Qh" not in told[0]


@pytest.mark.parametrize("part", ["control", "feed"])
async def test_f50_a_socket_whose_file_was_taken_away_ends_the_signs(
    tmp_path: Path, manager: ServiceManager, part: str
) -> None:
    with capture_logs() as lines:
        async with running(tmp_path, watched_by(manager)) as hall:
            await heard_until(manager, SIGN)
            (hall.daemon._control if part == "control" else hall.daemon._feed)._server._path.unlink()
            await until(lambda: any(line.get("sentence", "").endswith(f"{part} did not move") for line in lines))


async def _close(hall: Hall, part: str) -> None:
    socket = hall.daemon._control if part == "control" else hall.daemon._feed
    await socket.close()


async def test_f52_it_says_that_it_stops(tmp_path: Path, manager: ServiceManager) -> None:
    async with running(tmp_path, watched_by(manager)):
        await heard_until(manager, "READY=1")
    assert "STOPPING=1" in manager.heard()
