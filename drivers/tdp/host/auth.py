"""Authenticated sessions: keys of a session, and the trailer of every frame (drivers/tdp/spec.md section 9.3)."""

import enum
import hmac
from typing import Final

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from drivers.tdp.codec.fields import U64
from drivers.tdp.codec.header import HEADER_SIZE, Header

KEY_SIZE: Final = 32
MAC_SIZE: Final = 16
TRAILER_SIZE: Final = U64.size + MAC_SIZE


class Distrust(enum.Enum):
    """Why a frame of an authenticated session is dropped; the value is the counter's name."""

    UNAUTHENTICATED = "unauthenticated_frames"
    FORGED = "forged_frames"
    REPLAYED = "replayed_frames"


class NotTrusted(ValueError):
    """The frame is nothing: `why` says which check of section 9.3 it failed."""

    def __init__(self, why: Distrust) -> None:
        super().__init__(why.value)
        self.why = why


def derived(secret: bytes, salt: bytes, purpose: bytes, length: int = KEY_SIZE) -> bytes:
    """HKDF-SHA-256; an empty salt is 32 zero bytes."""
    return HKDF(hashes.SHA256(), length, salt or bytes(KEY_SIZE), purpose).derive(secret)


def key_id(key: bytes) -> int:
    """The number by which HELLO names a pairing key of 32 bytes; never 0."""
    return int.from_bytes(derived(key, b"", b"TDP1 key id", 4), "little") or 1


def session_keys(key: bytes, *, nonce: bytes, device_nonce: bytes, boot: bytes) -> tuple[bytes, bytes]:
    """The keys of the frames to the device and of those to the host, from the pairing key and 8 bytes each."""
    salt = nonce + device_nonce + boot
    return derived(key, salt, b"TDP1 host"), derived(key, salt, b"TDP1 device")


class Seal:
    """One direction of a session, at its sender: every frame gets the next counter and its mac."""

    def __init__(self, key: bytes) -> None:
        self._keyed = hmac.new(key, digestmod="sha256")
        self._counter = 0

    def __call__(self, body: bytes) -> bytes:
        """`body` is header and payload, header bit 6 set; the answer has the trailer behind it."""
        self._counter += 1
        said = body + U64.pack(self._counter)
        return said + _mac(self._keyed, said)


class SealReader:
    """One direction of a session, at its receiver."""

    def __init__(self, key: bytes) -> None:
        self._keyed = hmac.new(key, digestmod="sha256")
        self._counter = 0

    def open(self, header: Header, body: bytes) -> bytes:
        """Header and payload of a frame that is genuine and new. Raises NotTrusted; the frame changes nothing then."""
        if not header.authenticated:
            raise NotTrusted(Distrust.UNAUTHENTICATED)
        if len(body) < HEADER_SIZE + TRAILER_SIZE:
            raise NotTrusted(Distrust.FORGED)
        said, mac = body[:-MAC_SIZE], body[-MAC_SIZE:]
        if not hmac.compare_digest(_mac(self._keyed, said), mac):
            raise NotTrusted(Distrust.FORGED)
        (counter,) = U64.unpack(said[-U64.size :])
        if counter <= self._counter:
            raise NotTrusted(Distrust.REPLAYED)
        self._counter = counter
        return said[: -U64.size]


def _mac(keyed: hmac.HMAC, said: bytes) -> bytes:
    """A copy of what has taken in the key already costs half of starting anew."""
    running = keyed.copy()
    running.update(said)
    return running.digest()[:MAC_SIZE]
