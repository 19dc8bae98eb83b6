"""The table: facts in, events out. Everything that devices, people and the clock say of the cards ends here."""

from dataclasses import replace
from typing import Final

from drivers import facts as device
from drivers.cards import Card
from drivers.facts import Fact
from firmware_bridge.core import facts
from firmware_bridge.core.carried import CarriedTable
from firmware_bridge.core.events import AlarmAcknowledged, Event
from firmware_bridge.core.rules.house import House
from firmware_bridge.core.table.deck import Deck, Decks
from firmware_bridge.core.table.gap_detector import GapDetector
from firmware_bridge.core.table.hand_commitments import Commitments
from firmware_bridge.core.table.refusals import TableContext, refusal
from firmware_bridge.core.table.round import Round
from firmware_bridge.core.table.round_snapshot import HandsWhenAsked, RoundSnapshot, snapshot_of
from firmware_bridge.core.table.round_state import RoundState
from firmware_bridge.core.table_setup import TableSetup
from firmware_bridge.core.terms import Irregularity, Phase, Who


class Table:
    """One table under one house. Pure: no clock, no input or output, no randomness.

    `apply` is for facts that `refusal` lets pass; it answers with events in order, without `seq`, `round`, `at_ms`.
    """

    def __init__(self, house: House, setup: TableSetup, table_key: bytes) -> None:
        self._house = house
        self._setup = setup
        self._table_key: Final = table_key
        self._decks = Decks(setup.decks)
        self._rounds = 0
        self._round: Round | None = None
        self._commitments: Commitments | None = None
        self._draws = GapDetector(from_one=False)
        self._groups = GapDetector(from_one=True)
        self._last_draw: tuple[int, Card | None] | None = None
        self._tray_forgiven = False
        self._player_dealer: int | None = None
        self._boxed_before: list[int] = []
        self._lost_devices: set[str] = set()
        self._told: list[Event] = []
        self._standing: RoundSnapshot | None = None

    @property
    def record(self) -> RoundSnapshot | None:
        """The round that is open, or the last one; None before the first."""
        standing = self.standing
        if standing is None or not isinstance(standing.hands, HandsWhenAsked):
            return standing
        self._standing = replace(standing, hands=standing.hands.read)
        return self._standing

    @property
    def standing(self) -> RoundSnapshot | None:
        """The same to be looked at before the next fact only: its hands are read no sooner than they are asked for."""
        if self._standing is None and self._round is not None:
            self._standing = snapshot_of(self._round, HandsWhenAsked(self._round), suspended=bool(self._lost_devices))
        return self._standing

    @property
    def between_rounds(self) -> bool:
        """No round is open: a changed house or setup can take effect."""
        return self._round is None or self._round.state.ended

    @property
    def limit_ms(self) -> int | None:
        """When the deal will have stood still for the table's limit."""
        return None if self._round is None else self._round.limit_ms

    def renew(self, house: House, setup: TableSetup) -> None:
        """Another house or setup from the next round on."""
        if setup.decks != self._setup.decks:
            self._decks = Decks(setup.decks)
        self._house, self._setup = house, setup

    def carried(self) -> CarriedTable:
        """What the next round takes over; good where no round is open, from the fact on that opens the next."""
        return CarriedTable(
            rounds=self._rounds,
            decks=self._decks.carried(),
            draws=self._draws.carried(),
            groups=self._groups.carried(),
            tray_forgiven=self._tray_forgiven,
            player_dealer=self._player_dealer,
            boxed_before=tuple(self._boxed_before),
            lost_devices=tuple(sorted(self._lost_devices)),
        )

    @classmethod
    def resumed(cls, carried: CarriedTable, house: House, setup: TableSetup, table_key: bytes) -> "Table":
        """The table as it was carried over, before the fact that opens its next round."""
        table = cls(house, setup, table_key)
        table._rounds = carried.rounds
        table._decks = Decks.resumed(carried.decks, setup.decks)
        table._draws, table._groups = GapDetector.resumed(carried.draws), GapDetector.resumed(carried.groups)
        table._tray_forgiven, table._player_dealer = carried.tray_forgiven, carried.player_dealer
        table._boxed_before, table._lost_devices = list(carried.boxed_before), set(carried.lost_devices)
        return table

    def refusal(self, fact: Fact) -> str | None:
        """Why the fact does not fit, as a sentence for a dealer, or None. Changes nothing."""
        seats = min(self._setup.seats, self._house.deal.places)
        return refusal(TableContext(self._round, self._decks, seats, self._last_draw), fact)

    def apply(self, fact: Fact) -> tuple[Event, ...]:
        """What the table has to tell of the fact."""
        match fact:
            case device.ShufflerFact():
                self._shuffler(fact)
            case device.ShoeFact():
                self._shoe(fact)
            case device.SeatCount() | device.CardExposed():
                self._layout(fact)
            case facts.OperatorFact():
                self._operator(fact)
            case facts.BridgeFact():
                self._bridge(fact)
            case _:
                pass
        return self._finish()

    def read_sensors(self, at_ms: int) -> tuple[Event, ...]:
        """The recording ends here: the last place's sensor counts as it stands."""
        current = self._open_round
        if current is not None and current.dealing is not None:
            current.dealing.end_if_begun(at_ms)
        return self._finish()

    def _finish(self) -> tuple[Event, ...]:
        current = self._round
        if current is not None:
            self._told += current.state.events
            current.state.events.clear()
            current.settle()
            if self._commitments is not None:
                self._told += self._commitments.due(current)
        told, self._told = tuple(self._told), []
        self._standing = None
        return told

    @property
    def _open_round(self) -> Round | None:
        return None if self._round is None or self._round.state.ended else self._round

    @property
    def _seen_round(self) -> Round | None:
        """The round whose cards are being seen: the open one, or a void one until its cards are shuffled."""
        current = self._round
        if current is None or not current.state.ended:
            return current
        goes_on = current.state.void and current.dealing is not None and not self._decks.in_play.fresh
        return current if goes_on else None

    # Rounds

    def _open(self, fact: facts.Seats | facts.Wager) -> None:
        self._rounds += 1
        current = Round(RoundState(self._rounds, self._house, self._setup, self._decks), fact.at_ms)
        self._round = current
        self._commitments = Commitments(self._table_key, self._rounds)
        for numbers in (self._draws, self._groups):
            numbers.round_opens()
        self._last_draw = None
        player_dealer, self._player_dealer = self._player_dealer, None
        if isinstance(fact, facts.Seats):
            current.open(fact.seats, player_dealer, None)
        else:
            current.open((), player_dealer, fact)
        self._choose_deck(current)
        for at_ms in self._boxed_before:
            current.machine_boxed(at_ms)
        self._boxed_before.clear()

    def _choose_deck(self, current: Round) -> None:
        """Before the first card: which deck it will be, and what was found of it before the round."""
        if current.dealing is not None:
            return
        deck = self._decks.choose(shoe=current.state.house.deal.shuffle == "shoe")
        untold, deck.untold = deck.untold, []
        for irregularity, at_ms in untold:
            current.found_before(irregularity, at_ms)

    # What machines tell

    def _shuffler(self, fact: device.ShufflerFact) -> None:
        current = self._open_round
        match fact:
            case device.ShuffleCompleted():
                self._shuffled(fact)
            case device.GroupReady():
                self._group_ready(fact)
            case device.GroupTaken():
                self._group_taken(fact)
            case device.BoxedCard():
                if current is None or (current.state.deal_is_over and self._decks.alternate):
                    self._boxed_before.append(fact.at_ms)  # the machine has the cards of the next round
                else:
                    current.machine_boxed(fact.at_ms)
            case device.Jammed() if current is not None:
                current.jammed(fact.at_ms)
            case device.JamCleared() if current is not None:
                current.moved(fact.at_ms)
            case device.DoorOpened() if current is not None:
                current.door_opened(fact.at_ms)
            case device.StubCounted():
                deck = self._decks.in_play
                deck.uncounted_rounds = 0
                if not deck.is_stub(fact.cards):
                    self._rest_is_wrong(Irregularity.STUB_MISMATCH, fact.at_ms)
            case device.ResidualCards() if fact.cards:
                self._rest_is_wrong(Irregularity.RESIDUAL_CARDS, fact.at_ms)
            case _:
                pass

    def _shuffled(self, fact: device.ShuffleCompleted) -> None:
        deck = self._decks.named(fact.deck)
        out = self._cards_are_out(deck)
        deck.uncounted_rounds = 0
        if fact.mode == "shuffle":
            deck.shuffled(cards_are_out=out)
        else:
            deck.fresh, deck.sorted = False, True
            deck.start_again(cards_are_out=out)
        self._decks.shuffled(deck)
        if fact.cards != deck.size:
            self._deck_is_wrong(deck, Irregularity.BAD_SHUFFLE_COUNT, fact.at_ms)
        elif fact.mode == "shuffle":
            self._told += deck.good_shuffle()
        self._deck_moved(fact.at_ms)

    def _deck_moved(self, at_ms: int) -> None:
        current = self._open_round
        if current is not None:
            current.moved(at_ms)
            self._choose_deck(current)

    def _cards_are_out(self, deck: Deck) -> bool:
        current = self._open_round
        return current is not None and current.dealing is not None and deck is self._decks.in_play

    def _deck_is_wrong(self, deck: Deck, irregularity: Irregularity, at_ms: int) -> None:
        """Found of a deck: flagged in the round that is dealt from it, or in the next that will be."""
        current = self._open_round
        if current is not None and deck is self._decks.in_play:
            current.deck_found(irregularity, at_ms)
            return
        deck.untold.append((irregularity, at_ms))
        if self._house.policy.consequence(irregularity, Phase.BETTING, Who.TABLE).deck_out:
            self._told += deck.alarm(irregularity)

    def _rest_is_wrong(self, irregularity: Irregularity, at_ms: int) -> None:
        """Found of the undealt rest: that belongs to the last round until the cards are shuffled again."""
        deck = self._decks.in_play
        if self._round is None or (self._round.state.ended and (deck.fresh or deck.sorted)):
            self._deck_is_wrong(deck, irregularity, at_ms)
        else:
            self._round.deck_found(irregularity, at_ms)

    def _group_ready(self, fact: device.GroupReady) -> None:
        current = self._seen_round
        if current is None or current.state.setup.deal != "group":
            return
        step = self._groups.take(fact.group)
        if step.gap and not current.state.ended:
            current.gap(Irregularity.FACT_GAP, fact.at_ms)
        current.group_ready(fact, min(step.missing, current.state.setup.seats + 1))

    def _group_taken(self, fact: device.GroupTaken) -> None:
        current = self._seen_round
        if current is None or current.state.setup.deal != "group":
            return
        known = current.dealing is not None and current.dealing.deal.group(fact.group) is not None
        if not known:
            self._groups.take(fact.group)
        earlier = current.dealing is not None and current.dealing.deal.in_tray_before(fact.group)
        if (not known or earlier) and not self._tray_forgiven and not current.state.ended:
            current.gap(Irregularity.FACT_GAP, fact.at_ms)
        self._tray_forgiven = False
        current.group_taken(fact)

    def _shoe(self, fact: device.ShoeFact) -> None:
        match fact:
            case device.CardDrawn():
                self._card_drawn(fact)
            case device.ShoeLoaded():
                self._decks.shoe_ends()
                self._deck_moved(fact.at_ms)
                deck = self._decks.in_play
                deck.uncounted_rounds = 0
                deck.start_again(cards_are_out=self._cards_are_out(deck))
                if fact.cards != deck.size:
                    self._deck_is_wrong(deck, Irregularity.BAD_SHUFFLE_COUNT, fact.at_ms)
            case device.CutCard():
                self._decks.shoe_ends()
            case _:
                pass

    def _card_drawn(self, fact: device.CardDrawn) -> None:
        current = self._seen_round
        if current is None:
            self._draws.pass_over(fact.draw)
            if self._decks.in_play.draw(fact.card, 0):
                self._rest_is_wrong(Irregularity.DUPLICATE_CARD, fact.at_ms)
            return
        self._choose_deck(current)
        step = self._draws.take(fact.draw)
        self._last_draw = fact.draw, fact.card
        current.card_drawn(fact, step.missing, gap=step.gap)

    def _layout(self, fact: device.SeatCount | device.CardExposed) -> None:
        current = self._seen_round
        if current is None:
            return
        if isinstance(fact, device.CardExposed):
            if not current.state.ended:
                current.exposed(fact)
        elif current.state.setup.sensors:
            current.seat_count(fact.seat, fact.cards, fact.at_ms)

    # What people tell

    def _operator(self, fact: facts.OperatorFact) -> None:
        current = self._open_round
        match fact:
            case facts.Seats() | facts.Wager() if current is None:
                self._open(fact)
            case facts.PlayerDealer() if current is None:
                self._player_dealer = fact.seat
            case facts.HandShuffled():
                deck = self._decks.named(fact.deck)
                deck.shuffled(cards_are_out=self._cards_are_out(deck))
                self._decks.shuffled(deck)
                self._deck_moved(fact.at_ms)
            case facts.Cut() if fact.deck is not None:
                self._decks.cut(self._decks.named(fact.deck))
                self._deck_moved(fact.at_ms)
            case facts.DeckChanged():
                deck = self._decks.named(fact.deck)
                deck.changed(cards_are_out=self._cards_are_out(deck))
            case facts.AlarmAcknowledged():
                for deck in self._decks.all():
                    if fact.alarm in deck.alarms:
                        deck.alarms[fact.alarm] = True
                self._told.append(AlarmAcknowledged(alarm=fact.alarm))
            case facts.ForeignCard() if self._round is None:
                self._told += self._decks.in_play.alarm(Irregularity.FOREIGN_CARD)
            case _ if self._round is not None:
                self._round.hear(fact)
            case _:
                pass

    # What the shell tells

    def _bridge(self, fact: facts.BridgeFact) -> None:
        current = self._open_round
        match fact:
            case facts.DeviceLost():
                self._lost_devices.add(fact.device)
            case facts.DeviceBack():
                self._lost_devices.discard(fact.device)
                if fact.gap:
                    self._draws.forgive()
                    self._groups.forgive()
                    self._tray_forgiven = True
                    if current is not None:
                        current.gap(Irregularity.DEVICE_LOST, fact.at_ms)
            case facts.TimePassed() if current is not None:
                current.time_passed(fact.at_ms)
            case _:
                pass
