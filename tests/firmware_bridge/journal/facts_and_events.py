"""Facts and events to store."""

from pathlib import Path

from drivers.cards import FULL_DECK, Card
from drivers.facts import CardDrawn
from firmware_bridge.core.events import CardDealt
from firmware_bridge.journal.keys import Keys, derive_keys
from firmware_bridge.journal.rows import Apply, Origin, Receive, encoded
from firmware_bridge.journal.store import Store

KEYS = derive_keys(bytes(range(32)))
OTHER_KEYS = derive_keys(bytes(32))


def open_store(folder: Path, keys: Keys = KEYS) -> Store:
    return Store.open(folder / "table.journal", keys)


def draw(number: int, card: Card | None = Card.QUEEN_OF_HEARTS) -> CardDrawn:
    return CardDrawn(at_ms=1000 + number, draw=number, card=card, face="down")


def origin(number: int) -> Origin:
    return Origin("shoe", "boot-1", number)


def receive(number: int) -> Receive:
    """The draw `number`, received as fact `number`; each with a card of its own."""
    return Receive(number, origin(number), draw(number, FULL_DECK[number % 52]), 1000 + number)


def dealt(seq: int) -> CardDealt:
    return CardDealt(seq=seq, round=1, at_ms=1000 + seq, seat=1, index=1)


def apply(number: int, *seqs: int) -> Apply:
    return Apply(number, encoded(dealt(seq) for seq in seqs))
