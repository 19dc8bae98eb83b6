"""The commitments to the hands of a round that lie face down."""

from typing import Final

from drivers.cards import Card
from drivers.facts import Place
from firmware_bridge.core import commitments
from firmware_bridge.core.events import Event, HandDealt
from firmware_bridge.core.table.round import Round
from firmware_bridge.core.table.round_snapshot import evidence_of


class Commitments:
    """The commitments of one round: one when a place has its hand, another whenever what is known of it changes."""

    def __init__(self, table_key: bytes, round_number: int) -> None:
        self._table_key: Final = table_key
        self._round_number: Final = round_number
        self._made: dict[Place, tuple[int, tuple[Card | None, ...]]] = {}
        self._closed = False

    def due(self, current: Round) -> tuple[Event, ...]:
        """Those to be told of now: once the deal is over, or the round void."""
        dealing = current.dealing
        if dealing is None or self._closed or not (dealing.deal.over or current.state.void):
            return ()
        self._closed = current.state.void
        told: list[Event] = []
        for place in dealing.hands():
            cards = dealing.deal.cards(place)
            number, before = self._made.get(place, (0, None))
            if cards == before or not (cards or before):
                continue
            number += 1
            self._made[place] = number, cards
            salt = commitments.salt(self._table_key, self._round_number, place, number)
            commitment = commitments.commitment(salt, cards)
            evidence = evidence_of(dealing.deal, place)
            told.append(
                HandDealt(seat=place, count=len(cards), evidence=evidence, commitment=commitment, number=number)
            )
        return tuple(told)
