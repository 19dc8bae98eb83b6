"""Facts that do not fit the table as it stands, each with the sentence that the dealer is told. Changes nothing."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from drivers.cards import Card
from drivers.facts import CardDrawn, CardExposed, Fact, GroupReady, GroupTaken, Place, SeatCount
from firmware_bridge.core import facts
from firmware_bridge.core.table.deck import Decks
from firmware_bridge.core.table.round import Round
from firmware_bridge.core.terms import Irregularity

NO_ROUND: Final = "no round is open: it begins with the first wager, or with the seats that are dealt in"
_NO_CARDS: Final = "no cards are out"


@dataclass(frozen=True, slots=True)
class TableContext:
    """The table as a fact finds it. `last_draw`: number and card of the round's last draw."""

    round: Round | None
    decks: Decks
    seats: int
    last_draw: tuple[int, Card | None] | None

    @property
    def none_open(self) -> str:
        """The sentence for facts that need an open round, where none is."""
        void = self.round is not None and self.round.state.void
        return f"round {self.round.state.number} is void" if void and self.round is not None else NO_ROUND

    @property
    def open_round(self) -> Round | None:
        """The round that has not ended."""
        return None if self.round is None or self.round.state.ended else self.round


def refusal(at: TableContext, fact: Fact) -> str | None:
    """Why the fact does not fit, as the sentence for a person; None where it does."""
    return _no_such_place(at, fact) or _unfit(at, fact)


def _no_such_place(at: TableContext, fact: Fact) -> str | None:
    for place in _places(fact):
        refused = None if place == "dealer" else no_such_seat(place, at.seats)
        if refused is not None:
            return refused
    return None


def no_such_seat(seat: int, seats: int) -> str | None:
    """Why the table has no such seat; None where it has."""
    return None if 1 <= seat <= seats else f"there is no seat {seat}: the table has seats 1 to {seats}"


def nothing_to_take_back(seat: int) -> str:
    """The sentence for a wager of nothing, where the seat has none."""
    return f"seat {seat} has no wager that could be taken back"


def nothing_to_decide(seat: int) -> str:
    """The sentence for a decision without an ante."""
    return f"seat {seat} has no ante, so it has nothing to decide"


def _places(fact: Fact) -> Iterable[Place]:
    match fact:
        case facts.Seats():
            return fact.seats
        case facts.PlayerDealer():
            return (fact.seat, fact.action_seat)
        case facts.FloorRuling():
            return () if fact.seat is None else (fact.seat,)
        case (
            SeatCount()
            | CardExposed()
            | facts.Wager()
            | facts.CardTurnedDown()
            | facts.CardIdentified()
            | facts.ForeignCard()
            | facts.Decision()
            | facts.FoldCounted()
            | facts.SeatChecked()
        ):
            return (fact.seat,)
        case _:
            return ()


def _unfit(at: TableContext, fact: Fact) -> str | None:
    match fact:
        case facts.Seats():
            return _seats(at, fact)
        case facts.Wager():
            return _wager(at, fact)
        case facts.PlayerDealer():
            closed = at.open_round is not None and at.open_round.state.closed
            return "the bets are closed: the position is taken for this round" if closed else None
        case facts.NoMoreBets():
            return _no_more_bets(at)
        case CardDrawn():
            repeated = at.open_round is not None and at.last_draw == (fact.draw, fact.card)
            return f"draw {fact.draw} was told already" if repeated else None
        case GroupReady() | GroupTaken():
            return _group(at, fact)
        case facts.DealingDone():
            return _dealing_done(at)
        case facts.Decision():
            return _decision(at, fact)
        case facts.FoldCounted():
            return _fold_counted(at, fact)
        case facts.DealerRevealed():
            return _dealer_revealed(at)
        case facts.SeatChecked():
            dealt = at.open_round is not None and at.open_round.dealing is not None
            return None if dealt else f"{_NO_CARDS}: there is nothing to count"
        case facts.CardTurnedDown():
            return _no_face_up(at)
        case CardExposed() if fact.source == "operator":
            return _no_face_up(at)
        case facts.CardIdentified():
            return _identified(at, fact)
        case facts.FloorRuling():
            return _ruling(at, fact)
        case facts.AlarmAcknowledged():
            waits = any(deck.alarms.get(fact.alarm) is False for deck in at.decks.all())
            return None if waits else f"no alarm {_words(fact.alarm)} waits to be acknowledged"
        case _:
            return None


def _seats(at: TableContext, fact: facts.Seats) -> str | None:
    if not fact.seats:
        return "no seat is named: a round needs at least one"
    current = at.open_round
    if current is None:
        return None
    state = current.state
    if current.irregularities.holds:
        return _held(current)
    if state.closed:
        return f"round {state.number} is not over: the bets are closed and the dealer's hand is not shown"
    if state.wagers_kept:
        return f"round {state.number} has wagers: a seat is dealt in by its wager"
    return None


def _wager(at: TableContext, fact: facts.Wager) -> str | None:
    current = at.open_round
    none = not any((fact.ante, fact.pair_plus, fact.six_card, fact.tip_ante, fact.tip_pair_plus, fact.tip_play))
    if current is None:
        return nothing_to_take_back(fact.seat) if none else None
    state = current.state
    if state.closed and current.irregularities.holds and (state.revealed or fact.seat not in state.decides):
        return _held(current)  # the first of a round to come; another one of a seat that is dealt in is a late bet
    if not state.closed and none and fact.seat not in state.decides:
        return nothing_to_take_back(fact.seat)
    return None


def _no_more_bets(at: TableContext) -> str | None:
    current = at.open_round
    if current is None:
        return at.none_open
    if current.state.closed:
        return "the bets are closed already"
    return "nobody is in play: there is no wager" if len(current.state.order) == 1 else None


def _group(at: TableContext, fact: GroupReady | GroupTaken) -> str | None:
    current = at.open_round
    if current is None or current.dealing is None:
        return None
    known = current.dealing.deal.group(fact.group)
    if isinstance(fact, GroupReady):
        repeated = known is not None and known.machine == fact.cards
        return f"group {fact.group} was told to be ready already" if repeated else None
    return f"group {fact.group} was told to be taken already" if known is not None and known.taken else None


def _dealing_done(at: TableContext) -> str | None:
    current = at.open_round
    if current is None:
        return at.none_open
    if current.dealing is None:
        return _NO_CARDS
    if current.state.deal_is_over or current.dealing.can_be_called_done:
        return None
    return "the last group has not been taken: the deal is not over"


def _decision(at: TableContext, fact: facts.Decision) -> str | None:
    current = at.round
    if current is None:
        return at.none_open
    state = current.state
    if state.void or (state.ended and not state.undecided):
        return at.none_open
    if fact.seat not in state.order:
        return f"seat {fact.seat} is not in this round"
    if fact.seat in state.decided:
        return f"seat {fact.seat} has decided already"
    return _not_dealt(current) or _has_no_say(current, fact.seat)


def _fold_counted(at: TableContext, fact: facts.FoldCounted) -> str | None:
    current = at.open_round
    if current is None:
        return at.none_open
    state = current.state
    if fact.seat not in state.order:
        return f"seat {fact.seat} is not in this round"
    if state.decided.get(fact.seat):
        return f"seat {fact.seat} plays: its hand is not folded"
    if fact.seat in state.void_seats:
        return f"seat {fact.seat} takes no further part in this round"
    return _not_dealt(current)


def _dealer_revealed(at: TableContext) -> str | None:
    current = at.open_round
    if current is None:
        return at.none_open
    if current.state.revealed:
        return "the dealer's hand is shown already"
    not_dealt = _not_dealt(current)
    if not_dealt is None and current.dealing is not None and not current.dealing.dealer_has_cards:
        return "the dealer has no cards yet"
    return not_dealt


def _not_dealt(current: Round) -> str | None:
    if current.state.deal_is_over or (current.dealing is not None and current.dealing.can_end):
        return None
    return "the deal is not over yet"


def _has_no_say(current: Round, seat: int) -> str | None:
    if seat in current.state.out:
        return f"seat {seat} takes no further part in this round"
    return None if current.state.decides.get(seat) else nothing_to_decide(seat)


def _no_face_up(at: TableContext) -> str | None:
    current = at.open_round
    return _NO_CARDS if current is None or current.dealing is None else None


def _identified(at: TableContext, fact: facts.CardIdentified) -> str | None:
    current = at.round
    if current is None or current.dealing is None:
        return _NO_CARDS
    place = "the dealer" if fact.seat == "dealer" else f"seat {fact.seat}"
    deal = current.dealing.deal
    if fact.seat not in current.dealing.hands() or fact.index > len(deal.cards(fact.seat)):
        return f"{place} has no card {fact.index}"
    corrected = fact.index - 1 in deal.at(fact.seat).identified and not current.state.ended
    if deal.cards(fact.seat)[fact.index - 1] is not None and not corrected:
        return f"card {fact.index} at {place} is known already"
    return None


def _ruling(at: TableContext, fact: facts.FloorRuling) -> str | None:
    current = at.open_round
    if current is None or not current.irregularities.holds:
        return "nothing is held: there is nothing for the floor to rule on"
    if fact.ruling in ("continue", "void_round"):
        return None
    if fact.seat is None:
        return f"the ruling {fact.ruling} needs the seat it is for"
    if fact.seat == "dealer":
        return "the dealer's hand cannot be ruled out by itself: rule void_round or continue"
    return None if fact.seat in current.state.order else f"seat {fact.seat} is not in this round"


def _held(current: Round) -> str:
    reason = _words(current.irregularities.holds[0].irregularity)
    return f"round {current.state.number} is held ({reason}): the floor rules first"


def _words(irregularity: Irregularity) -> str:
    return irregularity.value.replace("_", " ")
