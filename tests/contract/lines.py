"""Lines for the contract of transports: a device's end and the host's, each with what it cannot do."""

import asyncio
import contextlib
import errno
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from drivers.errors import PortMissing
from drivers.transports.null_modem import NullModemEnd, null_modem
from drivers.transports.opening import new_opener, open_transport
from drivers.transports.pcapng import CaptureWriter, Piece
from drivers.transports.transport import OnData, OnLost, Transport
from drivers.transports.usb import open_usb
from tests.drivers.transports.ends.pty_end import PtyEnd
from tests.drivers.transports.ends.usb_end import UsbEnd, port


@dataclass(frozen=True, slots=True)
class Quirks:
    """`live`: the far end hears, and can be cut and mended; a recording does neither, and ends by itself.

    `cancellable`: opening waits for somebody else, so that it can be given up half way.
    `keeps_last_words`: what the device said before the cable was pulled arrives.
    """

    live: bool = True
    cancellable: bool = True
    keeps_last_words: bool = True


class Line(Protocol):
    quirks: Quirks

    async def open(self, on_data: OnData, on_lost: OnLost) -> Transport: ...

    def say(self, data: bytes) -> None:
        """The device sends; on a line that is not live, before it is opened."""
        ...

    @property
    def heard(self) -> bytes:
        """All that has come from the host since the cable was plugged in."""
        ...

    def cut(self) -> None:
        """Somebody pulls the cable."""
        ...

    def mend(self) -> None:
        """And puts it back; on a line that is whole, nothing happens to it."""
        ...

    async def end(self) -> None: ...


class NullModemLine:
    quirks = Quirks(cancellable=False)

    def __init__(self) -> None:
        self._end: NullModemEnd | None = None
        self._far_end: NullModemEnd | None = None
        self.heard = b""

    async def open(self, on_data: OnData, on_lost: OnLost) -> Transport:
        if self._far_end is None:
            self._end, self._far_end = null_modem()
            self._far_end.attach(self._on_data, self._on_hang_up)
        if self._end is None:
            raise PortMissing("the far end is not there: mend the line")
        end, self._end = self._end, None
        return end.attach(on_data, on_lost)

    def say(self, data: bytes) -> None:
        assert self._far_end is not None
        self._far_end.write(data)

    def cut(self) -> None:
        if self._far_end is not None:
            self._far_end.hang_up()

    def mend(self) -> None:
        self._far_end = None
        self.heard = b""

    async def end(self) -> None:
        if self._far_end is not None:
            await self._far_end.close()

    def _on_data(self, data: bytes) -> None:
        self.heard += data

    def _on_hang_up(self, _: Exception) -> None:
        self._far_end = None


class PtyLine:
    quirks = Quirks(keeps_last_words=False)

    def __init__(self, folder: Path) -> None:
        self._path = folder / "port"
        self._heard = b""
        self.mend()

    async def open(self, on_data: OnData, on_lost: OnLost) -> Transport:
        return await open_transport(f"serial:{self._path}", on_data, on_lost)

    def say(self, data: bytes) -> None:
        self._pty.write(data)

    @property
    def heard(self) -> bytes:
        if self._pty.master >= 0:
            self._heard += self._pty.read()
        return self._heard

    def cut(self) -> None:
        self._path.unlink(missing_ok=True)
        self._pty.hang_up()

    def mend(self) -> None:
        if not self._path.is_symlink():
            self._pty = PtyEnd()
            self._heard = b""
            self._path.symlink_to(self._pty.path)

    async def end(self) -> None:
        self._pty.hang_up()


class UsbLine:
    quirks = Quirks(keeps_last_words=False)

    def __init__(self) -> None:
        self._end = UsbEnd()

    async def open(self, on_data: OnData, on_lost: OnLost) -> Transport:
        return await open_usb(port("serial=S-1"), on_data, on_lost, self._end.bus)

    def say(self, data: bytes) -> None:
        self._end.socket.write(data)

    @property
    def heard(self) -> bytes:
        return self._end.received

    def cut(self) -> None:
        self._end.socket.pull(errno.EIO)

    def mend(self) -> None:
        self._end.received = b""
        self._end.socket.plug()

    async def end(self) -> None:
        self._end.socket.pull()
        assert not self._end.bus.handles


class TcpLine:
    quirks = Quirks()

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.setblocking(False)
        self._far_end: socket.socket | None = None
        self._heard = b""

    async def open(self, on_data: OnData, on_lost: OnLost) -> Transport:
        opened = await open_transport(f"tcp:127.0.0.1:{self._server.getsockname()[1]}", on_data, on_lost)
        with contextlib.suppress(BlockingIOError):
            while True:  # those before the last were given up
                accepted, _ = self._server.accept()
                self._hang_up()
                accepted.setblocking(False)
                self._far_end = accepted
        return opened

    def say(self, data: bytes) -> None:
        assert self._far_end is not None
        assert self._far_end.send(data) == len(data)

    @property
    def heard(self) -> bytes:
        with contextlib.suppress(BlockingIOError, ConnectionError):
            self._heard += b"" if self._far_end is None else self._far_end.recv(65_536)
        return self._heard

    def cut(self) -> None:
        self._hang_up()

    def mend(self) -> None:
        self._heard = b""

    async def end(self) -> None:
        self._hang_up()
        with contextlib.suppress(BlockingIOError):
            while True:
                self._server.accept()[0].close()
        self._server.close()

    def _hang_up(self) -> None:
        if self._far_end is not None:
            self._far_end.close()
            self._far_end = None


class ReplayLine:
    quirks = Quirks(live=False, cancellable=False)
    heard = b""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._said: list[bytes] = []
        self._recorded = 0

    async def open(self, on_data: OnData, on_lost: OnLost) -> Transport:
        self._recorded += 1
        file = self._file.with_suffix(f".{self._recorded}.pcapng")
        writer = CaptureWriter(file)
        writer.begin(port="serial:/dev/x", device="shoe", nonce=b"nonce--1")
        for place, data in enumerate(self._said):
            writer.put(Piece(10**18 + place * 100_000, to_host=True, data=data))
        writer.close()
        return await new_opener()(f"replay:{file}", on_data, on_lost)

    def say(self, data: bytes) -> None:
        self._said.append(data)

    def cut(self) -> None:
        """It ends by itself."""

    def mend(self) -> None:
        self._said.clear()

    async def end(self) -> None:
        await asyncio.sleep(0)
