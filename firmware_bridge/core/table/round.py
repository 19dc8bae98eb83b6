"""One round at the table: who is in play, how far it is, and what people and machines do to it."""

from collections.abc import Iterable
from typing import Final

from drivers.facts import CardDrawn, CardExposed, GroupReady, GroupTaken, Place
from firmware_bridge.core import facts
from firmware_bridge.core.events import BetsClosed, RoundOpened
from firmware_bridge.core.table.deal import HAND
from firmware_bridge.core.table.dealing import Dealing
from firmware_bridge.core.table.exposure import Exposure
from firmware_bridge.core.table.irregularities import EVERYWHERE, Irregularities
from firmware_bridge.core.table.round_state import DEALER, RoundState
from firmware_bridge.core.terms import Irregularity, Ruling, Who

_ROUNDS_WITHOUT_COUNT: Final = 5


class Round:
    """From its first wager, or its `seats`, to the reveal or the void. Facts that do not fit do not get here."""

    def __init__(self, state: RoundState, at_ms: int) -> None:
        self.state: Final = state
        self.dealing: Dealing | None = None
        self.irregularities: Final = Irregularities(state)
        self._exposure: Final = Exposure(state, self.irregularities)
        self._checked_at_start: set[Irregularity] = set()
        self._lies_there: dict[Place, int] = {}
        self._moved_at_ms = at_ms
        self._deck_was_out: bool | None = None
        self._alarms_at_end = 0

    # How far it is

    @property
    def deck_is_out(self) -> bool:
        """The deck as this round left it; once it has ended, later rounds' alarms and shuffles do not count."""
        if self._deck_was_out is None:
            return self.state.deck.out
        return self._deck_was_out or self.irregularities.alarms_raised > self._alarms_at_end

    @property
    def limit_ms(self) -> int | None:
        """When the deal will have stood still for too long; None where it need not go on."""
        if not self.state.closed or self.state.deal_is_over or self.irregularities.holds or self.state.ended:
            return None
        return self._moved_at_ms + self.state.setup.deal_limit_ms

    def settle(self) -> None:
        """After every fact: has the round ended by it?"""
        self.state.ended = self.state.void or (self.state.revealed and not self.irregularities.holds)
        if self.state.ended and self._deck_was_out is None:
            self._deck_was_out, self._alarms_at_end = self.state.deck.out, self.irregularities.alarms_raised

    # Betting

    def open(self, seats: Iterable[int], player_dealer: int | None, wager: facts.Wager | None) -> None:
        """Begin with these seats, or with the first wager, and tell of it."""
        self.state.player_dealer = player_dealer
        if wager is None:
            self.take_seats(seats)
        else:
            self.take_wager(wager)
        in_play = tuple(sorted(set(self.state.decides) - {player_dealer}))
        self.state.events.append(RoundOpened(house=self.state.house.name, seats=in_play, player_dealer=player_dealer))

    def take_seats(self, seats: Iterable[int]) -> None:
        """These seats are dealt in, and each has to decide."""
        self.state.decides = dict.fromkeys(seats, True)

    def take_wager(self, fact: facts.Wager) -> None:
        """A seat has wagered, or taken its wager back; after the bets are closed that is flagged."""
        if self.state.closed:
            self._flag(Irregularity.LATE_BET, fact.seat, fact.at_ms)
            return
        self.state.wagers_kept = True
        stakes = fact.ante, fact.pair_plus, fact.six_card, fact.tip_ante, fact.tip_pair_plus, fact.tip_play, fact.fee
        if any(stakes):
            self.state.decides[fact.seat] = bool(fact.ante)
        else:
            self.state.decides.pop(fact.seat, None)

    def close_bets(self, at_ms: int) -> None:
        """No more bets: seats and order of dealing are fixed, and the deck must be fit to be dealt."""
        self.state.closed = True
        self.moved(at_ms)
        self.state.events.append(BetsClosed(seats=tuple(seat for seat in self.state.order if seat != DEALER)))
        self._check_start(at_ms)

    def moved(self, at_ms: int) -> None:
        """The deal goes on: its time limit starts again."""
        self._moved_at_ms = at_ms

    def found_before(self, irregularity: Irregularity, at_ms: int) -> None:
        """What was found of the deck before the round; where its alarm is settled by now, only the flag stays."""
        if irregularity in self.state.deck.alarms:
            self._flag(irregularity, None, at_ms)
        else:
            ruling = self.state.house.policy.consequence(irregularity, self.state.phase, Who.TABLE).ruling
            self.irregularities.note(irregularity, None, at_ms, ruling)

    def _check_start(self, at_ms: int) -> None:
        """What must be right before cards are dealt; each flagged once."""
        deck = self.state.deck
        to_be_shuffled = self.state.house.deal.shuffle == "each_round" and not deck.fresh
        found = {
            Irregularity.SORT_MODE: deck.sorted,
            Irregularity.NOT_ENOUGH_CARDS: deck.left < HAND * len(self.state.order) and not to_be_shuffled,
            Irregularity.STUB_DUE: deck.uncounted_rounds >= _ROUNDS_WITHOUT_COUNT,
        }
        for irregularity, is_so in found.items():
            if is_so and irregularity not in self._checked_at_start:
                self._checked_at_start.add(irregularity)
                self._flag(irregularity, None, at_ms)

    # Dealing

    def card_drawn(self, fact: CardDrawn, missing: int, *, gap: bool) -> None:
        """A card left the shoe, after `missing` that nobody told of; `gap`: that is to be flagged."""
        if self.dealing is None:
            self.dealing = self._first_card(fact.at_ms)
        self.moved(fact.at_ms)
        self.dealing.card_drawn(fact, missing, gap=gap)

    def _first_card(self, at_ms: int) -> Dealing:
        deck = self.state.deck
        alarms = list(deck.alarms)
        if not self.state.closed:
            if self.state.house.deal.bets_close == "no_more_bets":
                self._flag(Irregularity.DEALT_BEFORE_NO_MORE_BETS, None, at_ms)
            self.close_bets(at_ms)
        else:
            self._check_start(at_ms)
        if alarms:
            self.irregularities.note(alarms[0], None, at_ms, Ruling.HOLD)
            self.irregularities.hold(alarms[0], None, at_ms)
        if self.state.house.deal.shuffle == "each_round" and not deck.fresh and not deck.sorted:
            self._flag(Irregularity.NOT_SHUFFLED, None, at_ms)
        self.state.decks.deal_begins()
        dealing = Dealing(self.state, self.irregularities, self._exposure, self._lies_there)
        self.state.deal = dealing.deal
        return dealing

    def seat_count(self, place: Place, cards: int, at_ms: int) -> None:
        """The sensor of a place shows so many; before the first card they are no cards of this round."""
        if self.dealing is None:
            self._lies_there[place] = cards
        else:
            self.moved(at_ms)
            self.dealing.seat_count(place, cards, at_ms)

    def group_ready(self, fact: GroupReady, lost: int) -> None:
        """A group lies in the tray, after `lost` groups that nobody told of."""
        if self.dealing is None:
            self.dealing = self._first_card(fact.at_ms)
        self.moved(fact.at_ms)
        self.dealing.group_ready(fact.group, fact.cards, lost, fact.at_ms)

    def group_taken(self, fact: GroupTaken) -> None:
        """The dealer took a group out of the tray."""
        if self.dealing is None:
            self.dealing = self._first_card(fact.at_ms)
        self.moved(fact.at_ms)
        self.dealing.group_taken(fact.group, fact.at_ms)

    def gap(self, irregularity: Irregularity, at_ms: int) -> None:
        """Facts of a device are lost in the middle of the round."""
        self.irregularities.flag(irregularity, None, at_ms, touches=EVERYWHERE)

    def time_passed(self, at_ms: int) -> None:
        """Where the deal has stood still for too long it ends if it can, else it is flagged."""
        if self.limit_ms is None or at_ms < self.limit_ms:
            return
        if self.dealing is not None and self.dealing.can_end:
            self.dealing.end(at_ms)
        else:
            self._flag(Irregularity.DEAL_STALLED, None, at_ms)
        self.moved(at_ms)

    # Machines

    def machine_boxed(self, at_ms: int) -> None:
        """The machine found a boxed card; the reader may see the same one later."""
        self._exposure.boxed(None, at_ms, by_reader=False)

    def jammed(self, at_ms: int) -> None:
        """Before the first card the cards go back into the machine: only a new shuffle makes them ready."""
        self.moved(at_ms)
        if self.state.closed and not self.state.deal_is_over:
            self._flag(Irregularity.JAM, None, at_ms)
            if self.dealing is None:
                self.state.deck.fresh = False

    def door_opened(self, at_ms: int) -> None:
        """The machine's door was opened: flagged while the deal goes on."""
        if self.state.closed and not self.state.deal_is_over:
            self._flag(Irregularity.DOOR_OPENED, None, at_ms)

    def deck_found(self, irregularity: Irregularity, at_ms: int) -> None:
        """Something is wrong with the deck in play."""
        self._flag(irregularity, None, at_ms)

    # People

    def hear(self, fact: facts.OperatorFact) -> None:
        """What a person tells of this round."""
        match fact:
            case facts.Seats():
                self.take_seats(fact.seats)
            case facts.Wager():
                self.take_wager(fact)
            case facts.PlayerDealer():
                self.state.player_dealer = fact.seat
            case facts.NoMoreBets():
                self.close_bets(fact.at_ms)
            case facts.CardTurnedDown():
                self._exposure.turned_down(fact.seat, fact.card)
            case facts.CardIdentified():
                self._identified(fact)
            case facts.ForeignCard():
                self._flag(Irregularity.FOREIGN_CARD, fact.seat, fact.at_ms)
            case facts.DealingDone() if self.dealing is not None:
                self.dealing.end(fact.at_ms)
            case facts.Decision():
                self._decide(fact)
            case facts.FoldCounted():
                self._fold_counted(fact)
            case facts.DealerRevealed():
                self._reveal(fact.at_ms)
            case facts.SeatChecked() if self.dealing is not None:
                self.dealing.seat_checked(fact.seat, fact.cards, fact.at_ms)
            case facts.FloorRuling():
                self._rule(fact)
            case _:
                pass

    def exposed(self, fact: CardExposed) -> None:
        """A card lies face up; before the first card that means nothing."""
        if self.dealing is None:
            return
        if fact.seat == DEALER and self.state.deal_is_over and not self.state.undecided:
            self._exposure.revealed(fact.card, fact.source)
        else:
            self._exposure.exposed(fact.seat, fact.card, fact.source, fact.at_ms)

    def _identified(self, fact: facts.CardIdentified) -> None:
        if self.dealing is None:
            return
        known = self.dealing.deal.at(fact.seat).identified
        earlier = known.get(fact.index - 1)
        if earlier is not None:
            self.state.deck.seen[earlier] -= 1
        if self.state.deck.see(fact.card):  # flagged while the hand is still unread: until then nothing is paid
            self._flag(Irregularity.DUPLICATE_CARD, fact.seat, fact.at_ms)
        known[fact.index - 1] = fact.card

    def _decide(self, fact: facts.Decision) -> None:
        if self.dealing is not None:
            self.dealing.end_if_begun(fact.at_ms)
        if not self.state.decided:
            self._check_dealer_face_up(fact.at_ms)
        self.state.decided[fact.seat] = fact.play
        if not fact.play:
            self.state.folds.append(fact.seat)

    def _fold_counted(self, fact: facts.FoldCounted) -> None:
        if self.dealing is not None:
            self.dealing.end_if_begun(fact.at_ms)
        if fact.cards != HAND:
            self._flag(Irregularity.FOLD_MISCOUNTED, fact.seat, fact.at_ms)

    def _reveal(self, at_ms: int) -> None:
        """The dealer's hand is shown; a round that is held by now ends when the floor has ruled."""
        if self.dealing is None:
            return
        self.dealing.end_if_begun(at_ms)
        if not self.state.decided:
            self._check_dealer_face_up(at_ms)
        self.dealing.close_dealer(at_ms)
        if self.state.decisions_kept and self.state.undecided:
            self._flag(Irregularity.EARLY_REVEAL, DEALER, at_ms)
        self.state.revealed = True

    def _check_dealer_face_up(self, at_ms: int) -> None:
        """Where the dealer has a hand before the decisions, its open cards must lie open by now."""
        if self.state.setup.deal == "rotation" or self.state.setup.dealer_group == "with_the_others":
            self._exposure.too_few(at_ms)

    def _rule(self, fact: facts.FloorRuling) -> None:
        """The floor decides what is held."""
        ruling = Ruling(fact.ruling)
        if isinstance(fact.seat, int) and ruling is Ruling.VOID_SEAT:
            self.state.voided_by_floor.add(fact.seat)
        elif isinstance(fact.seat, int) and ruling is Ruling.FORFEIT_SEAT:
            self.state.forfeited.add(fact.seat)
            if fact.seat not in self.state.folds:
                self.state.folds.append(fact.seat)
        self.moved(fact.at_ms)
        for hold in self.irregularities.rule(ruling, fact.reason):
            if self.dealing is not None:
                self.dealing.accept(hold)
        if self.dealing is not None:
            self.dealing.look(fact.at_ms)

    def _flag(self, irregularity: Irregularity, seat: Place | None, at_ms: int) -> None:
        self.irregularities.flag(irregularity, seat, at_ms)
