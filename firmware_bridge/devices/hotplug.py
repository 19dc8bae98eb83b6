"""Hints that a device may have come or gone: udev's messages, and a look at what the kernel lists every few seconds.

A hint says only that it is worth trying again; nobody learns from it what is there. So a message too many, too few or
in a wrong order does no harm, and where there are no messages, as in a container, the looks alone are enough.
"""

import asyncio
import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import structlog

from drivers.transports.discovery import UDEV_DATA
from firmware_bridge.logs import LogEvent

SCAN_S: Final = 2.0
SETTLE_S: Final = 0.1
"""Messages so close together are one hint: one that comes and goes without end costs ten tries a second at most."""
SUBSYSTEMS: Final = ("tty", "usb")
LISTINGS: Final = (Path("/sys/class/tty"), Path("/sys/bus/usb/devices"))


class NoUdev(Exception):
    """Nobody would send messages, as in a container."""


class Hotplug:
    """`on_change` is called on the event loop, some time after something changed."""

    def __init__(
        self,
        on_change: Callable[[], None],
        *,
        listings: tuple[Path, ...] = LISTINGS,
        open_monitor: Callable[[], Any] | None = None,
        scan_s: float = SCAN_S,
    ) -> None:
        self._on_change = on_change
        self._listings = listings
        self._open_monitor = open_monitor or udev_monitor
        self._scan_s = scan_s
        self._log = structlog.get_logger("hotplug")
        self._hint = asyncio.Event()
        self._told_why: str | None = None

    async def run(self) -> None:
        """Watch until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._tell())
            group.create_task(self._scan())
            group.create_task(self._listen())

    async def _tell(self) -> None:
        while True:
            await self._hint.wait()
            await asyncio.sleep(SETTLE_S)
            self._hint.clear()
            self._on_change()

    async def _scan(self) -> None:
        seen = seen_devices(self._listings)
        while True:
            await asyncio.sleep(self._scan_s)
            now = seen_devices(self._listings)
            if now != seen:
                self._hint.set()
            seen = now

    async def _listen(self) -> None:
        """Hold a monitor; one that fails is opened anew at the pace of the looks."""
        while True:
            try:
                monitor = self._open_monitor()
            except NoUdev as none:
                self._without(str(none), self._log.info)
            except (ImportError, OSError) as error:
                self._without(f"{type(error).__name__}: {error}")
            else:
                self._without(await self._read(monitor))
            await asyncio.sleep(self._scan_s)

    async def _read(self, monitor: Any) -> str:
        """Take in messages until the monitor fails; answers why it did."""
        loop = asyncio.get_running_loop()
        failed: asyncio.Future[str] = loop.create_future()

        def readable() -> None:
            try:
                while monitor.poll(timeout=0) is not None:
                    self._hint.set()
                self._told_why = None
            except OSError as error:
                self._hint.set()  # messages were lost: any of them may have mattered
                loop.remove_reader(fd)
                failed.set_result(f"{type(error).__name__}: {error}")

        fd: int = monitor.fileno()
        loop.add_reader(fd, readable)
        try:
            return await failed
        finally:
            loop.remove_reader(fd)

    def _without(self, why: str, say: Callable[..., object] | None = None) -> None:
        if why != self._told_why:
            self._told_why = why
            (say or self._log.warning)(
                LogEvent.HOTPLUG_UNAVAILABLE,
                sentence=f"udev tells nothing of devices that come and go ({why}): they are found by a look every"
                f" {self._scan_s:g} s instead; allow the service AF_NETLINK and see that udev runs to find them at"
                " once",
            )


def udev_monitor() -> Any:
    """A started monitor of udev's own messages, which follow the rules. Raises NoUdev, ImportError or OSError."""
    if not UDEV_DATA.is_dir():
        raise NoUdev("it does not run here")
    import pyudev  # here, so that who watches nothing needs no udev

    monitor = pyudev.Monitor.from_netlink(pyudev.Context(), source="udev")
    for subsystem in SUBSYSTEMS:
        monitor.filter_by(subsystem)
    monitor.start()
    return monitor


def seen_devices(listings: tuple[Path, ...]) -> frozenset[tuple[str, int]]:
    """Every device that the kernel lists, with a number that differs when it went and came back under its name."""
    found: set[tuple[str, int]] = set()
    for listing in listings:
        with contextlib.suppress(OSError):
            for entry in os.scandir(listing):
                with contextlib.suppress(OSError):
                    found.add((entry.path, os.stat(entry.path).st_ino))
    return frozenset(found)


async def watch_ports(on_change: Callable[[], None]) -> None:
    """Call `on_change` whenever a device may have come or gone, until cancelled."""
    await Hotplug(on_change).run()
