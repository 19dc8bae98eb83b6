"""Two transports joined in memory, for tests and for worlds without an operating system.

`ByteQueue` is one direction, without an event loop; `NullModemEnd` is a transport made of two.
"""

import asyncio
from typing import Final

from drivers.errors import LinkLost
from drivers.transports.transport import OnData, OnLost

CAPACITY_BYTES: Final = 65_536


class ByteQueue:
    """Bytes in order, at most `capacity` of them."""

    def __init__(self, capacity: int = CAPACITY_BYTES) -> None:
        self._capacity = capacity
        self._bytes = bytearray()

    def __len__(self) -> int:
        return len(self._bytes)

    def put(self, data: bytes) -> int:
        """Append what fits; the answer is how many bytes that was."""
        taken = min(len(data), self._capacity - len(self._bytes))
        self._bytes += data[:taken]
        return taken

    def take(self, limit: int = CAPACITY_BYTES) -> bytes:
        """Remove and return the oldest bytes, at most `limit`."""
        data = bytes(self._bytes[:limit])
        del self._bytes[:limit]
        return data


class NullModemEnd:
    """One end. Bytes reach the other end's `on_data` on a later turn of the event loop, and wait until it has one."""

    def __init__(self, inbox: ByteQueue, outbox: ByteQueue) -> None:
        self._inbox = inbox
        self._outbox = outbox
        self._peer = self
        self._on_data: OnData | None = None
        self._on_lost: OnLost | None = None
        self._error: LinkLost | None = None

    def join(self, peer: "NullModemEnd") -> None:
        """Name the other end; each end has to be told."""
        self._peer = peer

    def attach(self, on_data: OnData, on_lost: OnLost) -> "NullModemEnd":
        """Begin to read: what waits is delivered, and so is a hang-up that happened before."""
        self._on_data = on_data
        self._on_lost = on_lost
        self.wake()
        return self

    def write(self, data: bytes) -> None:
        """Hand the bytes to the other end; nothing once the wire is cut or this end closed."""
        if self._error is not None or not data:
            return
        if self._outbox.put(data) < len(data):
            self.hang_up(f"{len(self._outbox)} bytes wait because the far end takes none")
        else:
            self._peer.wake()

    async def close(self) -> None:
        """Hear nothing more."""
        self._on_data = self._on_lost = None
        self.hang_up("closed at the far end")

    def hang_up(self, why: str = "hung up") -> None:
        """Cut the line. Each end that has not closed it hears so once, after the bytes that had arrived by then."""
        error = LinkLost(f"the null modem ended ({why}): open it again")
        self.lose(error)
        self._peer.lose(error)

    def lose(self, error: LinkLost) -> None:
        """End this end alone; `hang_up` ends both."""
        if self._error is None:
            self._error = error
            self.wake()

    def wake(self) -> None:
        """There is something to deliver here: do so on a later turn of the event loop."""
        if self._on_data is not None:
            asyncio.get_running_loop().call_soon(self._deliver)

    def _deliver(self) -> None:
        while self._on_data is not None and (data := self._inbox.take()):
            self._on_data(data)
        if self._on_lost is not None and self._error is not None:
            on_lost, self._on_data, self._on_lost = self._on_lost, None, None
            on_lost(self._error)


def null_modem(capacity: int = CAPACITY_BYTES) -> tuple[NullModemEnd, NullModemEnd]:
    """Both ends of a fresh line that holds at most `capacity` bytes in either direction."""
    one_way, other_way = ByteQueue(capacity), ByteQueue(capacity)
    end, far_end = NullModemEnd(one_way, other_way), NullModemEnd(other_way, one_way)
    end.join(far_end)
    far_end.join(end)
    return end, far_end
