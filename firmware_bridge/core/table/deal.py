"""Where the cards of one deal are, as far as draws, groups and sensors show it. No policy lives here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from drivers.cards import Card
from drivers.facts import Place
from firmware_bridge.core.table.card_batch import MISSING, CardBatch, Counts, Dealt, PlaceCards

HAND: Final = 3
_NO_NUMBER: Final = -1


@dataclass(slots=True, eq=False)
class Misplaced:
    """Cards that arrived where they do not belong: a batch, or cards that slid over from `donors`."""

    place: Place
    turn: Place | None
    batch: CardBatch | None = None
    donors: tuple[Place, ...] = ()
    put_right: bool = False
    stands: bool = False

    @property
    def touches(self) -> frozenset[Place]:
        """Places whose counts cannot be trusted while this lies wrong."""
        turn = () if self.turn is None else (self.turn,)
        return frozenset((self.place, *turn, *self.donors))


@dataclass(frozen=True, slots=True)
class Arrival:
    """A batch reached a place."""

    batch: CardBatch
    place: Place


class Deal:
    """One deal to the places of `order`; `rig` and `sensors` as the table is set up."""

    def __init__(self, order: Sequence[Place], rig: Literal["group", "rotation"], *, sensors: bool) -> None:
        self.order: Final = tuple(order)
        self.rig: Final = rig
        self.sensors: Final = sensors
        self.batches: list[CardBatch] = []
        self.places: dict[Place, PlaceCards] = {place: PlaceCards() for place in self.order}
        self.misplaced: list[Misplaced] = []
        self.over = False
        self._drawing = CardBatch(index=0, turn=None)
        self._last: CardBatch | None = None

    # What leaves machine and shoe

    @property
    def drawing_for(self) -> Place | None:
        """Whose card the one that was drawn last is, as the order has it."""
        if self.rig == "group":
            return self._turn(len(self.batches))
        return self.batches[-1].turn if self.batches else None

    def draw(self, card: Card | None, missing: int) -> tuple[Arrival, ...]:
        """One card passed the reader, after `missing` draws that nobody told of."""
        self.read_sensors()
        if self.rig == "group":
            self._drawing.cards += [*[MISSING] * missing, card]
            return ()
        arrivals: list[Arrival] = []
        dealt: list[Dealt] = [*[MISSING] * missing, card]
        for one in dealt:
            batch = self._new([one])
            batch.taken = True
            if not self.sensors and batch.turn is not None:
                arrivals.append(self._land(batch, batch.turn))
        return tuple(arrivals)

    @property
    def drawn_last(self) -> CardBatch:
        """The batch of the card that was drawn last."""
        return self._drawing if self.rig == "group" or not self.batches else self.batches[-1]

    def group_ready(self, number: int, cards: int | None) -> CardBatch:
        """The machine's group with that number lies in the tray: what was drawn since the last."""
        batch = self._drawing
        batch.index, batch.turn = len(self.batches), self._turn(len(self.batches))
        batch.machine, batch.number = cards, number
        self.batches.append(batch)
        self._drawing = CardBatch(index=0, turn=None)
        return batch

    def groups_lost(self, first: int, count: int, next_size: int) -> None:
        """So many groups, from number `first`, were ready without being told of. Their cards may have been read."""
        drawn, self._drawing = self._drawing, CardBatch(index=0, turn=None)
        spare = max(0, len(drawn.cards) - next_size)
        for place in range(min(count, len(self.order))):
            cards = drawn.cards[:HAND] if spare >= HAND else []
            drawn.cards, spare = drawn.cards[len(cards) :], spare - len(cards)
            self._drawing.cards = list(cards) if cards else [MISSING] * HAND
            self.group_ready(first + place, None)
        self._drawing = drawn

    def group_taken(self, number: int) -> tuple[Arrival, ...]:
        """The dealer took that group out of the tray, and with it every one that was ready before."""
        if self.group(number) is None:
            self.group_ready(number, None)
        arrivals: list[Arrival] = []
        for batch in self.batches:
            if batch.taken or batch.number is None:
                continue
            batch.taken = True
            if not self.sensors and batch.place is None and batch.turn is not None:
                arrivals.append(self._land(batch, batch.turn))
            if batch.number == number:
                break
        return tuple(arrivals)

    def group(self, number: int) -> CardBatch | None:
        """The machine's group of that number; None before it was ready."""
        return next((batch for batch in self.batches if batch.number == number), None)

    def in_tray_before(self, number: int) -> bool:
        """A group is ready, was never told to be taken, and lay in the tray before group `number`."""
        batch = self.group(number)
        before = self.batches if batch is None else self.batches[: batch.index]
        return any(not earlier.taken for earlier in before)

    def _new(self, cards: list[Dealt]) -> CardBatch:
        batch = CardBatch(index=len(self.batches), turn=self._turn(len(self.batches)), cards=cards)
        self.batches.append(batch)
        return batch

    def _turn(self, index: int) -> Place | None:
        """Whose card or group that one is. Once all are out, or the deal is over, no place has the turn."""
        if self.rig == "group":
            return self.order[index] if index < len(self.order) else None
        return None if self.over or index >= HAND * len(self.order) else self.order[index % len(self.order)]

    # What sensors and people count

    def seat_count(self, place: Place, cards: int) -> Arrival | Misplaced | None:
        """The sensor of a place counts so many; what arrived there by that, if anything did."""
        state = self.at(place)
        before, state.now, state.sensed = state.now, cards, True
        self._put_right()
        if cards <= before:
            return None
        if self.over and place in self.order and state.batches:
            if cards <= HAND:
                return None
            state.read, state.accepted = cards, False
        if cards <= state.expected:
            return None
        batch = self._landing(place)
        if batch is not None:
            return self._land(batch, place)
        return None if self.over else self._slid(place)

    def seat_checked(self, place: Place, cards: int) -> None:
        """A person counted that place."""
        state = self.at(place)
        state.checked, state.dealt_when_checked = cards, self._attributed(place)
        state.now = cards
        state.identified = {index: card for index, card in state.identified.items() if index < cards}
        self._put_right()

    def at(self, place: Place) -> PlaceCards:
        """What is known of a place; places outside the order are made as cards turn up there."""
        state = self.places.get(place)
        if state is None:
            state = self.places[place] = PlaceCards()
        return state

    def read_sensors(self) -> None:
        """Take what every sensor shows now as its count, before a further card leaves."""
        for state in self.places.values():
            state.read_sensor()

    def _landing(self, place: Place) -> CardBatch | None:
        """The batch on its way that landed there: one whose turn the place has, else the one that waits longest."""
        waiting = [batch for batch in self.batches if batch.place is None]
        waiting = [batch for batch in waiting if batch.taken] or waiting
        if not waiting and self.over and self._drawing.cards:
            waiting = [self.group_ready(_NO_NUMBER, None)]
        return next((batch for batch in waiting if batch.turn == place), waiting[0] if waiting else None)

    def _land(self, batch: CardBatch, place: Place) -> Arrival:
        after_last = self._after_last()
        batch.place = place
        self.at(place).batches.append(batch)
        if self._last is None or batch.index > self._last.index:
            self._last = batch
        astray = place not in self.order or (batch.turn is not None and place not in (batch.turn, after_last))
        if astray:
            self.misplaced.append(Misplaced(place, batch.turn, batch))
        return Arrival(batch, place)

    def _after_last(self) -> Place | None:
        """The place after the one that was served last: the turn, where the deal went on from a wrong seat."""
        last = self._last
        if last is None:
            return None
        base = last.place if last.place in self.order else last.turn
        if base is None or (base == self.order[-1] and self.rig == "group"):
            return None
        return self.order[(self.order.index(base) + 1) % len(self.order)]

    def _slid(self, place: Place) -> Misplaced | None:
        """Cards arrived although none was on its way: from places that now have fewer than they were dealt."""
        if any(wrong.turn == place and not wrong.put_right for wrong in self.misplaced):
            return None
        donors = tuple(other for other, state in self.places.items() if other != place and state.now < state.expected)
        if not donors or not self.batches:
            return None
        wrong = Misplaced(place, None, None, donors)
        self.misplaced.append(wrong)
        return wrong

    def _put_right(self) -> None:
        """Move what the counts now show where it belongs."""
        for wrong in self.misplaced:
            if wrong.put_right:
                continue
            state = self.at(wrong.place)
            batch = wrong.batch
            if batch is None:
                wrong.put_right = state.now <= state.expected and not wrong.stands
            elif wrong.turn is not None and state.now <= state.expected - batch.size:
                there = self.at(wrong.turn)
                if there.now > there.expected:
                    state.batches.remove(batch)
                    there.batches.append(batch)
                    batch.place, wrong.put_right = wrong.turn, True
                    state.read = state.now if state.sensed else None
                    for place in (wrong.place, wrong.turn):
                        self.at(place).dealt_when_checked = self._attributed(place)

    def let_stand(self, wrong: Misplaced) -> None:
        """A further card went out: what is wrong stays so, and the sensors alone know where such cards are."""
        wrong.stands = True
        if wrong.batch is None:
            for place in wrong.touches:
                state = self.at(place)
                state.slid, state.read = True, state.now

    def end(self) -> None:
        """The deal is over: every sensor is read, and once more where cards slid away after its last reading."""
        self.read_sensors()
        for wrong in self.misplaced:
            for place in wrong.donors if not wrong.put_right else ():
                self.at(place).read = self.at(place).now
        self.over = True

    # What it comes to

    def complete(self, place: Place) -> bool:
        """Whether a place of a group rig has its group, and sensed it where there are sensors."""
        state = self.at(place)
        if not state.batches:
            return bool(state.checked)
        return not self.sensors or bool(state.checked) or state.now >= state.expected

    def begun(self, place: Place) -> bool:
        """Cards have arrived there, though perhaps not all that were meant for it."""
        state = self.at(place)
        return bool(state.batches and (not self.sensors or state.now)) or bool(state.checked)

    def is_on_its_way(self, place: Place) -> bool:
        """Cards that are meant for the place have left and were not seen to land anywhere."""
        return any(batch.place is None and batch.taken and batch.turn == place for batch in self.batches)

    def sensed_hand(self, place: Place) -> bool:
        """A whole hand was seen at the place, by its sensor or a person."""
        state = self.at(place)
        return max(state.read or 0, state.now, state.checked or 0) >= HAND

    def seen_empty(self, place: Place) -> bool:
        """Sensors are there to see cards, and none was ever seen."""
        state = self.at(place)
        return self.sensors and state.checked is None and not max(state.read or 0, state.now)

    def counts(self, place: Place) -> Counts:
        """What machine, reader and sensor each say of the place."""
        state = self.at(place)
        batches = self._batches_of(place)
        machines = [batch.machine for batch in batches if batch.machine is not None]
        machine = sum(machines) if len(machines) == len(batches) and self.rig == "group" else None
        least = sum([batch.read for batch in batches])
        most = sum([len(batch.cards) for batch in batches])
        return Counts(machine, least, most, (state.read or 0) if self.sensors else None)

    def count(self, place: Place) -> int | None:
        """The place's cards as every source has it; None where they disagree and nobody has ruled."""
        state = self.at(place)
        if state.checked is not None:
            return state.checked + max(0, self._attributed(place) - state.dealt_when_checked)
        counts = self.counts(place)
        if state.slid and counts.seat is not None:
            return counts.seat
        return counts.likeliest if state.accepted and counts.agreed is None else counts.agreed

    def likeliest(self, place: Place) -> int:
        """The place's cards, by the likeliest source where they disagree."""
        settled = self.count(place)
        return self.counts(place).likeliest if settled is None else settled

    def cards(self, place: Place) -> tuple[Card | None, ...]:
        """The place's cards as far as they are known, None for a card that nobody has read."""
        count = self.likeliest(place)
        dealt = [card for batch in self._batches_of(place) for card in batch.cards]
        if len(dealt) > count:
            dealt = [card for card in dealt if card is not MISSING]
        known = [card if isinstance(card, Card) else None for card in dealt]
        if len(known) > count:
            known = []  # which of them are there is not known
        known += [None] * (count - len(known))
        for index, card in self.at(place).identified.items():
            if index < len(known):
                known[index] = card
        return tuple(known)

    def drawn(self) -> tuple[int, int]:
        """The cards of a rotation: the fewest and the most that were drawn."""
        return sum(batch.read for batch in self.batches), sum(len(batch.cards) for batch in self.batches)

    def drop_missing(self) -> None:
        """The draws that nobody told of were no cards: deal the others out again in their order."""
        drawn = [batch for batch in self.batches if batch.read]
        self.batches.clear()
        for state in self.places.values():
            state.batches.clear()
        for index, batch in enumerate(drawn):
            place = self.order[index % len(self.order)]
            batch.index, batch.turn, batch.place = index, place, place
            self.batches.append(batch)
            self.at(place).batches.append(batch)

    def _batches_of(self, place: Place) -> list[CardBatch]:
        """Those that landed there, and those that were meant for it and were never seen to land."""
        lost = [batch for batch in self.batches if batch.place is None and batch.taken and batch.turn == place]
        return self.at(place).batches + lost

    def _attributed(self, place: Place) -> int:
        return sum(batch.size for batch in self._batches_of(place))
