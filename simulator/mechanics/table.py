"""One simulated table: the deck and the machines that handle it, and the wires their sensors report on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from drivers.cards import Card
from drivers.driver import DeviceKind
from drivers.facts import DeviceFact, Place
from simulator.mechanics.deck import Deck, Pile, PlayingCard
from simulator.mechanics.layout import Layout
from simulator.mechanics.shoe import Shoe
from simulator.mechanics.shuffler import Shuffler
from simulator.mechanics.world import RandomStreams

Rig: TypeAlias = Literal["group", "rotation"]


@dataclass(frozen=True, slots=True)
class Equipment:
    """What stands at the table. `seats` counts the places of players."""

    rig: Rig
    seats: int = 7
    decks: int = 1
    sensors: bool = True


class SimulatedTable:
    """Machines report their facts to `report(kind, fact)`, which a firmware listens to."""

    def __init__(
        self,
        equipment: Equipment,
        streams: RandomStreams,
        clock: Callable[[], int],
        report: Callable[[DeviceKind, DeviceFact], None],
    ) -> None:
        self.equipment: Final = equipment
        self.streams: Final = streams
        self.deck: Final = Deck(equipment.decks)
        self.shuffler: Final = Shuffler(
            self.deck, clock, lambda fact: report(DeviceKind.SHUFFLER, fact), streams.stream("shuffler")
        )
        self.shoe: Final = Shoe(self.deck, clock, lambda fact: report(DeviceKind.SHOE, fact))
        self.layout: Final = Layout(
            self.deck,
            equipment.seats,
            clock,
            lambda fact: report(DeviceKind.LAYOUT, fact),
            sensors=equipment.sensors,
        )
        self.rack: Final[Pile] = self.deck.pile("discard rack")
        self.hand: Final[Pile] = self.deck.pile("dealer's hand")
        self.away: Final[Pile] = self.deck.pile("out of the game")

    @property
    def devices(self) -> tuple[DeviceKind, ...]:
        """The devices that are fitted, in the order they are switched on."""
        fitted = (DeviceKind.SHUFFLER, DeviceKind.SHOE)
        return (*fitted, DeviceKind.LAYOUT) if self.equipment.sensors else fitted

    @property
    def dispensing(self) -> Pile:
        """The pile that the cards of a round come from."""
        return self.shuffler.chamber if self.equipment.rig == "group" else self.shoe.pile

    def cards_at(self, place: Place) -> tuple[Card, ...]:
        """What truly lies at that place, bottom first."""
        return self.layout.places[place].faces

    def smuggle_in_a_duplicate(self) -> PlayingCard:
        """A card of another deck takes the place of one in the rack: the number stays right."""
        randomness = self.streams.stream("smuggler")
        missing, twin = randomness.sample(list(self.rack), 2)
        self.deck.move(missing, self.away)
        foreign = PlayingCard(twin.face, foreign=True)
        self.deck.add(foreign, self.rack)
        return foreign

    def lose_a_card(self) -> PlayingCard:
        """One card of the rack falls under the table."""
        lost = self.streams.stream("floor").choice(list(self.rack))
        self.deck.move(lost, self.away)
        return lost

    def put_deck_right(self) -> None:
        """Foreign cards go out, lost ones come back. All cards of the game must lie in the rack."""
        for card in self.rack:
            if card.foreign:
                self.deck.move(card, self.away)
        for card in self.away:
            if not card.foreign:
                self.deck.move(card, self.rack)

    def collect(self) -> None:
        """Everything that lies on the table or in a machine goes into the rack."""
        for pile in self.deck.piles:
            if pile not in (self.rack, self.away):
                self.deck.move_all(pile, self.rack)
