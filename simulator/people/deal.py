"""The dealer's hands while cards go out: the group rig and the rotation rig, with the incidents of the round."""

from collections.abc import Iterator
from typing import Final, Protocol, TypeVar

from drivers.facts import Place
from simulator.mechanics.deck import PlayingCard
from simulator.mechanics.table import SimulatedTable
from simulator.people.floor import Floor, say
from simulator.people.incidents import (
    BoxedCard,
    CablePulled,
    ExposedCard,
    ForeignCard,
    Jam,
    LongGroup,
    Miscount,
    OpenDoor,
    PlacedIncident,
    ShortGroup,
    UnreadCard,
    WrongSeat,
)
from simulator.people.screen import Screen
from simulator.people.script import Cable, Pause, Script, Settled, Until
from simulator.people.truth import RoundTruth

CARD_MS: Final = 90  # a card through the dispenser, or drawn by hand
LIFT_MS: Final = 200
PUT_MS: Final = 180
SENSE_MS: Final = 25
TURN_MS: Final = 450
HAND: Final = 3

IncidentT = TypeVar("IncidentT", bound=PlacedIncident)


class Deal(Protocol):
    """How the dealer brings cards to the places, one kind for each rig."""

    def outgoing(self, truth: RoundTruth) -> tuple[Place, ...]:
        """For each card that is going to leave the machine, in order, the place it is meant for."""
        ...

    def deal(self, truth: RoundTruth) -> Script:
        """All cards of the round go out, or as many as the daemon lets; ends early when the round is void."""
        ...


class Hands:
    """What both rigs have in common: putting cards down, exposing one, being careful, and the cable of a device."""

    def __init__(self, table: SimulatedTable, screen: Screen, floor: Floor) -> None:
        self._table = table
        self._screen = screen
        self._floor = floor
        self._unplugged: CablePulled | None = None
        self._cards_unplugged = 0

    def _incident(self, truth: RoundTruth, kind: type[IncidentT], place: Place) -> IncidentT | None:
        return next((s for s in truth.incidents if isinstance(s, kind) and s.place == place), None)

    def _careful(self, truth: RoundTruth) -> Script:
        """Look at the screen before going on, and wait for the floor where it says that the round is held."""
        if self._unplugged is not None:
            return
        yield Settled()
        if not self._screen.void and self._screen.holds:
            yield from self._floor.attend(truth)

    def _before_card(self, truth: RoundTruth, card: PlayingCard, place: Place, index: int) -> None:
        unread = self._incident(truth, UnreadCard, place)
        if unread is not None and unread.index == index:
            self._table.shoe.reader.blind_for = 1
        boxed = self._incident(truth, BoxedCard, place)
        if boxed is not None and boxed.index == index:
            card.face_up = True

    def _after_card(self, truth: RoundTruth, place: Place, index: int) -> Script:
        """Cables come out and go in between two cards."""
        truth.drawn += 1
        if self._unplugged is not None:
            if self._cards_unplugged == 0:
                yield from self._plug_in(truth)
            self._cards_unplugged -= 1
        pulled = self._incident(truth, CablePulled, place)
        if pulled is not None and pulled.index == index and self._unplugged is None:
            yield Settled()
            yield Cable(pulled.device, plugged=False)
            self._unplugged, self._cards_unplugged = pulled, pulled.cards - 1
            if pulled.cards == 0:
                yield from self._plug_in(truth)
        yield from self._careful(truth)

    def _plug_in(self, truth: RoundTruth) -> Script:
        if self._unplugged is not None:
            device, self._unplugged = self._unplugged.device, None
            yield Cable(device, plugged=True)
            yield from self._careful(truth)

    def _sense(self, truth: RoundTruth, place: Place) -> Script:
        while self._table.layout.sense(place):
            yield Pause(SENSE_MS)
            yield from self._careful(truth)

    def _put(self, truth: RoundTruth, place: Place) -> Script:
        """Everything in the dealer's hand goes to a place."""
        for card in self._table.hand:
            self._table.layout.put(card, place)
        yield Pause(PUT_MS)
        yield from self._sense(truth, place)
        truth.hands[place] = self._table.cards_at(place)

    def _serve(self, truth: RoundTruth, place: Place) -> Script:
        """The cards in hand go to the place whose turn it is, or by mistake to another one."""
        wrong = self._incident(truth, WrongSeat, place)
        if wrong is None or truth.hands.get(place) or truth.hands.get(wrong.instead):
            yield from self._put(truth, place)
            return
        yield from self._put(truth, wrong.instead)
        if wrong.put_right:
            self._table.layout.lift(wrong.instead, self._table.hand)
            yield from self._sense(truth, wrong.instead)
            truth.hands.pop(wrong.instead, None)
            yield from self._put(truth, place)

    def _expose(self, truth: RoundTruth, place: Place) -> Script:
        """A card turned over as it landed: seen, told, and turned down again."""
        incident = self._incident(truth, ExposedCard, place)
        pile = self._table.layout.places[place]
        if incident is None or len(pile) < incident.index or any(where == place for where, _ in truth.exposed):
            return
        card = pile[incident.index - 1]
        card.face_up = True
        truth.exposed.append((place, card.face))
        yield Pause(TURN_MS)
        if incident.seen_by == "layout" and self._table.layout.sensors:
            self._table.layout.sees_face_up(place)
        else:
            yield from say(truth, "dealer", "card_exposed", seat=place, card=str(card.face))
        yield from self._careful(truth)
        card.face_up = False
        if not self._screen.void:
            yield from say(truth, "dealer", "card_turned_down", seat=place, card=str(card.face))

    def _find_foreign(self, truth: RoundTruth, place: Place) -> Script:
        if self._incident(truth, ForeignCard, place) is not None and place not in truth.foreign:
            truth.foreign.append(place)
            yield from say(truth, "floor", "foreign_card", seat=place)
            yield from self._careful(truth)


class GroupDeal(Hands):
    """The shuffler dispenses a group, the dealer lifts it and puts it down, place by place."""

    def deal(self, truth: RoundTruth) -> Script:
        """Hand out a group for each place, in the order of dealing."""
        for place in truth.order:
            yield from self._dispense(truth, place)
            if self._screen.void:
                return
            yield Pause(LIFT_MS)
            self._table.shuffler.lift(self._table.hand)
            yield from self._careful(truth)
            yield from self._serve(truth, place)
            yield from self._expose(truth, place)
            yield from self._find_foreign(truth, place)
            if self._screen.void:
                return
        yield from self._plug_in(truth)

    def outgoing(self, truth: RoundTruth) -> tuple[Place, ...]:
        """Whose each card will be that leaves the shoe, in order."""
        return tuple(place for place in truth.order for _ in range(self._size(truth, place)))

    def _size(self, truth: RoundTruth, place: Place) -> int:
        return HAND - bool(self._incident(truth, ShortGroup, place)) + bool(self._incident(truth, LongGroup, place))

    def _dispense(self, truth: RoundTruth, place: Place) -> Script:
        shuffler = self._table.shuffler
        for index in range(1, self._size(truth, place) + 1):
            yield Pause(CARD_MS)
            if shuffler.stopped:
                yield Until(self._may_go_on, "the shuffler to be released, or a hold to appear on the screen")
                yield from self._careful(truth)
            if self._screen.void:
                return
            self._before_card(truth, shuffler.chamber[0], place, index)
            shuffler.feed(self._table.shoe.reader)
            yield from self._after_card(truth, place, index)
            yield from self._mishap(truth, place, index)
            if self._screen.void:
                return
        miscount = self._incident(truth, Miscount, place)
        shuffler.miscount = miscount.by if miscount is not None else 0
        shuffler.group_out()
        yield from self._careful(truth)

    def _mishap(self, truth: RoundTruth, place: Place, index: int) -> Script:
        """What happens to the machine between two cards."""
        jam = self._incident(truth, Jam, place)
        if jam is not None and jam.index == index:
            self._table.shuffler.jams()
            yield from self._careful(truth)
            if not self._screen.void:
                self._table.shuffler.clear_jam()
        door = self._incident(truth, OpenDoor, place)
        if door is not None and door.index == index:
            self._table.shuffler.open_door()
            yield Pause(TURN_MS)
            self._table.shuffler.close_door()
        yield from self._careful(truth)

    def _may_go_on(self) -> bool:
        return not self._table.shuffler.stopped or bool(self._screen.holds) or self._screen.void


class RotationDeal(Hands):
    """The dealer draws one card at a time: one to each place in turn, three times round."""

    def deal(self, truth: RoundTruth) -> Script:
        """Draw card by card, three times round the places."""
        for place, index in self._turns(truth):
            yield Pause(CARD_MS)
            if self._table.shoe.locked:
                yield Until(self._may_go_on, "the shoe to be unlocked, or a hold to appear on the screen")
                yield from self._careful(truth)
            if self._screen.void:
                return
            self._before_card(truth, self._table.shoe.pile[0], place, index)
            self._table.shoe.draw(self._table.hand)
            yield from self._after_card(truth, place, index)
            yield from self._serve(truth, place)
            yield from self._expose(truth, place)
            yield from self._find_foreign(truth, place)
            if self._screen.void:
                return
        yield from self._plug_in(truth)
        yield from say(truth, "dealer", "dealing_done")
        yield from self._careful(truth)

    def outgoing(self, truth: RoundTruth) -> tuple[Place, ...]:
        """Whose each card will be that leaves the shoe, in order."""
        return tuple(place for place, _ in self._turns(truth))

    def _turns(self, truth: RoundTruth) -> Iterator[tuple[Place, int]]:
        for index in range(1, HAND + 1):
            for place in truth.order:
                if index < HAND or self._incident(truth, ShortGroup, place) is None:
                    yield place, index
        for place in truth.order:
            if self._incident(truth, LongGroup, place) is not None:
                yield place, HAND + 1

    def _may_go_on(self) -> bool:
        return not self._table.shoe.locked or bool(self._screen.holds) or self._screen.void


def deal_for(table: SimulatedTable, screen: Screen, floor: Floor) -> Deal:
    """The deal that fits the table's rig."""
    kind = GroupDeal if table.equipment.rig == "group" else RotationDeal
    return kind(table, screen, floor)
