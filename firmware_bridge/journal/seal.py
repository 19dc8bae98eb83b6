"""Facts that may carry a card are stored encrypted, all to one length: nothing tells whether a card was read."""

import os
from typing import Final, get_args, get_type_hints

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from drivers.cards import Card
from drivers.facts import Fact
from firmware_bridge.core.facts import KNOWN
from firmware_bridge.journal.keys import Keys
from firmware_bridge.journal.rows import Origin

NONCE_BYTES: Final = 12
_BLOCK_BYTES: Final = 256

CARD_FACTS: Final[frozenset[type[Fact]]] = frozenset(
    known for known in KNOWN.values() if any(Card in (hint, *get_args(hint)) for hint in get_type_hints(known).values())
)


class Seal:
    """AES-256-GCM with a fresh nonce a fact; the fact's origin is bound to it, so that no row can stand for another."""

    def __init__(self, keys: Keys) -> None:
        self.key_id = keys.key_id
        self._cipher = AESGCM(keys.sealing_key)

    def close(self, origin: Origin, body: bytes) -> bytes:
        """Nonce and ciphertext of a JSON `body`."""
        padded = body.ljust(-(-len(body) // _BLOCK_BYTES) * _BLOCK_BYTES)
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, padded, _bound(origin))

    def open(self, origin: Origin, sealed: bytes) -> bytes | None:
        """The JSON again; None where this is not what was sealed for `origin` with this key."""
        try:
            return self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], _bound(origin)).rstrip(b" ")
        except (InvalidTag, ValueError):
            return None


def _bound(origin: Origin) -> bytes:
    return msgspec.json.encode(origin)
