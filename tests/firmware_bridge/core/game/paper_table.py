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
from firmware_bridge.core.game.machine import Stage
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
        """What the game says; raises Refused with its sentence, or with what a real table would say before it."""
        refused = self._unfit(fact) or self.game.refusal(fact, self.record)
        if refused is not None:
            raise Refused(refused)
        self._note(fact, told)
        out = self.game.apply(fact, told, self.record)
        self.events += [*told, *out]
        return out

    def _unfit(self, fact: Fact) -> str | None:
        """A real table lets those decide who are in the round, each once, and the dealer show a hand once."""
        record = self.record
        if record is None:
            return None
        if record.outcome is RoundOutcome.VOID:
            return "no round" if isinstance(fact, facts.Decision | facts.DealerRevealed) else None
        if isinstance(fact, facts.DealerRevealed):
            return "no hand to show" if record.revealed or not record.hands else None
        if not isinstance(fact, facts.Decision):
            return None
        out = record.void_seats | record.forfeited | record.decided.keys()
        return f"seat {fact.seat} has no say" if fact.seat not in record.order or fact.seat in out else None

    def _note(self, fact: Fact, told: tuple[Event, ...]) -> None:
        """The record of the round, as a real table would have it after the fact."""
        if self.record is None:
            return
        record = self.record
        folded = tuple(seat for seat in sorted(record.forfeited) if seat not in record.folds)
        match fact:
            case facts.Decision():
                record = replace(record, decided={**record.decided, fact.seat: fact.play})
                folded += () if fact.play else (fact.seat,)
            case facts.DealerRevealed():
                record = replace(record, revealed=True)
            case _:
                pass
        void = any(isinstance(event, events.RoundVoid) for event in told)
        outcome = RoundOutcome.VOID if void else record.outcome
        self.record = replace(record, folds=record.folds + folded, outcome=outcome)

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
            folds=(),
            void_seats=frozenset(),
            forfeited=frozenset(),
            revealed=False,
            suspended=False,
            deck=DeckState.IN,
        )
        return events.RoundOpened(house=self.house.name, seats=seats)

    def wager(self, seat: int, *told: Event, **stakes: int) -> tuple[Event, ...]:
        """A wager; the first one opens the round, unless the test says what the table told of it."""
        if not told and self.game.stage is Stage.IDLE:
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
