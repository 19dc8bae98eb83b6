"""An evening at a table: who sits there, what they wager and what goes wrong, drawn from one seed and a catalogue."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Annotated, Final, Literal, TypeAlias

import msgspec

from drivers.facts import Place
from simulator.mechanics.table import Furniture, Rig
from simulator.mechanics.world import Chances
from simulator.people.dealer import PlayedRound
from simulator.people.floor import FloorRuling
from simulator.people.incidents import AnySlip
from simulator.people.players import Chance, Crowd, Custom, wagers

CARDS_OF_A_HAND: Final = 3
HANDS_IN_POSITION: Final = 2
SlipPlace: TypeAlias = Literal["player", "dealer"]


class CatalogueSlip(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`slip`: its name in simulator.people.incidents. `at` is empty for slips that have no place."""

    slip: str
    weight: Annotated[int, msgspec.Meta(ge=1)]
    at: tuple[SlipPlace, ...] = ()
    rigs: tuple[Rig, ...] = ("group", "rotation")


class Catalogue(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """catalogue.toml: slips, the floor's rulings, and customs by the name of the house."""

    slip_chance: Chance
    slips: tuple[CatalogueSlip, ...]
    rulings: dict[str, FloorRuling]
    customs: dict[str, Custom]

    def custom(self, house: str) -> Custom:
        """How people wager there; a house that the catalogue does not know has the custom "any"."""
        return self.customs.get(house, self.customs["any"])


def load_catalogue() -> Catalogue:
    text = resources.files("simulator.people").joinpath("catalogue.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=Catalogue)


@dataclass(slots=True)
class Button:
    """Who holds the position: each seat for two hands, then the next one clockwise."""

    holder: int = 0
    hands: int = 0

    def next_holder(self, seated: tuple[int, ...]) -> int:
        if self.holder not in seated or self.hands == HANDS_IN_POSITION:
            self.holder = next((seat for seat in seated if seat > self.holder), seated[0])
            self.hands = 0
        self.hands += 1
        return self.holder


def evening(catalogue: Catalogue, house: str, furniture: Furniture, chances: Chances) -> Iterator[PlayedRound]:
    """Rounds without end; the same ones for the same seed."""
    custom = catalogue.custom(house)
    crowd = Crowd(chances.stream("seats"), tuple(range(1, furniture.seats + 1)))
    button = Button()
    while True:
        seated = crowd.sit_down()
        position: tuple[int, int] | None = None
        if custom.player_dealer:
            holder = button.next_holder(seated)
            seated = tuple(seat for seat in seated if seat != holder)
            position = (holder, 500 * chances.stream("position").randint(4, 20))
        yield PlayedRound(
            wagers={seat: wagers(custom, chances.stream("wagers")) for seat in seated},
            slips=_slips(catalogue, furniture.rig, (*seated, "dealer"), chances),
            position=position,
        )


def _slips(catalogue: Catalogue, rig: Rig, places: tuple[Place, ...], chances: Chances) -> tuple[AnySlip, ...]:
    randomness = chances.stream("slips")
    if randomness.random() >= catalogue.slip_chance:
        return ()
    possible = [entry for entry in catalogue.slips if rig in entry.rigs]
    drawn = randomness.choices(possible, [entry.weight for entry in possible])[0]
    told: dict[str, object] = {"slip": drawn.slip}
    if drawn.at:
        who = randomness.choice(drawn.at)
        told["place"] = randomness.choice(places[:-1]) if who == "player" else "dealer"
    if drawn.slip in ("exposed_card", "unread_card", "boxed_card"):
        told["index"] = randomness.randint(1, CARDS_OF_A_HAND)
    return (msgspec.convert(told, AnySlip),)
