"""USB bulk endpoints as a byte stream: a thread reads, a thread writes, the event loop hears."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from drivers.errors import LinkError, LinkLost, PortUnusable
from drivers.transports.ports import UsbPort
from drivers.transports.run_blocking import run_blocking, stuck
from drivers.transports.transport import OnData, OnLost
from drivers.transports.usb_device import TRANSFER_TIMEOUT_MS, UsbPipe, open_pipe

OPEN_TIMEOUT_S: Final = 5.0
CLOSE_TIMEOUT_S: Final = 2.0
WRITE_BYTES: Final = 4096
UNSENT_BYTES: Final = 262_144
READ_AHEAD: Final = 64
"""Packets that may wait for the event loop; with more, the device waits."""


async def open_usb(port: UsbPort, on_data: OnData, on_lost: OnLost, backend: Any = None) -> "UsbTransport":
    """Open the one device that fits. Errors as `open_transport` states; `backend` as pyusb takes it."""
    if stuck(port.place):
        raise PortUnusable(f"an earlier call about {port.place} still hangs: unplug the device and plug it in again")
    try:
        pipe = await run_blocking(partial(open_pipe, port, backend), port.place, OPEN_TIMEOUT_S, UsbPipe.release)
    except TimeoutError:
        raise PortUnusable(
            f"{port.place} did not open within {OPEN_TIMEOUT_S:.0f} s: unplug the device and plug it in again"
        ) from None
    return UsbTransport(pipe, on_data, on_lost)


class UsbTransport:
    """An open device. At most `UNSENT_BYTES` wait while the device takes none; with more the link is given up."""

    def __init__(self, pipe: UsbPipe, on_data: OnData, on_lost: OnLost) -> None:
        self._pipe = pipe
        self._on_data = on_data
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._ending: asyncio.Task[None] | None = None
        self._closed_by_user = False
        self._stop = threading.Event()
        self._room = threading.Semaphore(READ_AHEAD)
        self._unsent = bytearray()
        self._something_unsent = threading.Condition()
        self._threads = [
            threading.Thread(target=self._guarded, args=(work,), name=f"{name} {pipe.port}", daemon=True)
            for name, work in (("read", self._read), ("write", self._write))
        ]
        for thread in self._threads:
            thread.start()

    def write(self, data: bytes) -> None:
        """Queue the bytes; a device that takes none for too long loses the connection."""
        if self._ending is not None or not data:
            return
        with self._something_unsent:
            waiting = len(self._unsent)
            if waiting + len(data) <= UNSENT_BYTES:
                self._unsent += data
                self._something_unsent.notify()
                return
        self._end(self._lost(f"{waiting} bytes wait because the device takes none"))

    async def close(self) -> None:
        """Close the device, and report nothing more."""
        self._closed_by_user = True
        self._end(None)
        if self._ending is not None:
            await asyncio.shield(self._ending)

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except LinkLost as lost:
            self._post(partial(self._end, lost))
        except Exception as error:  # noqa: BLE001  a thread that died unheard would leave a link that is deaf
            self._post(partial(self._end, self._lost(f"an internal error, {type(error).__name__}: report it")))

    def _read(self) -> None:
        while not self._stop.is_set():
            data = self._pipe.inward.read()
            if data and self._take_room():
                self._post(partial(self._arrived, data))

    def _take_room(self) -> bool:
        while not self._room.acquire(timeout=TRANSFER_TIMEOUT_MS / 1000):
            if self._stop.is_set():
                return False
        return True

    def _write(self) -> None:
        outward = self._pipe.outward
        while True:
            with self._something_unsent:
                self._something_unsent.wait_for(lambda: self._unsent or self._stop.is_set())
                if self._stop.is_set():
                    return
                data = bytes(self._unsent[:WRITE_BYTES])
            if len(data) % outward.packet_size == 0 and len(data) > 1:
                data = data[:-1]  # a device takes what it has at a short packet: let each transfer end with one
            taken = outward.write(data)
            with self._something_unsent:
                del self._unsent[:taken]

    def _post(self, call: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop was closed in the meantime
            self._loop.call_soon_threadsafe(call)

    def _arrived(self, data: bytes) -> None:
        self._room.release()
        if self._ending is None:
            self._on_data(data)

    def _lost(self, why: str) -> LinkLost:
        return LinkLost(
            f"the connection at {self._pipe.port} ended ({why}): check the cable and the power of the device"
        )

    def _end(self, error: LinkError | None) -> None:
        if self._ending is None:
            self._stop.set()
            with self._something_unsent:
                self._something_unsent.notify()
            self._ending = self._loop.create_task(self._let_go(error))

    async def _let_go(self, error: LinkError | None) -> None:
        with contextlib.suppress(TimeoutError):  # it goes on closing; `stuck` keeps the next open away until it has
            await run_blocking(self._release, self._pipe.port, CLOSE_TIMEOUT_S, lambda _: None)
        if error is not None and not self._closed_by_user:
            self._on_lost(error)

    def _release(self) -> None:
        for thread in self._threads:  # a device that is closed under a transfer takes the process with it
            thread.join()
        self._pipe.release()
