"""A recording judged: facts through the core, one row a round."""

from collections import Counter
from typing import Any, Final

import msgspec

from drivers.facts import Fact, Place
from firmware_bridge.core import facts
from firmware_bridge.core.bridge import Bridge
from firmware_bridge.core.events import FactRefused
from firmware_bridge.core.ranking import category, rank
from firmware_bridge.core.rules.house import House
from firmware_bridge.core.table.round_snapshot import HandSnapshot, RoundSnapshot
from firmware_bridge.core.table_setup import TableSetup
from firmware_bridge.core.terms import HandCategory, HandVerdict

_NO_SECRETS: Final = bytes(32)


class SetupRefused(ValueError):
    """The house does not deal at such a table; the text is the sentence for a person."""


class Judge:
    """Reads facts in order; `rows` has one row a round. Raises SetupRefused. `unknown` counts unknown facts by name."""

    def __init__(self, house: House, setup: TableSetup, version: str) -> None:
        self._bridge = Bridge(_NO_SECRETS)
        self._records: dict[int, RoundSnapshot] = {}
        self.unknown: Counter[str] = Counter()
        started = facts.Started(
            at_ms=0,
            version=version,
            house=msgspec.Raw(msgspec.json.encode(house)),
            table=msgspec.Raw(msgspec.json.encode(setup)),
        )
        for event in self._bridge.apply(started):
            if isinstance(event, FactRefused):
                raise SetupRefused(event.sentence)

    def take(self, fact: Fact) -> str | None:
        """One fact; the sentence where it does not fit. A recording's own `started` is passed over."""
        if isinstance(fact, facts.UnknownFact):
            self.unknown[fact.name] += 1
        if isinstance(fact, facts.UnknownFact | facts.Started):
            return None
        told = self._bridge.apply(fact)
        self._keep()
        return next((event.sentence for event in told if isinstance(event, FactRefused)), None)

    def rows(self) -> list[dict[str, Any]]:
        """Every round, once the recording has ended."""
        self._bridge.read_sensors()
        self._keep()
        return [row(record) for record in self._records.values()]

    def _keep(self) -> None:
        record = self._bridge.record
        if record is not None:
            self._records[record.number] = record


def row(record: RoundSnapshot) -> dict[str, Any]:
    """One round as `judge` prints it."""
    return {
        "round": record.number,
        "outcome": record.outcome.value,
        "reason": None if record.reason is None else record.reason.value,
        "seats": {str(place): _seat(hand) for place, hand in sorted(record.hands.items(), key=_by_place)},
        "flags": [
            {
                "irregularity": flag.irregularity.value,
                "seat": flag.seat,
                "at_ms": flag.at_ms,
                "ruling": flag.ruling.value,
            }
            for flag in record.flags
        ],
        "deck": record.deck.value,
    }


def _by_place(entry: tuple[Place, HandSnapshot]) -> tuple[bool, int]:
    """Seats in their order, the dealer last."""
    place = entry[0]
    return (True, 0) if place == "dealer" else (False, place)


def _seat(hand: HandSnapshot) -> dict[str, Any]:
    named = hand_of(hand)
    return {
        "cards": [None if card is None else card.value for card in hand.cards],
        "count": hand.count,
        "verdict": hand.verdict.value,
        "hand": None if named is None else named.value,
        "evidence": hand.evidence.value,
    }


def hand_of(hand: HandSnapshot) -> HandCategory | None:
    """What the hand is; None for a misdealt one, and for one that is not known."""
    known = [card.index for card in hand.cards if card is not None]
    if hand.verdict is HandVerdict.MISDEAL or len(hand.cards) != 3 or len(known) != 3:
        return None
    return category(rank(*known))
