"""The device's end of a pty, as the simulator keeps it: the master, and one slave descriptor held open."""

import asyncio
import os
import tty
from collections.abc import Callable

from drivers.errors import LinkError
from drivers.transports.opening import open_transport
from drivers.transports.transport import Transport

DEADLINE_S = 20.0


async def until(condition: Callable[[], bool]) -> None:
    """Wait for the thing itself; fail after a deadline that is never reached when all is well."""
    async with asyncio.timeout(DEADLINE_S):
        while not condition():  # noqa: ASYNC110  it watches the operating system, which sets no event
            await asyncio.sleep(0.001)


class PtyEnd:
    def __init__(self) -> None:
        self.master, self.slave = os.openpty()
        self.path = os.ttyname(self.slave)
        self.port = f"serial:{self.path}"
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)

    def read(self) -> bytes:
        try:
            return os.read(self.master, 65_536)
        except BlockingIOError:
            return b""

    async def read_until(self, data: bytes) -> None:
        got = b""
        async with asyncio.timeout(DEADLINE_S):
            while data not in got:
                got += self.read()
                await asyncio.sleep(0.001)

    def write(self, data: bytes) -> None:
        assert os.write(self.master, data) == len(data)

    def hang_up(self) -> None:
        """As a pulled cable: the node is gone, and the other end is hung up."""
        for fd in (self.slave, self.master):
            if fd >= 0:
                os.close(fd)
        self.slave = self.master = -1


class Host:
    """What a transport tells."""

    def __init__(self) -> None:
        self.data = b""
        self.lost: list[LinkError] = []

    def on_data(self, data: bytes) -> None:
        assert data
        self.data += data

    def on_lost(self, error: LinkError) -> None:
        self.lost.append(error)


async def opened(port: str, host: Host) -> Transport:
    return await open_transport(port, host.on_data, host.on_lost)


def open_fds() -> set[str]:
    found = set()
    for fd in os.listdir("/proc/self/fd"):
        try:
            found.add(f"{fd} {os.readlink(f'/proc/self/fd/{fd}')}")
        except FileNotFoundError:
            continue
    return found


def fds_on(path: str) -> int:
    return sum(entry.endswith(f" {path}") for entry in open_fds())
