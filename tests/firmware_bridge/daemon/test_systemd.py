"""What is told to the service manager, and when nothing is told."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from firmware_bridge.daemon.systemd import Notifier, Watchdog, notifier_of
from tests.firmware_bridge.daemon.service_manager import ServiceManager


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[ServiceManager]:
    there = ServiceManager(tmp_path / "notify")
    yield there
    there.close()


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_it_tells_the_stages_in_order(manager: ServiceManager) -> None:
    notifier = Notifier(manager.address)
    notifier.ready()
    notifier.stopping()
    assert manager.heard() == ["READY=1", "STOPPING=1"]


def test_an_abstract_address_is_understood() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind("\0firmware-bridge-test")
        Notifier("@firmware-bridge-test").ready()
        assert listening.recv(100) == b"READY=1"


def test_without_a_manager_nothing_happens() -> None:
    notifier = notifier_of({"WATCHDOG_USEC": "3000000"})
    notifier.ready()
    assert (notifier.watchdog_s, notifier.dropped) == (None, 0)


def test_a_manager_that_is_gone_does_not_stop_the_daemon(tmp_path: Path) -> None:
    notifier = Notifier(str(tmp_path / "nobody"))
    notifier.ready()
    assert notifier.dropped == 1


def test_the_environment_says_how_long_it_waits(manager: ServiceManager) -> None:
    assert notifier_of({"NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "20000000"}).watchdog_s == 20


def test_a_watchdog_for_another_process_is_not_ours(manager: ServiceManager) -> None:
    told = {"NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "20000000", "WATCHDOG_PID": "1"}
    assert notifier_of(told).watchdog_s is None


def test_f51_signs_of_life_are_limited(manager: ServiceManager) -> None:
    """However often it is called, pid 1 has no more than two messages a second to read."""
    clock = Clock()
    notifier = Notifier(manager.address, 20, clock)
    heard: list[str] = []
    for _ in range(1000):
        notifier.alive()
        heard += manager.heard()
        clock.now_s += 0.01
    assert 19 <= len(heard) <= 21


def test_f51_an_unchanged_status_is_told_once_and_a_changing_one_seldom(manager: ServiceManager) -> None:
    clock = Clock()
    notifier = Notifier(manager.address, 20, clock)
    for _ in range(3):
        notifier.status("2 of 3 devices\nconnected")
        clock.now_s += 10
    told: list[str] = []
    for number in range(1000):
        notifier.status(f"round {number}")
        told += manager.heard()
        clock.now_s += 0.001
    assert told[0] == "STATUS=2 of 3 devices connected"
    assert 2 <= len(told) <= 4


@pytest.fixture
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firmware_bridge.daemon.systemd.SHORTEST_PAUSE_S", 0.0)


@contextlib.asynccontextmanager
async def watching(watchdog: Watchdog, nudge: Callable[[], None]) -> AsyncIterator[None]:
    task = asyncio.create_task(watchdog.run(nudge))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.usefixtures("brisk")
async def test_f50_parts_that_move_are_a_sign_of_life(manager: ServiceManager) -> None:
    watchdog = Watchdog(Notifier(manager.address, 0.1), ("core", "writer"))

    def nudge() -> None:
        watchdog.beat("core")
        watchdog.beat("writer")

    async with watching(watchdog, nudge):
        assert [await manager.hears(), await manager.hears()] == ["WATCHDOG=1", "WATCHDOG=1"]


@pytest.mark.usefixtures("brisk")
async def test_f50_one_part_that_stands_still_stops_the_signs(manager: ServiceManager) -> None:
    watchdog = Watchdog(Notifier(manager.address, 0.1), ("core", "writer"))
    nudged = 0
    enough = asyncio.Event()

    def nudge() -> None:
        nonlocal nudged
        nudged += 1
        watchdog.beat("core")
        if nudged == 10:
            enough.set()

    async with watching(watchdog, nudge):
        await enough.wait()
    assert manager.heard() == []


def test_f50_a_late_loop_gives_no_sign_and_a_punctual_one_does(manager: ServiceManager) -> None:
    watchdog = Watchdog(Notifier(manager.address, 20), ("core",))
    watchdog.beat("core")
    watchdog._consider(late_s=4.0)
    assert manager.heard() == []
    watchdog._consider(late_s=0.1)
    assert manager.heard() == ["WATCHDOG=1"]


def test_f50_a_part_that_stands_still_is_named_though_the_loop_was_late_before(manager: ServiceManager) -> None:
    watchdog = Watchdog(Notifier(manager.address, 20), ("core", "writer"))
    with capture_logs() as lines:
        watchdog.beat("core")
        watchdog.beat("writer")
        watchdog._consider(late_s=4.0)
        watchdog._beaten.clear()
        for _ in range(3):
            watchdog.beat("core")
            watchdog._consider(late_s=0.1)
    said = [line["sentence"].removeprefix("no sign of life is given to systemd: ") for line in lines]
    assert said == ["the loop was 4.0 s late", "writer did not move"]


async def test_where_nobody_watches_the_watchdog_ends_at_once() -> None:
    await Watchdog(Notifier(None), ("core",)).run(lambda: None)
