"""The feed as people read it: one or more lines an event."""

import enum
from dataclasses import dataclass
from typing import Final

from drivers.cards import Card
from drivers.facts import Place
from drivers.sentences import printable
from firmware_bridge.core import events as ev
from firmware_bridge.core.events import UnknownEvent
from firmware_bridge.core.terms import Phase, Ruling
from firmware_bridge.wording.words import (
    at_place,
    card_list,
    hand_name,
    money,
    payment_words,
    place_name,
    plain,
    seat_list,
    signed_money,
    stakes,
    table_time,
)


class Tone(enum.Enum):
    """How loud a line is."""

    QUIET = "quiet"
    PLAIN = "plain"
    GOOD = "good"
    WARN = "warn"
    ALERT = "alert"


@dataclass(frozen=True, slots=True)
class Line:
    """One line for a person."""

    text: str
    tone: Tone = Tone.PLAIN


_RULINGS: Final = {
    Ruling.VOID_SEAT: "the hand is void and its wagers go back",
    Ruling.FORFEIT_SEAT: "the hand is over and its wagers are lost",
    Ruling.VOID_ROUND: "the round is void",
    Ruling.HOLD: "dealing stops until the floor has ruled",
}


class Renderer:
    """Remembers what was shown in a round, to name it when it is paid. Give it the events in order."""

    def __init__(self) -> None:
        self._shown: dict[str, tuple[Card | None, ...]] = {}
        self._qualifies: bool | None = None

    def lines(self, event: ev.Event) -> tuple[Line, ...]:
        """What to show for `event`; a line stands by itself and has no line feed."""
        if isinstance(event, ev.RoundOpened):
            self._shown, self._qualifies = {}, None
        if isinstance(event, ev.DealerRevealed):
            self._qualifies = event.qualifies
        told: tuple[Line, ...]
        if isinstance(event, ev.HandReleased):
            self._shown[str(event.seat)] = event.cards
            told = (self._hand(event),)
        elif isinstance(event, ev.RoundSettled):
            told = _settlement(event, self._shown)
        else:
            told = (_line(event),)
        where = f"round {event.round}  " if event.round else ""
        return tuple(Line(where + printable(line.text), line.tone) for line in told)

    def _hand(self, event: ev.HandReleased) -> Line:
        hand = "" if event.hand is None else f" ({hand_name(event.hand, event.cards)})"
        verdict = {True: ", qualifies", False: ", does not qualify", None: ""}[self._qualifies]
        shown = card_list(event.cards) or "no cards"
        return Line(f"{place_name(event.seat)} shows {shown}{hand}{verdict if event.seat == 'dealer' else ''}")


def _settlement(event: ev.RoundSettled, shown: dict[str, tuple[Card | None, ...]]) -> tuple[Line, ...]:
    lines = []
    for seat, settled in event.seats.items():
        hand = "" if settled.hand is None else " " + hand_name(settled.hand, shown.get(seat, ()))
        payments = ", ".join(payment_words(payment) for payment in settled.payments) or "nothing wagered"
        tone = Tone.GOOD if settled.net > 0 else Tone.PLAIN
        lines.append(Line(f"seat {seat}{hand}: {payments} = {signed_money(settled.net)}", tone))
    if event.player_dealer_net is not None:
        lines.append(Line(f"player-dealer = {signed_money(event.player_dealer_net)}"))
    return (*lines, Line("settled", Tone.QUIET))


def _line(event: ev.Event) -> Line:
    return _deal_line(event) or _game_line(event) or _machine_line(event) or Line(plain(_name(event)), Tone.QUIET)


def _deal_line(event: ev.Event) -> Line | None:
    match event:
        case ev.CardDealt():
            return Line(f"{place_name(event.seat)}  card {event.index}", Tone.QUIET)
        case ev.HandDealt():
            cards = "1 card" if event.count == 1 else f"{event.count} cards"
            again = f"  (identified, commitment {event.number})" if event.number > 1 else ""
            return Line(f"{place_name(event.seat)}  {cards}  {event.evidence.value}{again}")
        case ev.IrregularityFlagged():
            goes_on = "deal" if event.phase is Phase.DEALING else "round"
            follows = _RULINGS.get(event.ruling, f"noted, the {goes_on} goes on")
            tone = Tone.WARN if event.ruling is Ruling.CONTINUE else Tone.ALERT
            return Line(f"{_question(event.irregularity.value, event.seat)}: {follows}", tone)
        case ev.HoldRaised():
            return Line(f"HELD for the floor: {_question(event.irregularity.value, event.seat)}", Tone.ALERT)
        case ev.HoldLifted():
            ruled = f"{_question(event.irregularity.value, event.seat)}: {plain(event.ruling.value)}"
            return Line(f"the floor has ruled on {ruled}{_because(event.reason)}", Tone.WARN)
        case ev.DealOver():
            return Line("the deal is over")
        case ev.AlarmRaised():
            return Line(f"ALARM: {plain(event.alarm.value)}{_deck(event.deck)}", Tone.ALERT)
        case ev.AlarmAcknowledged():
            return Line(f"alarm acknowledged: {plain(event.alarm.value)}", Tone.WARN)
        case ev.DeckOut():
            return Line(f"this deck deals no more{_deck(event.deck)}", Tone.ALERT)
        case ev.DeckIn():
            return Line(f"the deck is in{_deck(event.deck)}")
        case _:
            return None


def _game_line(event: ev.Event) -> Line | None:
    match event:
        case ev.RoundOpened():
            dealer = "" if event.player_dealer is None else f", player-dealer seat {event.player_dealer}"
            return Line(f"opens under {event.house}: {seat_list(event.seats)}{dealer}")
        case ev.WagerAccepted():
            back = f" (back: {stakes(event.returned)})" if stakes(event.returned) else ""
            return Line(f"seat {event.seat} wagers {stakes(event.wagers) or 'nothing'}{back}")
        case ev.WagerRefused():
            return Line(f"seat {event.seat} wager refused: {event.reason}", Tone.WARN)
        case ev.BetsClosed():
            return Line(f"no more bets: {seat_list(event.seats)}")
        case ev.DecisionTaken():
            return Line(f"seat {event.seat} {'plays' if event.play else 'folds'}")
        case ev.DealerRevealed():
            return Line("dealer's hand is turned up", Tone.QUIET)
        case ev.RoundVoid():
            why = "by the floor" if event.reason is None else plain(event.reason.value)
            return Line(f"void: {why}; every wager goes back", Tone.ALERT)
        case ev.PositionOffered():
            return Line(f"seat {event.seat} is offered the position")
        case ev.PositionTaken():
            return Line(f"seat {event.seat} takes the position")
        case ev.PositionDeclined():
            return Line(f"seat {event.seat} declines the position")
        case ev.PaymentCorrected():
            paid = f"{plain(event.wager)} corrected to {signed_money(event.paid)}"
            return Line(f"seat {event.seat} of round {event.settled_round}: {paid}{_because(event.reason)}", Tone.WARN)
        case ev.LimitsChanged():
            limits = f"{money(event.minimum)} to {money(event.maximum)}"
            return Line(f"limits {limits} from {table_time(event.effective_at_ms)} on")
        case ev.FactRefused():
            return Line(f"refused: {event.source} {plain(event.fact)}: {event.sentence}", Tone.WARN)
        case _:
            return None


def _machine_line(event: ev.Event) -> Line | None:
    match event:
        case ev.DeviceUp():
            claims = event.claims
            what = "" if claims is None else f": {claims.vendor} {claims.model} {claims.firmware_version}"
            lost = "; it has lost facts" if event.gap else ""
            return Line(f"{event.device} is there{what}{lost}", Tone.WARN if event.gap else Tone.PLAIN)
        case ev.DeviceDown():
            return Line(f"{event.device} is gone{_because(event.reason)}", Tone.ALERT)
        case ev.CommandWanted():
            return Line(f"{event.device} is told to {plain(event.command.value)}", Tone.QUIET)
        case ev.CommandOutcome():
            return Line(f"{event.device} command {event.outcome.value}{_because(event.reason)}", Tone.QUIET)
        case _:
            return None


def _question(irregularity: str, seat: Place | None) -> str:
    return plain(irregularity) + at_place(seat)


def _because(reason: str | None) -> str:
    return f" ({reason})" if reason else ""


def _deck(deck: str | None) -> str:
    return f" (deck {deck})" if deck else ""


def _name(event: ev.Event) -> str:
    return event.name if isinstance(event, UnknownEvent) else str(event.__struct_config__.tag)
