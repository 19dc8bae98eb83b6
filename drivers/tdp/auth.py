"""Authenticated sessions: keys of a session, and the trailer of every frame (drivers/tdp/spec.md section 9.3)."""

import hmac
from typing import Final

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from drivers.tdp.fields import U64

KEY_SIZE: Final = 32
MAC_SIZE: Final = 16
TRAILER_SIZE: Final = U64.size + MAC_SIZE


class Forged(ValueError):
    """Not made with the key of this session and direction."""


class Replayed(ValueError):
    """Made with the key, but not newer than a frame that has come already."""


def key_id(key: bytes) -> int:
    """The number by which HELLO names a key of 32 bytes; never 0."""
    return int.from_bytes(derived(key, b"", b"TDP1 key id", 4), "little") or 1


def derived(secret: bytes, salt: bytes, purpose: bytes, length: int = KEY_SIZE) -> bytes:
    """HKDF-SHA-256 of section 9.3."""
    return HKDF(hashes.SHA256(), length, salt, purpose).derive(secret)


class Seal:
    """One direction of one session, at its sender: every frame gets the next counter and its MAC."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._counter = 0

    def seal(self, body: bytes) -> bytes:
        """`body` is header and payload, header bit 6 set; the trailer is appended."""
        self._counter += 1
        said = body + U64.pack(self._counter)
        return said + hmac.digest(self._key, said, "sha256")[:MAC_SIZE]


class Opener:
    """One direction of one session, at its receiver."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._counter = 0

    def open(self, body: bytes) -> bytes:
        """Header and payload of a frame that is good and new. Raises Forged, Replayed."""
        said, mac = body[:-MAC_SIZE], body[-MAC_SIZE:]
        if not hmac.compare_digest(hmac.digest(self._key, said, "sha256")[:MAC_SIZE], mac):
            raise Forged
        (counter,) = U64.unpack(said[-U64.size :])
        if counter <= self._counter:
            raise Replayed
        self._counter = counter
        return said[: -U64.size]


def session_keys(key: bytes, nonce: bytes, device_nonce: bytes, boot: bytes) -> tuple[bytes, bytes]:
    """The keys of frames to the device and of frames to the host, from the pairing key and 8 bytes of each end."""
    salt = nonce + device_nonce + boot
    return derived(key, salt, b"TDP1 host"), derived(key, salt, b"TDP1 device")
