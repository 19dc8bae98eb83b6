"""The device's key and what it does with it: sealed frames, and the refusal of plain sessions (9.3).

Written from the specification with the standard library alone, so that it shares no mistake with the host.
"""

import hashlib
import hmac
from collections.abc import Callable
from typing import Final

from drivers.tdp.codec.enums import Capability
from drivers.tdp.codec.header import HEADER_SIZE, Header

KEY_SIZE: Final = 32
NONCE_SIZE: Final = 8
COUNTER_SIZE: Final = 8
MAC_SIZE: Final = 16
PLAIN_FRAME_BYTES: Final = HEADER_SIZE + 4 + 1 + 1
"""Header, CRC, what stuffing adds to a short frame, and the delimiter."""


class UntrustedError(Exception):
    """The frame is dropped; the text is the counter it goes to."""


def hkdf(secret: bytes, salt: bytes, info: bytes, size: int) -> bytes:
    """RFC 5869 with SHA-256, at most 32 bytes."""
    extracted = hmac.digest(salt or bytes(KEY_SIZE), secret, "sha256")
    return hmac.digest(extracted, info + b"\x01", "sha256")[:size]


def confirmation(key: bytes, end: bytes) -> bytes:
    """What shows the other end of a pairing that this one has the same key (9.4); `end` is host or device."""
    return hkdf(key, b"", b"TDP1 confirm " + end, MAC_SIZE)


def fingerprint(host_public: bytes, device_public: bytes) -> str:
    """The six digits that the device shows while it is paired (spec.md section 9.4)."""
    digest = hashlib.sha256(b"TDP1 fingerprint" + host_public + device_public).digest()
    return f"{int.from_bytes(digest[:4], 'big') % 1_000_000:06d}"


class DeviceAuth:
    """`key` None: never paired. `random_bytes(n)` has to be good: nonces and private keys come of it."""

    def __init__(self, random_bytes: Callable[[int], bytes], key: bytes | None = None) -> None:
        self.random_bytes: Final = random_bytes
        self.key = key
        self.device_nonce = bytes(NONCE_SIZE)
        self._to_device: bytes | None = None
        self._to_host: bytes | None = None
        self._sent = 0
        self._received = 0

    @property
    def key_id(self) -> int:
        """By which HELLO_ANSWER names the key it holds; 0 for none."""
        if self.key is None:
            return 0
        return int.from_bytes(hkdf(self.key, b"", b"TDP1 key id", 4), "little") or 1

    @property
    def session_key_id(self) -> int:
        """What HELLO_ANSWER says: 0 in a plain session."""
        return self.key_id if self._to_host is not None else 0

    @property
    def capabilities(self) -> Capability:
        """What HELLO_ANSWER says of authentication."""
        held = Capability.REFUSES_PLAIN if self.key is not None else Capability(0)
        return Capability.OFFERS_AUTHENTICATION | held

    @property
    def refuses(self) -> bool:
        """A paired device in a plain session: nothing there starts anything."""
        return self.key is not None and self._to_host is None

    @property
    def seal(self) -> Callable[[bytes], bytes] | None:
        """What puts the trailer behind a frame to the host; None in a plain session."""
        return None if self._to_host is None else self._seal

    @property
    def frame_bytes(self) -> int:
        """How many bytes of a frame of this session are not payload."""
        return PLAIN_FRAME_BYTES + (0 if self._to_host is None else COUNTER_SIZE + MAC_SIZE)

    def new_session(self, asked_key_id: int, nonce: bytes, boot: bytes) -> None:
        """Authenticated if the host names the key that is held here; else plain."""
        self._to_device = self._to_host = None
        self._sent = self._received = 0
        self.device_nonce = bytes(NONCE_SIZE)
        if self.key is not None and asked_key_id == self.key_id:
            self.device_nonce = self.random_bytes(NONCE_SIZE)
            salt = nonce + self.device_nonce + boot
            self._to_device = hkdf(self.key, salt, b"TDP1 host", KEY_SIZE)
            self._to_host = hkdf(self.key, salt, b"TDP1 device", KEY_SIZE)

    def open(self, header: Header, body: bytes) -> bytes:
        """Header and payload of a frame of the session. Raises UntrustedError."""
        if self._to_device is None:
            if header.authenticated:
                raise UntrustedError("authenticated")
            return body
        if not header.authenticated:
            raise UntrustedError("unauthenticated")
        said, mac = body[:-MAC_SIZE], body[-MAC_SIZE:]
        genuine = hmac.compare_digest(hmac.digest(self._to_device, said, "sha256")[:MAC_SIZE], mac)
        if not genuine or len(said) < HEADER_SIZE + COUNTER_SIZE:
            raise UntrustedError("forged")
        counter = int.from_bytes(said[-COUNTER_SIZE:], "little")
        if counter <= self._received:
            raise UntrustedError("replayed")
        self._received = counter
        return said[:-COUNTER_SIZE]

    def _seal(self, body: bytes) -> bytes:
        self._sent += 1
        said = body + self._sent.to_bytes(COUNTER_SIZE, "little")
        return said + hmac.digest(self._to_host or b"", said, "sha256")[:MAC_SIZE]
