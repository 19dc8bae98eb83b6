"""The game: wagers, decisions and the dealer's reveal in; what they come to out. It reads the table and never asks it.

`refusal` is pure; `apply` is asked only for facts that neither table nor game refused.
"""

from drivers.facts import Fact
from firmware_bridge.core import events, facts
from firmware_bridge.core.carried import CarriedGame, CarriedLimits, CarriedPosition, CarriedSettlement
from firmware_bridge.core.events import Event
from firmware_bridge.core.game.button import Button
from firmware_bridge.core.game.coverage import PositionWager
from firmware_bridge.core.game.machine import RoundMachine, Stage, Trigger, nothing_waits, waits_for
from firmware_bridge.core.game.release import Releases, known_cards
from firmware_bridge.core.game.round import OpenRound, has_unread, is_wrong
from firmware_bridge.core.game.settlement import dealer_qualifies, settle
from firmware_bridge.core.game.wagers import (
    Limits,
    SeatWagers,
    cut_to_limits,
    fee_refusal,
    limits_at,
    limits_refusal,
    wagers_refusal,
)
from firmware_bridge.core.ranking import rank_cards
from firmware_bridge.core.rules.chosen_rules import choose_rules
from firmware_bridge.core.rules.house import House
from firmware_bridge.core.table.refusals import no_such_seat, nothing_to_decide, nothing_to_take_back
from firmware_bridge.core.table.round_snapshot import RoundSnapshot
from firmware_bridge.core.table_setup import TableSetup
from firmware_bridge.core.terms import Irregularity, RoundOutcome


class Game:
    """One table's game under one house and setup. Raises RulesRefused where the house does not offer the setup."""

    def __init__(self, house: House, setup: TableSetup, table_key: bytes) -> None:
        self._rules = choose_rules(house, schedule=setup.schedule, decks=setup.decks, options=setup.options)
        self._setup = setup
        self._seats = min(setup.seats, house.deal.places)
        self._table_key = table_key
        self._machine = RoundMachine()
        self._limits = [Limits(setup.minimum, setup.maximum)]
        self._button = Button(house.position.consecutive_hands) if house.position is not None else None
        self._players: frozenset[int] = frozenset()
        self._position: PositionWager | None = None
        self._round = OpenRound(Releases(table_key))
        self._settled: tuple[int, dict[int, frozenset[str]]] | None = None

    @property
    def stage(self) -> Stage:
        """Where the round stands, whatever lies over it."""
        return self._machine.stage

    def renewed(self, house: House, setup: TableSetup) -> "Game":
        """The game under a changed house or setup, for the next round: what the table has announced goes on."""
        game = Game(house, setup, self._table_key)
        if (setup.minimum, setup.maximum) == (self._setup.minimum, self._setup.maximum):
            game._limits = self._limits
        if house.position == self._rules.house.position:
            game._button = self._button
        game._players, game._settled = self._players, self._settled
        return game

    def carried(self) -> CarriedGame:
        """What the next round takes over; good where no round is open, from the fact on that opens the next."""
        position, settled = self._position, self._settled
        return CarriedGame(
            limits=tuple(
                CarriedLimits(minimum=limits.minimum, maximum=limits.maximum, from_ms=limits.from_ms)
                for limits in self._limits
            ),
            button=None if self._button is None else self._button.carried(),
            position=None
            if position is None
            else CarriedPosition(seat=position.seat, wager=position.wager, action_seat=position.action_seat),
            players=tuple(sorted(self._players)),
            settled=None
            if settled is None
            else CarriedSettlement(
                round=settled[0], wagers={seat: tuple(sorted(rows)) for seat, rows in settled[1].items()}
            ),
        )

    @classmethod
    def resumed(cls, carried: CarriedGame, house: House, setup: TableSetup, table_key: bytes) -> "Game":
        """The game as it was carried over, before the fact that opens its next round."""
        game = cls(house, setup, table_key)
        game._limits = [Limits(limits.minimum, limits.maximum, limits.from_ms) for limits in carried.limits]
        if carried.button is not None and house.position is not None:
            game._button = Button.resumed(carried.button, house.position.consecutive_hands)
        if carried.position is not None:
            position = carried.position
            game._position = PositionWager(position.seat, position.wager, position.action_seat)
        game._players = frozenset(carried.players)
        if carried.settled is not None:
            rows = {seat: frozenset(wagers) for seat, wagers in carried.settled.wagers.items()}
            game._settled = carried.settled.round, rows
        return game

    # What does not fit

    def refusal(self, fact: Fact, record: RoundSnapshot | None) -> str | None:
        """Why the fact does not fit, as a sentence for the dealer, or None. Changes nothing."""
        match fact:
            case facts.Wager():
                return self._unsettled(record) or self._wager_refusal(fact)
            case facts.Seats():
                return self._unsettled(record)
            case facts.NoMoreBets():
                betting = self.stage is Stage.BETTING and self._round.wagers
                if self._button is not None and betting and self._position is None:
                    return "nobody holds the position: tell who the player-dealer is before the bets are closed"
                return None
            case facts.Decision():
                return self._decision_refusal(fact, record)
            case facts.PlayerDealer():
                return self._player_dealer_refusal(fact, record)
            case facts.Position():
                if self._button is None:
                    return f"the house {self._rules.house.name} has no player-dealer's position to offer"
                return no_such_seat(fact.seat, self._seats) or self._button.position_refusal(fact, self._players)
            case facts.LimitsAnnounced():
                return self._limits_refusal(fact)
            case facts.PaymentCorrected():
                return self._correction_refusal(fact)
            case _:
                return None

    def _unsettled(self, record: RoundSnapshot | None) -> str | None:
        """Why no other round can begin, once the dealer's hand is shown and the round is still not settled."""
        if record is None or not record.revealed or self.stage is Stage.IDLE:
            return None
        undecided = self._round.undecided(record)
        if undecided:
            return f"round {record.number} is not settled: seat {undecided[0]} has still to play or fold"
        unread = self._round.unread(self._rules, record)
        if unread:
            place = "the dealer" if unread[0] == "dealer" else f"seat {unread[0]}"
            return f"round {record.number} is not settled: tell which card it is that nobody has read at {place}"
        return f"round {record.number} is not settled: {waits_for(record)}"

    def _wager_refusal(self, fact: facts.Wager) -> str | None:
        if self.stage not in {Stage.IDLE, Stage.BETTING}:
            return None  # late: taken, and given back
        wagers = _wagers(fact)
        if not wagers.named():
            return None if fact.seat in self._round.wagers else nothing_to_take_back(fact.seat)
        what: str | None
        if self._position is not None and fact.seat == self._position.seat:
            what = "holds the player-dealer's position and cannot wager against itself"
        else:
            house = self._rules.house
            limits = limits_at(self._limits, fact.at_ms)
            what = wagers_refusal(house, wagers) or fee_refusal(house, wagers) or limits_refusal(house, limits, wagers)
        return None if what is None else f"seat {fact.seat} {what}"

    def _decision_refusal(self, fact: facts.Decision, record: RoundSnapshot | None) -> str | None:
        refused = self._machine.refusal(Trigger.DECIDE, record)
        if refused is not None:
            return refused
        wagers = self._round.wagers.get(fact.seat)
        if self._round.wagers and (wagers is None or not wagers.ante):
            return nothing_to_decide(fact.seat)
        return None

    def _player_dealer_refusal(self, fact: facts.PlayerDealer, record: RoundSnapshot | None) -> str | None:
        if self._button is None:
            return f"the house {self._rules.house.name} has no player-dealer"
        refused = self._machine.refusal(Trigger.TAKE_POSITION, record)
        if refused is not None:
            return refused
        if fact.seat in self._round.wagers and self.stage is Stage.BETTING:
            return f"seat {fact.seat} has a wager and cannot be the player-dealer of this round too"
        return self._button.taking_refusal(fact.seat, self._players)

    def _limits_refusal(self, fact: facts.LimitsAnnounced) -> str | None:
        if 0 < fact.maximum < fact.minimum:
            return f"the minimum of {fact.minimum} is above the maximum of {fact.maximum}"
        notice_ms = self._rules.house.wagers.limits_notice_ms
        if fact.effective_at_ms < fact.at_ms + notice_ms:
            return f"new limits need {notice_ms // 60_000} minutes' notice: announce them for a later time"
        return None

    def _correction_refusal(self, fact: facts.PaymentCorrected) -> str | None:
        if self._settled is None:
            return "no round is settled yet: there is no payment to correct"
        number, rows = self._settled
        if fact.wager not in rows.get(fact.seat, frozenset()):
            return f"seat {fact.seat} had no {fact.wager} in round {number}, the last that was settled"
        return None

    # What happens

    def apply(self, fact: Fact, told: tuple[Event, ...], record: RoundSnapshot | None) -> tuple[Event, ...]:
        """What follows from the fact and from what the table told of it."""
        for event in told:
            self._hear(event, record)
        out = [*self._take(fact, told, record)]
        if record is not None:
            if self.stage is not Stage.IDLE:
                out += self._follow(record)
            for place in self._round.releases.outdated():
                out += self._round.releases.open(place, record)
        return tuple(out)

    def _hear(self, event: Event, record: RoundSnapshot | None) -> None:
        match event:
            case events.RoundOpened():
                self._machine.fire(Trigger.OPEN_ROUND, record)
                self._round = OpenRound(Releases(self._table_key))
                self._players = frozenset(event.seats)
            case events.BetsClosed():
                self._machine.fire(Trigger.CLOSE_BETS, record)
                self._players = frozenset(event.seats)
            case events.DealOver():
                if self.stage is Stage.BETTING:
                    self._machine.fire(Trigger.CLOSE_BETS, record)
                self._machine.fire(Trigger.END_DEAL, record)
            case events.HandDealt():
                self._round.releases.committed(event)
            case _:
                pass

    def _take(self, fact: Fact, told: tuple[Event, ...], record: RoundSnapshot | None) -> tuple[Event, ...]:
        match fact:
            case facts.Wager():
                return self._take_wager(fact, told, record)
            case facts.Decision():
                self._machine.fire(Trigger.DECIDE, record)
                return (events.DecisionTaken(seat=fact.seat, play=fact.play),)
            case facts.DealerRevealed():
                return self._take_reveal(record)
            case facts.PlayerDealer() if self._button is not None:
                self._machine.fire(Trigger.TAKE_POSITION, record)
                self._position = PositionWager(fact.seat, fact.wager, fact.action_seat)
                return self._button.taken(fact)
            case facts.Position() if self._button is not None:
                return self._button.answered(fact)
            case facts.LimitsAnnounced():
                self._limits.append(Limits(fact.minimum, fact.maximum, fact.effective_at_ms))
                return (
                    events.LimitsChanged(
                        minimum=fact.minimum, maximum=fact.maximum, effective_at_ms=fact.effective_at_ms
                    ),
                )
            case facts.PaymentCorrected() if self._settled is not None:
                corrected = events.PaymentCorrected(
                    seat=fact.seat,
                    wager=fact.wager,
                    paid=fact.paid,
                    reason=fact.reason,
                    settled_round=self._settled[0],
                )
                return (corrected,)
            case _:
                return ()

    def _take_wager(
        self, fact: facts.Wager, told: tuple[Event, ...], record: RoundSnapshot | None
    ) -> tuple[Event, ...]:
        wagers = _wagers(fact)
        late = any(
            isinstance(event, events.IrregularityFlagged) and event.irregularity is Irregularity.LATE_BET
            for event in told
        )
        if late or self.stage is not Stage.BETTING:
            reason = f"the bets were closed: what seat {fact.seat} put down goes back"
            return (events.WagerRefused(seat=fact.seat, wagers=wagers.named(), reason=reason),)
        self._machine.fire(Trigger.WAGER, record)
        if not wagers.named():
            self._round.wagers.pop(fact.seat, None)
            return (events.WagerAccepted(seat=fact.seat, wagers={}),)
        kept, returned = cut_to_limits(limits_at(self._limits, fact.at_ms), wagers)
        self._round.wagers[fact.seat] = kept
        return (events.WagerAccepted(seat=fact.seat, wagers=kept.named(), returned=returned),)

    def _take_reveal(self, record: RoundSnapshot | None) -> tuple[Event, ...]:
        if record is None or record.outcome is RoundOutcome.VOID:
            return ()
        self._machine.fire(Trigger.SHOW_DEALER, record)
        hand = record.hands.get("dealer")
        known = known_cards(hand) if hand is not None and not is_wrong(hand) else []
        qualifies = dealer_qualifies(self._rules, rank_cards(known)) if len(known) == 3 else None
        return (events.DealerRevealed(qualifies=qualifies),)

    # What follows from the table's record

    def _follow(self, record: RoundSnapshot) -> list[Event]:
        machine, current = self._machine, self._round
        if record.outcome is RoundOutcome.VOID:
            machine.fire(Trigger.VOID_ROUND, record)
            return self._end(record, void=True)
        out: list[Event] = []
        if not record.revealed or machine.stage not in {Stage.DECIDING, Stage.REVEALING}:
            return out
        if machine.stage is Stage.DECIDING and not current.undecided(record):
            machine.fire(Trigger.REVEAL, record)
        # The dealer's cards lie open; the others stay closed while a seat could use them, or the floor has to rule.
        for place in current.in_play(record):
            may_lie_open = place == "dealer" or (machine.stage is Stage.REVEALING and nothing_waits(record))
            if may_lie_open and not has_unread(record.hands.get(place)):
                out += current.releases.open(place, record)
        unread = bool(current.wagers) and bool(current.unread(self._rules, record))
        if not unread and machine.may_trigger(Trigger.SETTLE.value, record):
            machine.fire(Trigger.SETTLE, record)
            out += self._end(record, void=False)
        return out

    def _end(self, record: RoundSnapshot, *, void: bool) -> list[Event]:
        """Settle, release what may be released now, and be ready for the next round."""
        current = self._round
        out: list[Event] = []
        if current.wagers:
            out.append(self._settle(record, void=void or is_wrong(record.hands.get("dealer"))))
        if not void:
            for place in current.in_play(record):
                out += current.releases.open(place, record)
            if self._button is not None:
                self._button.hand_played()
        if self._rules.house.folds.seen_by == "anyone":
            out += current.releases.rest(record)
        self._position = None
        self._machine.fire(Trigger.FINISH, record)
        return out

    def _settle(self, record: RoundSnapshot, *, void: bool) -> Event:
        current = self._round
        dealer = record.hands.get("dealer")
        position = self._position
        if position is None and self._button is not None:
            position = PositionWager(seat=0, wager=0, action_seat=1)
        settled = settle(
            self._rules,
            () if dealer is None else tuple(known_cards(dealer)),
            current.seats(record),
            folds=record.folds,
            position=position,
            void=void,
        )
        rows = {seat: frozenset(payment.wager for payment in told.payments) for seat, told in settled.seats.items()}
        self._settled = (record.number, rows)
        return events.RoundSettled(
            seats={str(seat): told for seat, told in settled.seats.items()},
            order=settled.order,
            player_dealer_net=settled.player_dealer_net,
        )


def _wagers(fact: facts.Wager) -> SeatWagers:
    return SeatWagers(**{name: getattr(fact, name) for name in SeatWagers.__struct_fields__})
