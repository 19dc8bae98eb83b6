"""The human dealer: one round after another, from the shuffle to the discard rack, with an incident now and then."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from drivers.cards import Card
from drivers.facts import Place
from simulator.mechanics.table import SimulatedTable
from simulator.people.deal import deal_for
from simulator.people.floor import Floor, FloorRuling, say
from simulator.people.incidents import (
    AnyIncident,
    DuplicateCard,
    LateBet,
    LostCard,
    MiscountedFold,
    NotShuffled,
    UnreadCard,
)
from simulator.people.players import Custom, Wagers, worth_playing
from simulator.people.screen import Screen
from simulator.people.script import Pause, Script, Settled
from simulator.people.truth import RoundTruth, Truth

SHUFFLE_MS: Final = 800
WAGER_MS: Final = 140
LOOK_MS: Final = 250
DECISION_MS: Final = 220
REVEAL_MS: Final = 800
COLLECT_MS: Final = 500


@dataclass(frozen=True, slots=True)
class PlayedRound:
    """What is written of a round beforehand. `stacked`: cards to come out, by place; the rest falls as it may.

    `decisions`: seats that do not follow the dividing line. `position`: (seat, wager) of a player-dealer.
    """

    wagers: Mapping[int, Wagers]
    incidents: tuple[AnyIncident, ...] = ()
    stacked: Mapping[Place, Sequence[Card]] = field(default_factory=dict)
    decisions: Mapping[int, bool] = field(default_factory=dict)
    position: tuple[int, int] | None = None


class Dealer:
    """Plays rounds at a table as scripts, and writes the truth of them."""

    def __init__(
        self,
        table: SimulatedTable,
        screen: Screen,
        custom: Custom,
        rulings: Mapping[str, FloorRuling],
    ) -> None:
        self._table = table
        self._screen = screen
        self._custom = custom
        self._floor = Floor(table, screen, rulings)
        self._deal = deal_for(table, screen, self._floor)
        self.truth: Final = Truth()

    def play(self, written: PlayedRound) -> Script:
        """One whole round. Raises StuckRoundError where the daemon does not let the floor end a hold."""
        truth = self.truth.begin()
        truth.incidents = written.incidents
        truth.wagers = {seat: dict(wagers) for seat, wagers in written.wagers.items()}
        truth.order = self._order(written)
        yield from self._shuffle(truth, written)
        yield from self._bets(truth, written)
        if not self._screen.void:
            yield from self._deal.deal(truth)
        self._note_hands(truth)
        if not self._screen.void:
            yield from self._turn_up(truth)
        if not self._screen.void:
            yield from self._decisions(truth, written)
        if not self._screen.void:
            yield from self._reveal(truth)
        truth.void = self._screen.void
        yield from self._collect(truth)
        yield from self._floor.clear_alarms(truth)

    def meant_for(self, truth: RoundTruth) -> tuple[Place, ...]:
        """For each card of the round, in the order in which they go out, the place whose turn it is."""
        return self._deal.outgoing(truth)

    def _order(self, written: PlayedRound) -> tuple[Place, ...]:
        """Clockwise from the dealer's left, or from the seat after the player-dealer; the dealer's place last."""
        after = 0 if written.position is None else written.position[0]
        seats = sorted(written.wagers, key=lambda seat: (seat <= after, seat))
        return (*seats, "dealer")

    def _shuffle(self, truth: RoundTruth, written: PlayedRound) -> Script:
        twin: Card | None = None
        for incident in written.incidents:
            if isinstance(incident, DuplicateCard):
                twin = self._table.smuggle_in_a_duplicate().face
            elif isinstance(incident, LostCard):
                self._table.lose_a_card()
        self._table.shuffler.load(self._table.rack)
        truth.shuffled = not any(isinstance(incident, NotShuffled) for incident in written.incidents)
        if truth.shuffled:
            yield Pause(SHUFFLE_MS)
            self._table.shuffler.shuffle()
            yield Settled()
        if self._table.equipment.rig == "rotation":
            self._table.shoe.load(self._table.shuffler.chamber)
            yield Settled()
        self._stack(truth, written, twin)

    def _stack(self, truth: RoundTruth, written: PlayedRound, twin: Card | None) -> None:
        """Bring the written cards to where they come out in their turn; all others stay as they were shuffled."""
        stacked = {place: list(faces) for place, faces in written.stacked.items()}
        if twin is not None:
            for place in truth.order[:2]:
                stacked[place] = [twin, *stacked.get(place, ())[1:]]
        order = list(self._table.dispensing)
        for position, place in enumerate(self._deal.outgoing(truth)):
            if stacked.get(place):
                face = stacked[place].pop(0)
                found = next(index for index in range(position, len(order)) if order[index].face is face)
                order[position], order[found] = order[found], order[position]
        self._table.dispensing.reorder(order)

    def _bets(self, truth: RoundTruth, written: PlayedRound) -> Script:
        yield from self._careful(truth)
        if written.position is not None:
            seat, wager = written.position
            action = truth.order[0]
            yield from say(truth, "dealer", "player_dealer", seat=seat, wager=wager, action_seat=action)
        for seat, wagers in written.wagers.items():
            yield Pause(WAGER_MS)
            yield from say(truth, f"seat {seat}", "wager", seat=seat, **wagers)
        yield Pause(LOOK_MS)
        yield from say(truth, "dealer", "no_more_bets")
        for incident in written.incidents:
            if isinstance(incident, LateBet) and isinstance(incident.place, int):
                wagers = truth.wagers[incident.place]
                late = {**wagers, "ante": wagers.get("ante", 0) + incident.more}
                yield from say(truth, f"seat {incident.place}", "wager", seat=incident.place, **late)
        yield from self._careful(truth)

    def _careful(self, truth: RoundTruth) -> Script:
        yield Settled()
        if self._screen.holds:
            yield from self._floor.attend(truth)

    def _note_hands(self, truth: RoundTruth) -> None:
        for place in self._table.layout.places:
            cards = self._table.cards_at(place)
            if cards or place in truth.order:
                truth.hands[place] = cards

    def _turn_up(self, truth: RoundTruth) -> Script:
        """Cards of the dealer's place that the house deals face up."""
        for card in list(self._table.layout.places["dealer"])[: self._custom.face_up]:
            card.face_up = True
            truth.dealt_face_up += 1
            yield Pause(LOOK_MS)
            yield from say(truth, "dealer", "card_exposed", seat="dealer", card=str(card.face))
            yield from self._careful(truth)

    def _decisions(self, truth: RoundTruth, written: PlayedRound) -> Script:
        for seat, wagers in written.wagers.items():
            if seat in self._screen.misdealt:
                continue
            self._table.layout.lift(seat, self._table.deck.pile(f"hand of seat {seat}"))
            yield from self._sense(truth, seat)
            yield Pause(LOOK_MS)
            if not wagers.get("ante"):
                continue
            play = written.decisions.get(seat, worth_playing(truth.hands[seat]))
            truth.decisions[seat] = play
            yield Pause(DECISION_MS)
            yield from say(truth, f"seat {seat}", "decision", seat=seat, play=play)
            if not play and self._custom.fold_counted:
                counted = next(
                    (s.cards for s in truth.incidents if isinstance(s, MiscountedFold) and s.place == seat), None
                )
                cards = len(truth.hands[seat]) if counted is None else counted
                yield from say(truth, "dealer", "fold_counted", seat=seat, cards=cards)
            yield from self._careful(truth)
            if self._screen.void:
                return

    def _sense(self, truth: RoundTruth, place: Place) -> Script:
        while self._table.layout.sense(place):
            yield from self._careful(truth)

    def _reveal(self, truth: RoundTruth) -> Script:
        yield from self._identify(truth, at_dealer=False)
        yield Pause(REVEAL_MS)
        for card in self._table.layout.places["dealer"]:
            card.face_up = True
        truth.revealed = True
        yield from say(truth, "dealer", "dealer_revealed")
        yield from self._careful(truth)
        yield from self._identify(truth, at_dealer=True)

    def _identify(self, truth: RoundTruth, *, at_dealer: bool) -> Script:
        """A person reads what the reader could not: players' cards before the reveal, the dealer's once they show."""
        for incident in truth.incidents:
            if (
                not isinstance(incident, UnreadCard)
                or not incident.identified
                or (incident.place == "dealer") != at_dealer
            ):
                continue
            if self._screen.void or len(truth.hands.get(incident.place, ())) < incident.index:
                continue
            face = truth.hands[incident.place][incident.index - 1]
            yield from say(truth, "floor", "card_identified", seat=incident.place, index=incident.index, card=str(face))

    def _collect(self, truth: RoundTruth) -> Script:
        """Everything back into the rack; the machine counts what it has left first."""
        yield Pause(COLLECT_MS)
        if self._table.equipment.rig == "group" and truth.drawn and truth.shuffled and not self._screen.void:
            self._table.shuffler.count_stub()
            yield Settled()
        if self._table.shuffler.jam:
            self._table.shuffler.clear_jam()
            yield Settled()
        self._table.collect()
        for place in self._table.layout.unsettled():
            yield from self._sense(truth, place)
        yield from self._careful(truth)
