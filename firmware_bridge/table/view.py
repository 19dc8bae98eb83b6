"""A round as everybody else reads it, and the commitments to its hands."""

from typing import Final

from drivers.cards import Card
from drivers.facts import Place
from firmware_bridge import sealing
from firmware_bridge.events import Event, HandDealt
from firmware_bridge.table.deal import HAND, Deal
from firmware_bridge.table.dealing import Dealing
from firmware_bridge.table.record import Flag, HandRecord, Hold, RoundRecord
from firmware_bridge.table.round import Round
from firmware_bridge.terms import DeckState, Evidence, HandVerdict, RoundOutcome


def record_of(current: Round, *, suspended: bool) -> RoundRecord:
    """The round's record as it stands."""
    ledger = current.ledger
    if ledger.void:
        outcome, reason = RoundOutcome.VOID, ledger.reason
    elif ledger.holds:
        outcome, reason = RoundOutcome.HELD, ledger.holds[0].irregularity
    else:
        outcome, reason = RoundOutcome.DEALT if current.deal_is_over else RoundOutcome.OPEN, None
    dealing = current.dealing
    return RoundRecord(
        number=current.number,
        phase=current.phase,
        outcome=outcome,
        reason=reason,
        order=current.order,
        player_dealer=current.player_dealer,
        hands={} if dealing is None else {place: _hand(current, dealing, place) for place in dealing.hands()},
        flags=tuple(Flag(flag.irregularity, flag.seat, flag.at_ms, flag.ruling) for flag in ledger.flags),
        holds=tuple(Hold(hold.irregularity, hold.seat, hold.at_ms) for hold in ledger.holds),
        decided=dict(current.decided),
        void_seats=current.void_seats,
        forfeited=frozenset(current.forfeited),
        suspended=suspended,
        deck=DeckState.OUT if current.deck_is_out else DeckState.IN,
    )


def _hand(current: Round, dealing: Dealing, place: Place) -> HandRecord:
    deal = dealing.deal
    cards = deal.cards(place)
    return HandRecord(
        cards=cards,
        count=len(cards),
        verdict=_verdict(current, place, cards),
        evidence=_evidence(deal, place),
    )


def _verdict(current: Round, place: Place, cards: tuple[Card | None, ...]) -> HandVerdict:
    ledger = current.ledger
    if any(hold.concerns(place) for hold in ledger.holds):
        return HandVerdict.HELD
    still_dealing = not ledger.void and (current.dealing is None or place not in current.dealing.complete_places)
    wrong = len(cards) != HAND and not still_dealing
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
        if dealing is None or self._closed or not (dealing.deal.over or current.ledger.void):
            return ()
        self._closed = current.ledger.void
        told: list[Event] = []
        for place in dealing.hands():
            cards = dealing.deal.cards(place)
            number, before = self._made.get(place, (0, None))
            if cards == before or not (cards or before):
                continue
            number += 1
            self._made[place] = number, cards
            salt = sealing.salt(self._table_key, self._round_number, place, number)
            commitment = sealing.commitment(salt, cards)
            evidence = _evidence(dealing.deal, place)
            told.append(
                HandDealt(seat=place, count=len(cards), evidence=evidence, commitment=commitment, number=number)
            )
        return tuple(told)
