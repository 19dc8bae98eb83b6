"""What passed on a port, as a file that Wireshark opens: pcapng, read and written here.

Each connection is a section of its own: a section header, one interface (link type 147, which leaves the meaning to
the user; if_name is the port, if_description the device, a comment "nonce 0102030405060708" the nonce of the
session), then one enhanced packet for every piece of bytes as it came or went, with the time of day in nanoseconds
and epb_flags 1 for a piece from the device, 2 for one to it. A file may end in the middle of a block: what stands
before is good.

Recorded bytes hold the cards that a device reads, face-down ones too: the file is readable by its owner alone.
"""

import os
import re
import stat
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

LARGEST_FILE: Final = 256 * 2**20
LARGEST_READ: Final = LARGEST_FILE + 2**20
"""With the piece that filled the file."""
FILE_MODE: Final = 0o600
LINK_TYPE: Final = 147

_SECTION: Final = 0x0A0D0D0A
_INTERFACE: Final = 1
_PACKET: Final = 6
_BYTE_ORDER: Final = 0x1A2B3C4D
_COMMENT, _NAME, _DESCRIPTION, _RESOLUTION, _FLAGS, _APPLICATION = 1, 2, 3, 9, 2, 4
_NANOSECONDS: Final = 9
_MICROSECONDS: Final = 6
_FROM_DEVICE: Final = 1
_TO_DEVICE: Final = 2
_NONCE: Final = re.compile(r"nonce ([0-9a-f]{16})")


class CaptureError(ValueError):
    """The file is no recording that can be played; the text is a sentence."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes that passed together. `at_ns`: nanoseconds since 1970."""

    at_ns: int
    to_host: bool
    data: bytes


@dataclass(slots=True)
class RecordedConnection:
    """One connection, from the opening of its port on. `nonce` is that of its session."""

    port: str
    device: str
    nonce: bytes
    pieces: list[Piece] = field(default_factory=list)


class CaptureWriter:
    """Appends to a new file. Raises OSError, FileExistsError for a file that is there already."""

    def __init__(self, file: Path) -> None:
        self.size = 0
        self._fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)

    @property
    def full(self) -> bool:
        """Nothing more should be written."""
        return self.size >= LARGEST_FILE

    @property
    def taken_away(self) -> bool:
        """Nobody finds the file any more."""
        return os.fstat(self._fd).st_nlink == 0

    def begin(self, *, port: str, device: str, nonce: bytes) -> None:
        """A connection has been opened."""
        header = struct.pack("<IHHq", _BYTE_ORDER, 1, 0, -1) + _options((_APPLICATION, b"firmware-bridge"))
        interface = struct.pack("<HHI", LINK_TYPE, 0, 0) + _options(
            (_NAME, port.encode()),
            (_DESCRIPTION, device.encode()),
            (_RESOLUTION, bytes((_NANOSECONDS,))),
            (_COMMENT, f"nonce {nonce.hex()}".encode()),
        )
        self._write(_block(_SECTION, header) + _block(_INTERFACE, interface))

    def put(self, piece: Piece) -> None:
        """Append the piece. Raises OSError."""
        fixed = struct.pack("<IIIII", 0, piece.at_ns >> 32, piece.at_ns & 0xFFFFFFFF, len(piece.data), len(piece.data))
        flags = struct.pack("<I", _FROM_DEVICE if piece.to_host else _TO_DEVICE)
        self._write(_block(_PACKET, fixed + _padded(piece.data) + _options((_FLAGS, flags))))

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)

    def _write(self, blocks: bytes) -> None:
        while blocks:
            written = os.write(self._fd, blocks)
            self.size += written
            blocks = blocks[written:]


def is_capture(beginning: bytes) -> bool:
    """Does a file that begins so, with 12 bytes or more, hold blocks of pcapng and not bytes as a device sent them?"""
    orders = struct.pack("<I", _BYTE_ORDER), struct.pack(">I", _BYTE_ORDER)
    return beginning[:4] == struct.pack("<I", _SECTION) and beginning[8:12] in orders


def read_capture(file: Path) -> list[RecordedConnection]:
    """Every connection of the file that came as far as its nonce, in order. Raises CaptureError."""
    try:
        with open(file, "rb", opener=_open_at_once) as opened:
            there = os.fstat(opened.fileno())
            if not stat.S_ISREG(there.st_mode):
                raise CaptureError(f"{file} is no file, so it holds no recording: correct its path")
            if there.st_size > LARGEST_READ:
                raise CaptureError(f"{file} is larger than any recording of this program's: take another")
            data = opened.read(LARGEST_READ)
    except OSError as error:
        raise CaptureError(f"the recording {file} cannot be read ({error.strerror}): correct its path") from error
    return parse_capture(file, data)


def parse_capture(file: Path, data: bytes) -> list[RecordedConnection]:
    """`read_capture` where `data`, all of it, was read already; `file` is what it is called in a sentence."""
    connections: list[RecordedConnection] = []
    resolution = _MICROSECONDS
    for kind, order, body in _blocks(file, data):
        try:
            if kind == _INTERFACE:
                options = dict(_read_options(order, body[8:]))
                resolution = options.get(_RESOLUTION, bytes((_MICROSECONDS,)))[0]
                connections.append(_connection(file, options))
            elif kind == _PACKET:
                connections[-1].pieces.append(_piece(order, body, resolution))
        except (struct.error, IndexError) as error:
            raise CaptureError(f"{file} is damaged: take another recording") from error
    if not connections:
        raise CaptureError(f"{file} holds no connection: take another recording")
    return connections


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe would wait for its other end


def _connection(file: Path, options: dict[int, bytes]) -> RecordedConnection:
    nonce = _NONCE.fullmatch(options.get(_COMMENT, b"").decode(errors="replace"))
    if nonce is None:
        raise CaptureError(f"{file} is no recording of this program's: it lacks the nonce of a session")
    port, device = (options.get(key, b"").decode(errors="replace") for key in (_NAME, _DESCRIPTION))
    return RecordedConnection(port, device, bytes.fromhex(nonce[1]))


def _piece(order: str, body: bytes, resolution: int) -> Piece:
    _, high, low, length, _ = struct.unpack_from(f"{order}IIIII", body)
    if resolution > _NANOSECONDS or 20 + length > len(body):
        raise struct.error
    after = 20 + length + -length % 4
    flags = dict(_read_options(order, body[after:])).get(_FLAGS, b"")
    direction = struct.unpack(f"{order}I", flags)[0] & 3
    at_ns = (high << 32 | low) * int(10 ** (_NANOSECONDS - resolution))
    return Piece(at_ns, direction == _FROM_DEVICE, body[20 : 20 + length])


def _blocks(file: Path, data: bytes) -> Iterator[tuple[int, str, bytes]]:
    """Kind, byte order and body of each whole block."""
    order, at = "<", 0
    if data[:4] != struct.pack("<I", _SECTION):
        raise CaptureError(f"{file} is no pcapng file: take a recording with `capture` in the configuration")
    while at + 12 <= len(data):
        if data[at : at + 4] == struct.pack("<I", _SECTION):
            order = "<" if data[at + 8 : at + 12] == struct.pack("<I", _BYTE_ORDER) else ">"
        kind, length = struct.unpack_from(f"{order}II", data, at)
        if length < 12 or length % 4:
            raise CaptureError(f"{file} is damaged {at} bytes from its start: take another recording")
        if at + length > len(data):
            return
        yield kind, order, data[at + 8 : at + length - 4]
        at += length


def _read_options(order: str, data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        code, length = struct.unpack_from(f"{order}HH", data, at)
        if code == 0:
            return
        yield code, data[at + 4 : at + 4 + length]
        at += 4 + length + -length % 4


def _block(kind: int, body: bytes) -> bytes:
    length = len(body) + 12
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def _options(*options: tuple[int, bytes]) -> bytes:
    return b"".join(struct.pack("<HH", code, len(value)) + _padded(value) for code, value in options) + bytes(4)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
