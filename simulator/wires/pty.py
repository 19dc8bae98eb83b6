"""A pseudo-terminal as a cable: the daemon opens one end by its path, the firmware has the other.

A pty has no modem lines, no baud and no overrun, but back-pressure; its far end is kept open here too, because a
master whose last far end is closed reads EIO.
"""

import asyncio
import errno
import os
import tty
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

CHUNK: Final = 4096
GONE: Final = (errno.EIO, errno.EBADF, errno.ENXIO)


class PtyPort:
    """`path` is a symbolic link to whatever pty is plugged in now; without one there is no such port."""

    def __init__(self, path: Path, on_data: Callable[[bytes], None]) -> None:
        self.path: Final = path
        self._on_data = on_data
        self._master: int | None = None
        self._slave: int | None = None
        self._pending = bytearray()

    @property
    def plugged(self) -> bool:
        """The port is there."""
        return self._master is not None

    def plug(self) -> None:
        """A new pty appears at `path`. On the running event loop. Raises OSError where there are no more ptys."""
        if self._master is not None:
            return
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self._pending.clear()
        self.path.unlink(missing_ok=True)
        self.path.symlink_to(os.ttyname(self._slave))
        asyncio.get_running_loop().add_reader(self._master, self._readable)

    def pull(self) -> None:
        """The port vanishes; whoever has it open is hung up on."""
        if self._master is None:
            return
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._master)
        loop.remove_writer(self._master)
        self.path.unlink(missing_ok=True)
        for end in (self._master, self._slave):
            if end is not None:
                os.close(end)
        self._master = self._slave = None

    def write(self, data: bytes) -> None:
        """Bytes towards the daemon; what the pty has no room for is kept until it has."""
        if self._master is None or not data:
            return
        self._pending += data
        self._writable()

    def _readable(self) -> None:
        if self._master is None:
            return
        try:
            data = os.read(self._master, CHUNK)
        except BlockingIOError:
            return
        except OSError as error:
            if error.errno not in GONE:
                raise
            return
        if data:
            self._on_data(data)

    def _writable(self) -> None:
        if self._master is None:
            return
        loop = asyncio.get_running_loop()
        with suppress(BlockingIOError):
            while self._pending:
                del self._pending[: os.write(self._master, self._pending[:CHUNK])]
            loop.remove_writer(self._master)
            return
        loop.add_writer(self._master, self._writable)
