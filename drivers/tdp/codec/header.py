"""The header of every TDP frame and the session it names (drivers/tdp/spec.md sections 3 and 4.2)."""

import struct
from typing import Final, Self
from zlib import crc32

import msgspec

from drivers.tdp.codec.fields import BadMessage

MAJOR: Final = 1
MINOR: Final = 0
WINDOW: Final = 8
"""Sequenced messages under way at most (section 3.2)."""
REORDER_LIMIT: Final = 15
"""How far ahead of its turn a sequenced message may be kept (section 3.2)."""

_HEADER: Final = struct.Struct("<BBBIHH")
HEADER_SIZE: Final = _HEADER.size
_TO_HOST: Final = 0x80
_AUTHENTICATED: Final = 0x40


def session_id(nonce: bytes, boot: bytes) -> int:
    """Section 4.2: what both ends compute from the host's nonce and the device's boot id, 8 bytes each."""
    return crc32(nonce + boot) or 1


class Header(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Section 3.1. `to_host` is the direction bit."""

    to_host: bool
    message_type: int
    session: int
    sequence: int = 0
    acknowledgement: int = 0
    authenticated: bool = False
    major: int = MAJOR
    minor: int = MINOR

    def to_bytes(self) -> bytes:
        """The header as it stands at the front of a frame's body."""
        flags = (_TO_HOST if self.to_host else 0) | (_AUTHENTICATED if self.authenticated else 0)
        version = self.major << 4 | self.minor
        return _HEADER.pack(version, flags, self.message_type, self.session, self.sequence, self.acknowledgement)

    @classmethod
    def from_bytes(cls, body: bytes) -> Self:
        """The header in front of a frame's body; any byte may follow. Raises BadMessage for a body too short."""
        if len(body) < HEADER_SIZE:
            raise BadMessage(f"body of {len(body)} bytes is shorter than a header")
        version, flags, message_type, session, sequence, acknowledgement = _HEADER.unpack_from(body)
        return cls(
            to_host=flags & _TO_HOST != 0,
            message_type=message_type,
            session=session,
            sequence=sequence,
            acknowledgement=acknowledgement,
            authenticated=flags & _AUTHENTICATED != 0,
            major=version >> 4,
            minor=version & 0x0F,
        )
