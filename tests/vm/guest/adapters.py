"""In the guest: a simulated machine behind an FTDI adapter, which goes into another socket every time."""

import asyncio
import itertools
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from tests.vm.guest.hands import Hands, HandsError

CHUNK: Final = 4096
KERNEL_S: Final = 20.0
DECOY: Final = "stranger"
FIRST_LINE: Final = Path("/sys/class/tty/ttyUSB0")


def serial_number(name: str) -> str:
    """What the memory of the adapter says."""
    return f"TDP-{name.upper()}"


class Adapters:
    """The adapters in the computer's USB sockets. No socket is used twice in a run.

    One that lies about is plugged in before all others, so that it has the lowest number, and pulled together with the
    first machine's cable: that one comes back under another number than it had.
    """

    def __init__(self) -> None:
        self._hands: Final = Hands()
        self._free = itertools.count(1)
        self.plugged: Final[set[str]] = set()
        self.plug(DECOY)
        _wait(FIRST_LINE.exists)

    def plug(self, name: str) -> str:
        """The socket it went into."""
        socket = next(self._free)
        self._hands.plug(name, serial_number(name), socket)
        self.plugged.add(name)
        return f"socket {socket}"

    def pull(self, name: str) -> None:
        if DECOY in self.plugged and name != DECOY:
            self.pull(DECOY)
            _wait(lambda: not FIRST_LINE.exists())
        self._hands.pull(name)
        self.plugged.discard(name)

    def pull_all(self) -> None:
        for name in sorted(self.plugged):
            self.pull(name)


def _wait(ready: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + KERNEL_S
    while not ready():
        if time.monotonic() > deadline_s:
            raise HandsError(f"the kernel did nothing about {FIRST_LINE} within {KERNEL_S:.0f} s")
        time.sleep(0.02)


class AdapterWire:
    """A machine on the adapter of the name that `path` ends with. `sockets`: where it has been plugged in, in order."""

    def __init__(self, adapters: Adapters, path: Path, on_data: Callable[[bytes], None]) -> None:
        self.path: Final = path
        self.sockets: Final[list[str]] = []
        self._name = path.name
        self._adapters = adapters
        self._on_data = on_data
        self._fd = os.open(f"/dev/virtio-ports/{self._name}", os.O_RDWR | os.O_NONBLOCK)
        self._pending = bytearray()

    @property
    def plugged(self) -> bool:
        return self._name in self._adapters.plugged

    def plug(self) -> None:
        if not self.plugged:
            self._pending.clear()
            asyncio.get_running_loop().add_reader(self._fd, self._readable)
            self.sockets.append(self._adapters.plug(self._name))

    def pull(self) -> None:
        if self.plugged:
            self._adapters.pull(self._name)
            asyncio.get_running_loop().remove_writer(self._fd)

    def close(self) -> None:
        self.pull()
        asyncio.get_running_loop().remove_reader(self._fd)
        os.close(self._fd)

    def write(self, data: bytes) -> None:
        if self.plugged and data:
            self._pending += data
            self._writable()

    def _readable(self) -> None:
        with suppress(BlockingIOError):
            data = os.read(self._fd, CHUNK)
            if data and self.plugged:
                self._on_data(data)

    def _writable(self) -> None:
        loop = asyncio.get_running_loop()
        with suppress(BlockingIOError):
            while self._pending:
                del self._pending[: os.write(self._fd, self._pending[:CHUNK])]
            loop.remove_writer(self._fd)
            return
        loop.add_writer(self._fd, self._writable)
