"""The shuffler: takes a deck in, shuffles it, counts it, and dispenses groups into its tray."""

import random
from collections.abc import Callable
from typing import Final, Literal

from drivers.facts import (
    BoxedCard,
    DeviceFact,
    DoorClosed,
    DoorOpened,
    GroupReady,
    GroupTaken,
    JamCleared,
    Jammed,
    ShuffleCompleted,
    StubCounted,
)
from simulator.mechanics.deck import Deck, Pile, PlayingCard
from simulator.mechanics.shoe import Reader


class Shuffler:
    """Counts with sensors of its own. `miscount` is added to the next count only: a sensor that saw wrong once."""

    def __init__(
        self,
        deck: Deck,
        clock: Callable[[], int],
        report: Callable[[DeviceFact], None],
        randomness: random.Random,
    ) -> None:
        self._deck = deck
        self._clock = clock
        self._report = report
        self._randomness = randomness
        self.chamber: Final[Pile] = deck.pile("shuffler")
        self.tray: Final[Pile] = deck.pile("tray")
        self.stopped = False
        self.door_open = False
        self.jam = False
        self.miscount = 0
        self.group = 0

    def load(self, origin: Pile) -> None:
        """Put every card of the pile into the chamber."""
        self._deck.move_all(origin, self.chamber)

    def shuffle(self, mode: Literal["shuffle", "sort"] = "shuffle") -> None:
        """Bring the cards into another order, count them, and begin the groups anew."""
        order = list(self.chamber)
        if mode == "shuffle":
            self._randomness.shuffle(order)
        else:
            order.sort(key=lambda card: card.face.index)
        self.chamber.reorder(order)
        for card in order:
            if card.face_up:
                self._report(BoxedCard(at_ms=self._clock()))
        self.group = 0
        self._report(ShuffleCompleted(at_ms=self._clock(), cards=self._counted(len(order)), mode=mode))

    def feed(self, reader: Reader | None) -> PlayingCard:
        """One card goes out, past the reader, into the tray. Raises ValueError when the machine cannot."""
        if self.stopped or self.jam or self.door_open or not len(self.chamber):
            msg = "the shuffler is stopped, jammed, open or empty"
            raise ValueError(msg)
        card = self.chamber[0]
        if reader is not None:
            reader.passes(card)
        self._deck.move(card, self.tray, face_up=card.face_up)
        return card

    def group_out(self) -> None:
        """The group is complete in the tray."""
        self.group += 1
        self._report(GroupReady(at_ms=self._clock(), group=self.group, cards=self._counted(len(self.tray))))

    def lift(self, to: Pile) -> tuple[PlayingCard, ...]:
        """The dealer lifts the group out of the tray."""
        cards = tuple(self.tray)
        for card in cards:
            self._deck.move(card, to, face_up=card.face_up)
        self._report(GroupTaken(at_ms=self._clock(), group=self.group))
        return cards

    def count_stub(self) -> None:
        """Count what is left in the chamber, and report it."""
        self._report(StubCounted(at_ms=self._clock(), cards=self._counted(len(self.chamber))))

    def jams(self) -> None:
        """Cards are stuck from now on."""
        self.jam = True
        self._report(Jammed(at_ms=self._clock()))

    def clear_jam(self) -> None:
        """A person has taken the jam out."""
        self.jam = False
        self._report(JamCleared(at_ms=self._clock()))

    def open_door(self) -> None:
        """A person opens the door."""
        self.door_open = True
        self._report(DoorOpened(at_ms=self._clock()))

    def close_door(self) -> None:
        """A person shuts the door."""
        self.door_open = False
        self._report(DoorClosed(at_ms=self._clock()))

    def _counted(self, cards: int) -> int:
        seen = max(0, cards + self.miscount)
        self.miscount = 0
        return seen
