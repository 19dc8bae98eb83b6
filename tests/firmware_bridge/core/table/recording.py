"""Recordings as tests write them: every call is a fact, four tenths of a second after the last."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from drivers.cards import FULL_DECK
from drivers.facts import Place
from firmware_bridge.core.facts import read_fact
from firmware_bridge.core.table_setup import TableSetup
from firmware_bridge.houses.loader import load_house
from firmware_bridge.offline.judge import Judge

STEP_MS = 400
CARDS = tuple(card.value for card in FULL_DECK)
Row = dict[str, Any]


class Recording:
    """Facts as JSON objects. `rig` and `sensors` decide how `deal_to` deals; cards come from `deck`, top first."""

    def __init__(self, rig: str = "group", *, sensors: bool = False, deck: Sequence[str] = CARDS, **setup: Any) -> None:
        self.setup = TableSetup(deal=rig, sensors=sensors, **setup)  # type: ignore[arg-type]
        self.facts: list[Row] = []
        self.at_ms = 0
        self.order: list[Place] = []
        self._deck = list(deck)
        self._draw = 0
        self._group = 0
        self.there: dict[Place, int] = {}

    def fact(self, source: str, fact: str, **fields: Any) -> "Recording":
        self.at_ms += STEP_MS
        self.facts.append({"at_ms": self.at_ms, "source": source, "fact": fact, **fields})
        return self

    def operator(self, fact: str, **fields: Any) -> "Recording":
        return self.fact("operator", fact, **fields)

    def shuffler(self, fact: str, **fields: Any) -> "Recording":
        return self.fact("shuffler", fact, **fields)

    def shuffle(self, cards: int | None = None, mode: str = "shuffle", **fields: Any) -> "Recording":
        size = 52 * self.setup.decks
        return self.shuffler("shuffle_completed", cards=size if cards is None else cards, mode=mode, **fields)

    def open(self, seats: Iterable[int], *, shuffled: bool = True, player_dealer: int | None = None) -> "Recording":
        """Shuffle, name the seats, close the bets."""
        if shuffled:
            self.shuffle()
        if player_dealer is not None:
            self.operator("player_dealer", seat=player_dealer, wager=1000, action_seat=player_dealer)
        named = list(seats)
        self.operator("seats", seats=named)
        return self.close(named, player_dealer)

    def bet(
        self, antes: dict[int, int], *, shuffled: bool = True, pair_plus: dict[int, int] | None = None
    ) -> "Recording":
        """Shuffle, take wagers, close the bets."""
        if shuffled:
            self.shuffle()
        plus = pair_plus or {}
        for seat in sorted({*antes, *plus}):
            self.operator("wager", seat=seat, ante=antes.get(seat, 0), pair_plus=plus.get(seat, 0))
        return self.close(sorted({*antes, *plus}), None)

    def close(self, seats: Sequence[int], player_dealer: int | None) -> "Recording":
        pivot = player_dealer or 0
        in_play = sorted(seat for seat in seats if seat != player_dealer)
        clockwise = [seat for seat in in_play if seat > pivot] + [seat for seat in in_play if seat < pivot]
        self.order = [*clockwise, "dealer"]
        self.there = {}
        self._group = 0
        return self.operator("no_more_bets")

    def card(self, card: str | None = "next", face: str = "down", skip: int = 0) -> "Recording":
        """One card out of shoe or machine; `skip`: so many draws before it are not told of."""
        self._draw += 1 + skip
        dealt = self._deck.pop(0) if card == "next" else card
        return self.fact("shoe", "card_drawn", draw=self._draw, card=dealt, face=face)

    def lands(self, place: Place, cards: int, *, step_by_step: bool = False) -> "Recording":
        """So many more cards lie at the place, where sensors are there to see it."""
        if not self.setup.sensors:
            return self
        before = self.there.get(place, 0)
        counts = range(before + 1, before + cards + 1) if step_by_step else [before + cards]
        for count in counts:
            self.count(place, count)
        return self

    def count(self, place: Place, cards: int) -> "Recording":
        self.there[place] = cards
        return self.fact("layout", "seat_count", seat=place, cards=cards)

    def group(
        self,
        to: Place | None,
        cards: Sequence[str | None] = ("next", "next", "next"),
        machine: int | None = None,
        lands: int | None = None,
        faces: Sequence[str] = ("down",) * 9,
    ) -> "Recording":
        """A group: read, ready, taken, and landed at `to` (None: nowhere)."""
        for card, face in zip(cards, faces, strict=False):
            self.card(card, face)
        self._group += 1
        self.shuffler("group_ready", group=self._group, cards=len(cards) if machine is None else machine)
        self.shuffler("group_taken", group=self._group)
        if to is not None and (lands is None or lands):
            self.lands(to, len(cards) if lands is None else lands)
        return self

    def single(self, to: Place | None, card: str | None = "next", face: str = "down") -> "Recording":
        """One card of a rotation."""
        self.card(card, face)
        return self if to is None else self.lands(to, 1)

    def deal(self, places: Iterable[Place] | None = None) -> "Recording":
        """A clean deal to the places of the order (or to these)."""
        order = list(self.order if places is None else places)
        if self.setup.deal == "group":
            for place in order:
                self.group(place)
            return self
        for _ in range(3):
            for place in order:
                self.single(place)
        return self.operator("dealing_done")

    def decide(self, **plays: bool) -> "Recording":
        for seat, play in plays.items():
            self.operator("decision", seat=int(seat.removeprefix("s")), play=play)
        return self

    def reveal(self) -> "Recording":
        return self.operator("dealer_revealed")

    def rule(self, ruling: str = "continue", seat: Place | None = None) -> "Recording":
        fields = {} if seat is None else {"seat": seat}
        return self.operator("ruling", ruling=ruling, reason="seen", **fields)

    def new_deck(self, deck: Sequence[str] = CARDS) -> "Recording":
        self._deck = list(deck)
        return self

    def judged(self, house: str = "licensed") -> list[Row]:
        return self.judged_with_sentences(house)[0]

    def judged_with_sentences(self, house: str = "licensed") -> tuple[list[Row], list[str]]:
        judge = Judge(load_house(house), self.setup, "test")
        told = [judge.take(read_fact(json.dumps(fact))) for fact in self.facts]
        return judge.rows(), [sentence for sentence in told if sentence is not None]

    def last(self, house: str = "licensed") -> Row:
        return self.judged(house)[-1]


def flags(row: Row) -> list[tuple[str, Place | None, str]]:
    return [(flag["irregularity"], flag["seat"], flag["ruling"]) for flag in row["flags"]]


def named(row: Row) -> set[str]:
    return {flag["irregularity"] for flag in row["flags"]}


def summary(row: Row) -> tuple[str, str | None, list[tuple[str, Place | None, str]]]:
    return row["outcome"], row["reason"], flags(row)
