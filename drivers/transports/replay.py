"""A recording in place of its device: live, as a transport, or without an event loop, straight into a driver.

A session is made of the host's nonce, so a recorded one can be followed only by a host that uses the recorded nonce:
whoever opens a recording takes the nonce that the transport has (`Recorded` in transport.py) instead of a new one.
What the host sends is not compared with what was sent then; it only sets the pace.
"""

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from drivers.driver import Driver, Report, Resume
from drivers.errors import LinkLost, PortMissing, PortUnusable
from drivers.transports.pcapng import CaptureError, RecordedConnection, read_capture
from drivers.transports.ports import ReplayPort
from drivers.transports.transport import OnData, OnLost

PATIENCE_S: Final = 0.25
"""How long a piece waits for the host to have written as often as it had by then in the recording."""
_NS_PER_MS: Final = 1_000_000


class Recordings:
    """How far each recording has been played: its connections come one after another, each opening the next."""

    def __init__(self) -> None:
        self._left: dict[str, Iterator[RecordedConnection]] = {}

    async def open(self, port: ReplayPort, on_data: OnData, on_lost: OnLost) -> "ReplayTransport":
        """Errors as `open_transport` states."""
        if port.path not in self._left:
            try:
                connections = await asyncio.to_thread(read_capture, Path(port.path))
            except CaptureError as error:
                raise PortUnusable(str(error)) from error
            self._left[port.path] = iter(connections)
        connection = next(self._left[port.path], None)
        if connection is None:
            raise PortMissing(f"the recording {port.path} has been played to its end: nothing more comes from it")
        return ReplayTransport(port.path, connection, on_data, on_lost)


class ReplayTransport:
    """Plays one recorded connection at its own pace, then is lost."""

    def __init__(self, path: str, connection: RecordedConnection, on_data: OnData, on_lost: OnLost) -> None:
        self.nonce = connection.nonce
        self._path = path
        self._pieces = connection.pieces
        self._on_data = on_data
        self._on_lost = on_lost
        self._writes = 0
        self._wrote = asyncio.Event()
        self._playing = asyncio.create_task(self._play(), name=f"replay {path}")

    def write(self, data: bytes) -> None:
        """Count the writing; a recording that waits for it plays on."""
        if data:
            self._writes += 1
            self._wrote.set()

    async def close(self) -> None:
        """Stop playing."""
        self._playing.cancel()
        await asyncio.gather(self._playing, return_exceptions=True)

    async def _play(self) -> None:
        loop = asyncio.get_running_loop()
        begin_s = loop.time()
        wanted = 0
        for piece in self._pieces:
            if not piece.to_host:
                wanted += 1
                continue
            due_s = begin_s + (piece.at_ns - self._pieces[0].at_ns) / 1e9
            await asyncio.sleep(due_s - loop.time())
            await self._wait_for_writes(wanted)
            wanted = min(wanted, self._writes)
            self._on_data(piece.data)
        self._on_lost(LinkLost(f"the recorded connection in {self._path} ends here: the next one follows, if any"))

    async def _wait_for_writes(self, wanted: int) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_S):
                while self._writes < wanted:
                    self._wrote.clear()
                    await self._wrote.wait()


def replay_reports(
    driver: Driver, connection: RecordedConnection, *, key: bytes | None = None, resume: Resume | None = None
) -> Iterator[Report]:
    """What a fresh driver makes of a recorded connection, without waiting: the clock is the recording's, from 0 on.

    `key` is the device's, where the recorded session was authenticated.
    """
    yield from driver.opened(nonce=connection.nonce, key=key, resume=resume, now_ms=0).reports
    for piece in connection.pieces:
        now_ms = (piece.at_ns - connection.pieces[0].at_ns) // _NS_PER_MS
        wake_at_ms = driver.wake_at_ms
        if wake_at_ms is not None and wake_at_ms <= now_ms:
            yield from driver.tick(now_ms).reports
        if piece.to_host:
            yield from driver.receive(piece.data, now_ms).reports
