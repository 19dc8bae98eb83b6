"""What the table says of a round: the one thing that the game, `judge` and the console read of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from drivers.cards import Card
from drivers.facts import Place
from firmware_bridge.core.terms import (
    DeckState,
    Evidence,
    HandVerdict,
    Irregularity,
    Phase,
    RoundOutcome,
    Ruling,
)


@dataclass(frozen=True, slots=True)
class HandSnapshot:
    """A place's cards as far as they are known; None = a card that nobody has read."""

    cards: tuple[Card | None, ...]
    count: int
    verdict: HandVerdict
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Flag:
    irregularity: Irregularity
    seat: Place | None
    at_ms: int
    ruling: Ruling


@dataclass(frozen=True, slots=True)
class Hold:
    irregularity: Irregularity
    seat: Place | None
    at_ms: int


@dataclass(frozen=True, slots=True)
class RoundSnapshot:
    """`hands` has every place of the order once it was served, and any other place where a card landed.

    `order`: the places in the order of dealing, dealer last. `decided`: play (True) or fold, by seat.
    `void_seats` take no further part and get their wagers back, `forfeited` lost theirs.
    """

    number: int
    phase: Phase
    outcome: RoundOutcome
    reason: Irregularity | None
    order: tuple[Place, ...]
    player_dealer: int | None
    hands: Mapping[Place, HandSnapshot]
    flags: tuple[Flag, ...]
    holds: tuple[Hold, ...]
    decided: Mapping[int, bool]
    void_seats: frozenset[int]
    forfeited: frozenset[int]
    suspended: bool
    deck: DeckState
