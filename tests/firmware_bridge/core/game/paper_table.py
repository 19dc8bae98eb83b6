"""A table on paper: it tells the game what a real table would, of a round that the test writes down."""

from dataclasses import replace
from typing import Any

import msgspec

from drivers.cards import Card
from drivers.facts import Fact, Place
from firmware_bridge.core import commitments, events, facts
from firmware_bridge.core.events import Event
from firmware_bridge.core.facts import BridgeFact
from firmware_bridge.core.game.game import Game
from firmware_bridge.core.game.machine import State
from firmware_bridge.core.rules.house import House
from firmware_bridge.core.table.round_snapshot import HandSnapshot, Hold, RoundSnapshot
from firmware_bridge.core.table_setup import TableSetup
from firmware_bridge.core.terms import (
    DeckState,
    Evidence,
    HandVerdict,
    Irregularity,
    Phase,
    RoundOutcome,
    Ruling,
)
from firmware_bridge.houses.loader import load_house

KEY = b"k" * 32


class Refused(Exception):
    pass


class PaperTable:
    """Facts go to the game with what the table would have told; `at_ms` counts on by one a fact."""

    def __init__(self, house: str | House = "licensed", **setup: Any) -> None:
        self.house = load_house(house) if isinstance(house, str) else house
        self.game = Game(self.house, TableSetup(deal="group", **{"seats": self.house.deal.places, **setup}), KEY)
        self.record: RoundSnapshot | None = None
        self.at_ms = 0
        self.events: list[Event] = []

    def tell(self, fact: Fact, *told: Event) -> tuple[Event, ...]:
        """What the game says; raises Refused with its sentence."""
        refused = self.game.refusal(fact, self.record)
        if refused is not None:
            raise Refused(refused)
        out = self.game.apply(fact, told, self.record)
        self.events += [*told, *out]
        return out

    def now(self) -> int:
        self.at_ms += 1
        return self.at_ms

    def passes(self, *told: Event) -> tuple[Event, ...]:
        return self.tell(facts.TimePassed(at_ms=self.now()), *told)

    def current(self) -> RoundSnapshot:
        assert self.record is not None
        return self.record

    def open(self, *seats: int, number: int = 1) -> events.RoundOpened:
        """A new round's record, and what tells of it."""
        self.record = RoundSnapshot(
            number=number,
            phase=Phase.BETTING,
            outcome=RoundOutcome.OPEN,
            reason=None,
            order=(*seats, "dealer"),
            player_dealer=None,
            hands={},
            flags=(),
            holds=(),
            decided={},
            void_seats=frozenset(),
            forfeited=frozenset(),
            suspended=False,
            deck=DeckState.IN,
        )
        return events.RoundOpened(house=self.house.name, seats=seats)

    def wager(self, seat: int, *told: Event, **stakes: int) -> tuple[Event, ...]:
        """A wager; the first one opens the round, unless the test says what the table told of it."""
        if not told and self.game.state is State.IDLE:
            told = (self.open(seat),)
        record = self.current()
        self.record = replace(record, order=(seat, *(place for place in record.order if place != seat)))
        fact = msgspec.convert({"at_ms": self.now(), "seat": seat, "fact": "wager", **stakes}, facts.Wager)
        return self.tell(fact, *told)

    def close(self) -> tuple[Event, ...]:
        seats = tuple(place for place in self.current().order if place != "dealer")
        return self.tell(facts.NoMoreBets(at_ms=self.now()), events.BetsClosed(seats=seats))

    def hand(self, place: Place, text: str, number: int = 1) -> events.HandDealt:
        """Cards at a place, "??" for one that nobody has read."""
        cards = tuple(None if card == "??" else Card(card) for card in text.split())
        record = self.current()
        hand = HandSnapshot(cards, len(cards), HandVerdict.OK, Evidence.TAKEN)
        self.record = replace(record, hands={**record.hands, place: hand})
        salt = commitments.salt(KEY, record.number, place, number)
        return events.HandDealt(
            seat=place,
            count=len(cards),
            evidence=Evidence.TAKEN,
            commitment=commitments.commitment(salt, cards),
            number=number,
        )

    def deal(self, hands: dict[Place, str]) -> tuple[Event, ...]:
        """All hands, and the end of the deal."""
        told = [self.hand(place, text) for place, text in hands.items()]
        return self.passes(*told, events.DealOver())

    def decide(self, seat: int, *, play: bool) -> tuple[Event, ...]:
        return self.tell(facts.Decision(at_ms=self.now(), seat=seat, play=play))

    def reveal(self, *told: Event) -> tuple[Event, ...]:
        return self.tell(facts.DealerRevealed(at_ms=self.now()), *told)

    def hold(self, irregularity: Irregularity = Irregularity.COUNT_CONFLICT) -> tuple[Event, ...]:
        self.record = replace(self.current(), holds=(Hold(irregularity, None, self.at_ms),))
        return self.passes(events.HoldRaised(irregularity=irregularity))

    def rule(self, ruling: Ruling, **changes: Any) -> tuple[Event, ...]:
        """The floor rules on the hold; `changes` to the record follow from it."""
        reason = self.current().holds[0].irregularity
        self.record = replace(self.current(), holds=(), **changes)
        fact = facts.FloorRuling(at_ms=self.now(), ruling=ruling.value)  # type: ignore[arg-type]
        lifted = events.HoldLifted(irregularity=reason, ruling=ruling)
        if ruling is Ruling.VOID_ROUND:
            return self.tell(fact, lifted, events.RoundVoid(reason=reason))
        return self.tell(fact, lifted)

    def suspended(self, *, gone: bool) -> tuple[Event, ...]:
        self.record = replace(self.current(), suspended=gone)
        fact: BridgeFact = facts.DeviceLost(at_ms=self.now(), device="shoe")
        if not gone:
            fact = facts.DeviceBack(at_ms=self.now(), device="shoe")
        return self.tell(fact)


def kinds(told: tuple[Event, ...]) -> list[str]:
    return [type(event).__name__ for event in told]


def settled(told: tuple[Event, ...]) -> dict[str, Any]:
    """The settlement among the events, as JSON values."""
    (event,) = [event for event in told if isinstance(event, events.RoundSettled)]
    read: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(event))
    return read


def released(told: tuple[Event, ...]) -> dict[Place, str]:
    return {
        event.seat: " ".join("??" if card is None else card.value for card in event.cards)
        for event in told
        if isinstance(event, events.HandReleased)
    }
