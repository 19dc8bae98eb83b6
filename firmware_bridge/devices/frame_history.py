"""What passed on a device's port of late, kept in memory for the line that is logged when the link is lost.

The bytes hold cards: they are never logged, only named.
"""

from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

from drivers.plugins import NameFrames

MINUTE_MS: Final = 60_000
MOST_BYTES: Final = 2**16
"""Far more than `NAMES_TOLD` frames; of a device that babbles, all of it is named while the event loop waits."""
NAMES_TOLD: Final = 16


class Tap(Protocol):
    """Is shown what passes on a port, one connection after another; it must not fail and must not wait."""

    def opened(self, nonce: bytes) -> None:
        """A connection begins; `nonce` is what its HELLO bears."""

    def passed(self, *, to_host: bool, data: bytes) -> None:
        """Bytes went by; `to_host` says which way."""


class FrameHistory:
    """The last minute of the present connection and of those before it, at most `MOST_BYTES`."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock
        self._pieces: deque[tuple[int, int, bool, bytes]] = deque()
        self._size = 0
        self._connection = 0

    def opened(self, nonce: bytes) -> None:
        """A connection begins: what is unfinished of the last is no frame of it."""
        self._connection += 1

    def passed(self, *, to_host: bool, data: bytes) -> None:
        """Take the frames among the bytes that went by; `to_host` says which way."""
        now_ms = self._clock()
        self._pieces.append((now_ms, self._connection, to_host, data))
        self._size += len(data)
        while self._size > MOST_BYTES or now_ms - self._pieces[0][0] > MINUTE_MS:
            self._size -= len(self._pieces.popleft()[3])

    def last_names(self, name_frames: NameFrames) -> list[str]:
        """The names of the present connection's last frames, oldest first; "<" came from the device, ">" went to it."""
        pieces = [(to_host, data) for _, number, to_host, data in self._pieces if number == self._connection]
        return name_frames(pieces)[-NAMES_TOLD:]
