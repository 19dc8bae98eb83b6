"""Hints of devices that come and go: too many, too few and in any order, they only say that it is worth a try."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_mock import MockerFixture
from structlog.testing import capture_logs

from firmware_bridge.devices import hotplug
from firmware_bridge.devices.hotplug import Hotplug, seen_devices, udev_monitor
from tests.drivers.transports.ends.pty_end import open_fds, until


class Monitor:
    """A monitor as pyudev's, of which the tests hold the other end: a byte is a message, "!" is a failure."""

    def __init__(self) -> None:
        self.own, self.far = os.pipe()
        os.set_blocking(self.own, False)

    def fileno(self) -> int:
        return self.own

    def poll(self, timeout: int) -> str | None:
        assert timeout == 0
        try:
            byte = os.read(self.own, 1)
        except BlockingIOError:
            return None
        if byte == b"!":
            raise OSError(105, "No buffer space available")
        return "message"

    def close(self) -> None:
        os.close(self.own)
        os.close(self.far)


class World:
    def __init__(self, folder: Path, mocker: MockerFixture) -> None:
        mocker.patch.object(hotplug, "SETTLE_S", 0.001)
        self.folder = folder
        self.monitors: list[Monitor] = []
        self.hints = 0
        self.task: asyncio.Task[None] | None = None

    def start(self, open_monitor: Callable[[], object] | None = None, scan_s: float = 0.005) -> None:
        watch = Hotplug(
            self.hint, listings=(self.folder,), open_monitor=open_monitor or self.open_monitor, scan_s=scan_s
        )
        self.task = asyncio.create_task(watch.run())

    def hint(self) -> None:
        self.hints += 1

    def open_monitor(self) -> Monitor:
        self.monitors.append(Monitor())
        return self.monitors[-1]

    def send(self, messages: bytes) -> None:
        os.write(self.monitors[-1].far, messages)

    async def stop(self) -> None:
        assert self.task is not None
        self.task.cancel()
        await asyncio.wait([self.task])
        assert self.task.cancelled()
        for monitor in self.monitors:
            monitor.close()


@pytest.fixture
def world(tmp_path: Path, mocker: MockerFixture) -> World:
    return World(tmp_path, mocker)


async def test_a_message_is_a_hint_and_many_at_once_are_one(world: World, mocker: MockerFixture) -> None:
    mocker.patch.object(hotplug, "SETTLE_S", 0.05)
    world.start(scan_s=3600)
    await until(lambda: bool(world.monitors))
    world.send(b"." * 500)
    await until(lambda: world.hints == 1)
    await asyncio.sleep(0.06)
    assert world.hints == 1
    world.send(b".")
    await until(lambda: world.hints == 2)
    await world.stop()


async def test_f45_without_messages_the_look_finds_what_came_and_went(world: World) -> None:
    def no_netlink() -> object:
        raise OSError(97, "Address family not supported by protocol")

    with capture_logs() as lines:
        world.start(no_netlink)
        node = world.folder / "ttyACM0"
        for change in (node.mkdir, node.rmdir):
            before = world.hints
            await asyncio.sleep(0.02)
            change()
            await until(lambda: world.hints > before)  # noqa: B023
        await world.stop()
    assert len(lines) == 1
    assert "udev tells nothing of devices that come and go (OSError: [Errno 97]" in lines[0]["sentence"]


async def test_f45_a_monitor_that_fails_is_opened_anew(world: World) -> None:
    with capture_logs() as lines:
        world.start()
        for number in range(1, 4):
            await until(lambda: len(world.monitors) == number)  # noqa: B023
            hints = world.hints
            await asyncio.sleep(0.01)
            world.send(b"!")
            await until(lambda: world.hints > hints)  # noqa: B023
        await until(lambda: len(world.monitors) == 4)
        world.send(b".")
        hints = world.hints
        await until(lambda: world.hints > hints)
        await world.stop()
    assert len(lines) == 1
    assert "No buffer space available" in lines[0]["sentence"]


def test_f46_a_device_that_was_away_between_two_looks_is_seen(tmp_path: Path) -> None:
    (tmp_path / "ttyACM0").mkdir()
    before = seen_devices((tmp_path, tmp_path / "none"))
    (tmp_path / "keeps the number taken").mkdir()
    (tmp_path / "ttyACM0").rename(tmp_path.parent / "elsewhere")
    (tmp_path / "ttyACM0").mkdir()
    (tmp_path / "keeps the number taken").rmdir()
    after = seen_devices((tmp_path, tmp_path / "none"))
    assert {path for path, _ in before} == {path for path, _ in after}
    assert before != after


async def test_f46_one_change_is_one_hint(world: World) -> None:
    """Else every pause between tries would be cut short for ever after."""

    def no_netlink() -> object:
        raise OSError(97, "Address family not supported by protocol")

    world.start(no_netlink)
    await asyncio.sleep(0.02)
    (world.folder / "ttyACM0").mkdir()
    await until(lambda: world.hints == 1)
    await asyncio.sleep(0.05)
    assert world.hints == 1
    await world.stop()


async def test_without_pyudev_it_goes_on(world: World) -> None:
    def no_pyudev() -> object:
        raise ImportError("No library named udev")

    world.start(no_pyudev)
    (world.folder / "usb1").mkdir()
    await asyncio.sleep(0.02)
    (world.folder / "usb2").mkdir()
    await until(lambda: world.hints >= 1)
    await world.stop()


async def test_f45_in_a_container_without_udev_the_looks_are_enough(
    world: World, mocker: MockerFixture, tmp_path: Path
) -> None:
    mocker.patch.object(hotplug, "UDEV_DATA", tmp_path / "none")
    with capture_logs() as lines:
        world.start(udev_monitor)
        await asyncio.sleep(0.02)
        (world.folder / "ttyACM0").mkdir()
        await until(lambda: world.hints == 1)
        await world.stop()
    assert [line["log_level"] for line in lines] == ["info"]
    assert "(it does not run here): they are found by a look every 0.005 s instead" in lines[0]["sentence"]


@pytest.mark.real
async def test_udevs_own_monitor_leaves_nothing_open(world: World, mocker: MockerFixture, tmp_path: Path) -> None:
    mocker.patch.object(hotplug, "UDEV_DATA", tmp_path)
    before = open_fds()
    opened = []

    def counted() -> object:
        monitor = udev_monitor()
        opened.append(monitor.fileno())
        return monitor

    world.start(counted)
    await until(lambda: bool(opened))
    await world.stop()
    world.task = None
    opened.clear()
    assert len(open_fds()) == len(before)
