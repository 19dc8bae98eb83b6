"""A round as everybody else reads it, and the commitments to its hands."""

from collections.abc import Iterator, Mapping
from typing import Final

from drivers.cards import Card
from drivers.facts import Place
from firmware_bridge.core import commitments
from firmware_bridge.core.events import Event, HandDealt
from firmware_bridge.core.table.deal import HAND, Deal
from firmware_bridge.core.table.round import Round
from firmware_bridge.core.table.round_snapshot import Flag, HandSnapshot, Hold, RoundSnapshot
from firmware_bridge.core.terms import DeckState, Evidence, HandVerdict, RoundOutcome


class HandsWhenAsked(Mapping[Place, HandSnapshot]):
    """The hands of a round, read from it when they are asked for: good until its next fact."""

    def __init__(self, current: Round) -> None:
        self._current: Final = current
        self._hands: Mapping[Place, HandSnapshot] | None = None

    @property
    def read(self) -> Mapping[Place, HandSnapshot]:
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
    irregularities = current.irregularities
    if irregularities.void:
        outcome, reason = RoundOutcome.VOID, irregularities.reason
    elif irregularities.holds:
        outcome, reason = RoundOutcome.HELD, irregularities.holds[0].irregularity
    else:
        outcome, reason = RoundOutcome.DEALT if current.deal_is_over else RoundOutcome.OPEN, None
    return RoundSnapshot(
        number=current.number,
        phase=current.phase,
        outcome=outcome,
        reason=reason,
        order=current.order,
        player_dealer=current.player_dealer,
        hands=hands,
        flags=tuple(Flag(flag.irregularity, flag.seat, flag.at_ms, flag.ruling) for flag in irregularities.flags),
        holds=tuple(Hold(hold.irregularity, hold.seat, hold.at_ms) for hold in irregularities.holds),
        decided=dict(current.decided),
        void_seats=current.void_seats,
        forfeited=frozenset(current.forfeited),
        suspended=suspended,
        deck=DeckState.OUT if current.deck_is_out else DeckState.IN,
    )


def _hands(current: Round) -> dict[Place, HandSnapshot]:
    dealing = current.dealing
    if dealing is None:
        return {}
    deal, judged = dealing.deal, dealing.hands() if current.irregularities.void else dealing.complete_places
    hands: dict[Place, HandSnapshot] = {}
    for place in dealing.hands():
        cards = deal.cards(place)
        verdict = _verdict(current, place, cards, counts=place in judged)
        hands[place] = HandSnapshot(cards, len(cards), verdict, _evidence(deal, place))
    return hands


def _verdict(current: Round, place: Place, cards: tuple[Card | None, ...], *, counts: bool) -> HandVerdict:
    """`counts`: no further card is to come there, so that the number of cards says something."""
    if any(hold.concerns(place) for hold in current.irregularities.holds):
        return HandVerdict.HELD
    wrong = len(cards) != HAND and counts
    if wrong or place in current.void_seats or place not in current.order:
        return HandVerdict.MISDEAL
    return HandVerdict.UNREAD if None in cards else HandVerdict.OK


def _evidence(deal: Deal, place: Place) -> Evidence:
    state = deal.at(place)
    if state.checked is not None:
        return Evidence.CHECKED
    if deal.sensors and state.sensed:
        return Evidence.SENSED
    return Evidence.TAKEN if deal.rig == "group" else Evidence.ORDER


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
        if dealing is None or self._closed or not (dealing.deal.over or current.irregularities.void):
            return ()
        self._closed = current.irregularities.void
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
            evidence = _evidence(dealing.deal, place)
            told.append(
                HandDealt(seat=place, count=len(cards), evidence=evidence, commitment=commitment, number=number)
            )
        return tuple(told)
