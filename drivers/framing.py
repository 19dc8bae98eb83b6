"""Frames on a byte stream: zero-delimited COBS with a CRC-32, as drivers/tdp/spec.md section 2 defines them.

Pure and bounded: whatever arrives, the decoder holds at most one frame's worth of bytes and always goes on.
"""

import enum
from collections.abc import Callable
from typing import Final
from zlib import crc32

from cobs import cobs

DELIMITER: Final = b"\x00"
CRC_SIZE: Final = 4
MAX_DECODED: Final = 512
"""Body and CRC together, before stuffing (section 2.2)."""
MAX_ENCODED: Final = MAX_DECODED + (MAX_DECODED + 253) // 254

_RESIDUE: Final = 0x2144DF1C
"""The CRC-32 of any bytes followed by their own CRC-32, little endian."""


class FrameTooLong(ValueError):
    """The body does not fit a frame: the message must be made shorter."""


class FramingState(enum.Enum):
    """What the decoder does with the next byte (section 2.4)."""

    UNSYNC = "unsync"
    IN_FRAME = "in_frame"
    SKIP = "skip"


_IN_FRAME: Final = FramingState.IN_FRAME
_unstuffed: Final[Callable[[bytes], bytes]] = cobs.decode


def encode_frame(body: bytes) -> bytes:
    """The frame of `body` with the delimiter that ends it. Raises FrameTooLong beyond MAX_DECODED - CRC_SIZE bytes."""
    if len(body) > MAX_DECODED - CRC_SIZE:
        raise FrameTooLong(f"a frame's body of {len(body)} bytes is longer than {MAX_DECODED - CRC_SIZE}")
    stuffed: bytes = cobs.encode(body + crc32(body).to_bytes(CRC_SIZE, "little"))
    return stuffed + DELIMITER


class FrameDecoder:
    """Takes a stream in any pieces, gives the bodies of the good frames; one decoder serves one connection.

    `unsync_bytes`: bytes thrown away before the first delimiter. `overlong`, `bad_stuffing`, `too_short`, `bad_crc`:
    frames thrown away, by reason.
    """

    __slots__ = ("_pending", "_state", "bad_crc", "bad_stuffing", "overlong", "too_short", "unsync_bytes")

    def __init__(self) -> None:
        self._pending = b""
        self._state = FramingState.UNSYNC
        self.unsync_bytes = 0
        self.overlong = 0
        self.bad_stuffing = 0
        self.too_short = 0
        self.bad_crc = 0

    @property
    def state(self) -> FramingState:
        """Whether it is within a frame, between two, or skips one."""
        return self._state

    @property
    def pending(self) -> int:
        """Bytes held of a frame that has not ended; never more than MAX_ENCODED."""
        return len(self._pending)

    @property
    def counters(self) -> dict[str, int]:
        """How often bytes were no frame, by reason."""
        return {
            "unsync_bytes": self.unsync_bytes,
            "overlong_frames": self.overlong,
            "bad_stuffing": self.bad_stuffing,
            "too_short_frames": self.too_short,
            "bad_crc": self.bad_crc,
        }

    def feed(self, data: bytes) -> list[bytes]:
        """The bodies, without their CRC, of the frames that `data` completes, in order. Never raises."""
        if 0 not in data:  # an int: several times as fast here as a bytes of length one
            if self._state is _IN_FRAME:
                self._pending = pending = self._pending + data
                if len(pending) > MAX_ENCODED:
                    self._skip()
            elif self._state is FramingState.UNSYNC:
                self.unsync_bytes += len(data)
            return []
        pieces = data.split(DELIMITER)
        if self._state is not _IN_FRAME:
            self._synchronise(len(pieces[0]))
            pieces[0] = b""
        elif self._pending:
            pieces[0] = self._pending + pieces[0]
        tail = self._pending = pieces.pop()
        bodies: list[bytes] = []
        for piece in pieces:
            if not piece:
                continue  # delimiters may stand in any number
            if len(piece) > MAX_ENCODED:
                self.overlong += 1
                continue
            try:
                checked = _unstuffed(piece)
            except cobs.DecodeError:
                self.bad_stuffing += 1
                continue
            if crc32(checked) == _RESIDUE:
                bodies.append(checked[:-CRC_SIZE])
            elif len(checked) < CRC_SIZE:
                self.too_short += 1
            else:
                self.bad_crc += 1
        if len(tail) > MAX_ENCODED:
            self._skip()
        return bodies

    def _skip(self) -> None:
        self._pending = b""
        self._state = FramingState.SKIP
        self.overlong += 1

    def _synchronise(self, thrown_away: int) -> None:
        """The first delimiter after bytes that were thrown away, `thrown_away` of them just now."""
        if self._state is FramingState.UNSYNC:
            self.unsync_bytes += thrown_away
        self._state = _IN_FRAME
