"""What the table says of a round: the one thing that the game, `judge` and the console read of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from drivers.cards import Card
from drivers.facts import Place
from firmware_bridge.core.table.deal import HAND, Deal
from firmware_bridge.core.table.round import Round
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
    """An irregularity of the round and what the policy said; `seat` is None for the table."""

    irregularity: Irregularity
    seat: Place | None
    at_ms: int
    ruling: Ruling


@dataclass(frozen=True, slots=True)
class Hold:
    """A question that is before the floor; `seat` is None for the table."""

    irregularity: Irregularity
    seat: Place | None
    at_ms: int


@dataclass(frozen=True, slots=True)
class RoundSnapshot:
    """`hands` has every place of the order once it was served, and any other place where a card landed.

    `order`: the places in the order of dealing, dealer last. `decided`: play (True) or fold, by seat. `folds`: seats in
    the order in which they folded or forfeited. `void_seats` take no further part and get their wagers back,
    `forfeited` lost theirs. `revealed`: the dealer's hand is shown. `suspended`: a device is gone.
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
    folds: tuple[int, ...]
    void_seats: frozenset[int]
    forfeited: frozenset[int]
    revealed: bool
    suspended: bool
    deck: DeckState


class HandsWhenAsked(Mapping[Place, HandSnapshot]):
    """The hands of a round, read from it when they are asked for: good until its next fact."""

    def __init__(self, current: Round) -> None:
        self._current: Final = current
        self._hands: Mapping[Place, HandSnapshot] | None = None

    @property
    def read(self) -> Mapping[Place, HandSnapshot]:
        """All hands, read from the round at the first call."""
        if self._hands is None:
            self._hands = _hands(self._current)
        return self._hands

    def __getitem__(self, place: Place) -> HandSnapshot:
        return self.read[place]

    def __iter__(self) -> Iterator[Place]:
        return iter(self.read)

    def __len__(self) -> int:
        return len(self.read)


def snapshot_of(current: Round, hands: Mapping[Place, HandSnapshot], *, suspended: bool) -> RoundSnapshot:
    """The round's record as it stands, with these hands of it."""
    state, irregularities = current.state, current.irregularities
    if state.void:
        outcome, reason = RoundOutcome.VOID, state.void_reason
    elif irregularities.holds:
        outcome, reason = RoundOutcome.HELD, irregularities.holds[0].irregularity
    else:
        outcome, reason = RoundOutcome.DEALT if state.deal_is_over else RoundOutcome.OPEN, None
    return RoundSnapshot(
        number=state.number,
        phase=state.phase,
        outcome=outcome,
        reason=reason,
        order=state.order,
        player_dealer=state.player_dealer,
        hands=hands,
        flags=tuple(Flag(flag.irregularity, flag.seat, flag.at_ms, flag.ruling) for flag in irregularities.flags),
        holds=tuple(Hold(hold.irregularity, hold.seat, hold.at_ms) for hold in irregularities.holds),
        decided=dict(state.decided),
        folds=tuple(state.folds),
        void_seats=state.void_seats,
        forfeited=frozenset(state.forfeited),
        revealed=state.revealed,
        suspended=suspended,
        deck=DeckState.OUT if current.deck_is_out else DeckState.IN,
    )


def _hands(current: Round) -> dict[Place, HandSnapshot]:
    dealing = current.dealing
    if dealing is None:
        return {}
    deal, judged = dealing.deal, dealing.hands() if current.state.void else dealing.complete_places
    hands: dict[Place, HandSnapshot] = {}
    for place in dealing.hands():
        cards = deal.cards(place)
        verdict = _verdict(current, place, cards, counts=place in judged)
        hands[place] = HandSnapshot(cards, len(cards), verdict, evidence_of(deal, place))
    return hands


def _verdict(current: Round, place: Place, cards: tuple[Card | None, ...], *, counts: bool) -> HandVerdict:
    """`counts`: no further card is to come there, so that the number of cards says something."""
    if any(hold.concerns(place) for hold in current.irregularities.holds):
        return HandVerdict.HELD
    wrong = len(cards) != HAND and counts
    if wrong or place in current.state.void_seats or place not in current.state.order:
        return HandVerdict.MISDEAL
    return HandVerdict.UNREAD if None in cards else HandVerdict.OK


def evidence_of(deal: Deal, place: Place) -> Evidence:
    """How the place is known to have its cards."""
    state = deal.at(place)
    if state.checked is not None:
        return Evidence.CHECKED
    if deal.sensors and state.sensed:
        return Evidence.SENSED
    return Evidence.TAKEN if deal.rig == "group" else Evidence.ORDER
