"""When a hand that lay face down leaves the core: cards and salt, once, under the commitment that was made last."""

from drivers.cards import Card
from drivers.facts import Place
from firmware_bridge.core import commitments
from firmware_bridge.core.events import HandDealt, HandReleased
from firmware_bridge.core.ranking import category, rank_cards
from firmware_bridge.core.table.round_snapshot import HandSnapshot, RoundSnapshot


class Releases:
    """The commitments of one round, and which of them are opened."""

    def __init__(self, table_key: bytes) -> None:
        self._table_key = table_key
        self._committed: dict[Place, int] = {}
        self._opened: dict[Place, int] = {}

    def committed(self, event: HandDealt) -> None:
        """A hand was committed to, for the first time or anew."""
        self._committed[event.seat] = event.number

    def outdated(self) -> tuple[Place, ...]:
        """Places that were opened before their last commitment was made."""
        return tuple(place for place, number in self._opened.items() if number != self._committed[place])

    def open(self, place: Place, record: RoundSnapshot) -> tuple[HandReleased, ...]:
        """The hand of that place as it is now; nothing where none was committed to, or where it is open already."""
        number = self._committed.get(place)
        hand = record.hands.get(place)
        if number is None or hand is None or self._opened.get(place) == number:
            return ()
        self._opened[place] = number
        known = known_cards(hand)
        return (
            HandReleased(
                seat=place,
                cards=hand.cards,
                hand=category(rank_cards(known)) if len(known) == len(hand.cards) == 3 else None,
                salt=commitments.salt(self._table_key, record.number, place, number).hex(),
            ),
        )

    def rest(self, record: RoundSnapshot) -> tuple[HandReleased, ...]:
        """Every hand that is still closed, in the order of dealing, then those at other places."""
        places = (*record.order, *(place for place in record.hands if place not in record.order))
        return tuple(event for place in places for event in self.open(place, record))


def known_cards(hand: HandSnapshot) -> list[Card]:
    """Those of a hand that somebody has read."""
    return [card for card in hand.cards if card is not None]
