"""Commitments to hands that lie face down: anyone can check them later, nobody can read them now."""

import hashlib
import hmac
from collections.abc import Sequence
from typing import Final

from drivers.cards import Card
from drivers.facts import Place

SALT_BYTES: Final = 16


def salt(table_key: bytes, round_number: int, place: Place, number: int) -> bytes:
    """The salt of a place's `number`-th commitment in a round: the same for every replay, secret without the key."""
    message = f"{round_number}|{place}|{number}".encode()
    return hmac.digest(table_key, message, hashlib.sha256)[:SALT_BYTES]


def commitment(salt_bytes: bytes, cards: Sequence[Card | None]) -> str:
    """SHA-256, hex, over the salt and the cards' text; an unread card counts as "??"."""
    text = "".join("??" if card is None else card.value for card in cards)
    return hashlib.sha256(salt_bytes + text.encode()).hexdigest()
