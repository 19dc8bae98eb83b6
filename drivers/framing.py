"""Frames on a byte stream: zero-delimited COBS with a CRC-32, as drivers/tdp/spec.md section 2 defines them.

Pure and bounded: whatever arrives, the decoder holds at most one frame's worth of bytes and always goes on.
"""

import enum
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
        self._pending = bytearray()
        self._state = FramingState.UNSYNC
        self.unsync_bytes = 0
        self.overlong = 0
        self.bad_stuffing = 0
        self.too_short = 0
        self.bad_crc = 0

    @property
    def state(self) -> FramingState:
        return self._state

    @property
    def pending(self) -> int:
        """Bytes held of a frame that has not ended; never more than MAX_ENCODED."""
        return len(self._pending)

    @property
    def counters(self) -> dict[str, int]:
        return {
            "unsync_bytes": self.unsync_bytes,
            "overlong_frames": self.overlong,
            "bad_stuffing": self.bad_stuffing,
            "too_short_frames": self.too_short,
            "bad_crc": self.bad_crc,
        }

    def feed(self, data: bytes) -> list[bytes]:
        """The bodies, without their CRC, of the frames that `data` completes, in order. Never raises."""
        if DELIMITER not in data:
            self._hold(data)
            return []
        pieces = data.split(DELIMITER)
        pieces[0] = self._end_pending(pieces[0])
        tail = pieces.pop()
        bodies: list[bytes] = []
        append, decode = bodies.append, cobs.decode
        for piece in pieces:
            if not piece:
                continue  # delimiters may stand in any number
            if len(piece) > MAX_ENCODED:
                self.overlong += 1
                continue
            try:
                checked = decode(piece)
            except cobs.DecodeError:
                self.bad_stuffing += 1
                continue
            if crc32(checked) == _RESIDUE:
                append(checked[:-CRC_SIZE])
            elif len(checked) < CRC_SIZE:
                self.too_short += 1
            else:
                self.bad_crc += 1
        if tail:
            self._hold(tail)
        return bodies

    def _hold(self, data: bytes) -> None:
        if self._state is FramingState.IN_FRAME:
            self._pending += data
            if len(self._pending) > MAX_ENCODED:
                self._pending.clear()
                self._state = FramingState.SKIP
                self.overlong += 1
        elif self._state is FramingState.UNSYNC:
            self.unsync_bytes += len(data)

    def _end_pending(self, last: bytes) -> bytes:
        """The whole of the frame that a delimiter has just ended, empty where it was being thrown away."""
        state, self._state = self._state, FramingState.IN_FRAME
        if state is FramingState.UNSYNC:
            self.unsync_bytes += len(last)
            return b""
        if state is FramingState.SKIP:
            return b""
        if not self._pending:
            return last
        whole = bytes(self._pending) + last
        self._pending.clear()
        return whole
