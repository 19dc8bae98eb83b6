"""A session at a table: who sits there, what they wager and what goes wrong, drawn from one seed and a catalogue."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Annotated, Final, Literal, TypeAlias

import msgspec

from drivers.facts import Place
from simulator.mechanics.table import Equipment, Rig
from simulator.mechanics.world import RandomStreams
from simulator.people.dealer import PlayedRound
from simulator.people.floor import FloorRuling
from simulator.people.incidents import AnyIncident
from simulator.people.players import Chance, Crowd, Custom, wagers

CARDS_OF_A_HAND: Final = 3
HANDS_IN_POSITION: Final = 2
IncidentPlace: TypeAlias = Literal["player", "dealer"]


class CatalogueIncident(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`incident`: its name in simulator.people.incidents. `at` is empty for incidents that have no place."""

    incident: str
    weight: Annotated[int, msgspec.Meta(ge=1)]
    at: tuple[IncidentPlace, ...] = ()
    rigs: tuple[Rig, ...] = ("group", "rotation")


class Catalogue(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """catalogue.toml: incidents, the floor's rulings, and customs by the name of the house."""

    incident_chance: Chance
    incidents: tuple[CatalogueIncident, ...]
    rulings: dict[str, FloorRuling]
    customs: dict[str, Custom]

    def custom(self, house: str) -> Custom:
        """How people wager there; a house that the catalogue does not know has the custom "any"."""
        return self.customs.get(house, self.customs["any"])


def load_catalogue() -> Catalogue:
    """The incidents and how often each happens, from catalogue.toml."""
    text = resources.files("simulator.people").joinpath("catalogue.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=Catalogue)


@dataclass(slots=True)
class Button:
    """Who holds the position: each seat for two hands, then the next one clockwise."""

    holder: int = 0
    hands: int = 0

    def next_holder(self, seated: tuple[int, ...]) -> int:
        """Who is the player-dealer in the next round: the same seat until its hands are over, then the next."""
        if self.holder not in seated or self.hands == HANDS_IN_POSITION:
            self.holder = next((seat for seat in seated if seat > self.holder), seated[0])
            self.hands = 0
        self.hands += 1
        return self.holder


def table_session(
    catalogue: Catalogue, house: str, equipment: Equipment, streams: RandomStreams
) -> Iterator[PlayedRound]:
    """Rounds without end; the same ones for the same seed."""
    custom = catalogue.custom(house)
    crowd = Crowd(streams.stream("seats"), tuple(range(1, equipment.seats + 1)))
    button = Button()
    while True:
        seated = crowd.sit_down()
        position: tuple[int, int] | None = None
        if custom.player_dealer:
            holder = button.next_holder(seated)
            seated = tuple(seat for seat in seated if seat != holder)
            position = (holder, 500 * streams.stream("position").randint(4, 20))
        yield PlayedRound(
            wagers={seat: wagers(custom, streams.stream("wagers")) for seat in seated},
            incidents=_incidents(catalogue, equipment.rig, (*seated, "dealer"), streams),
            position=position,
        )


def _incidents(
    catalogue: Catalogue, rig: Rig, places: tuple[Place, ...], streams: RandomStreams
) -> tuple[AnyIncident, ...]:
    randomness = streams.stream("slips")
    if randomness.random() >= catalogue.incident_chance:
        return ()
    possible = [entry for entry in catalogue.incidents if rig in entry.rigs]
    drawn = randomness.choices(possible, [entry.weight for entry in possible])[0]
    told: dict[str, object] = {"incident": drawn.incident}
    if drawn.at:
        who = randomness.choice(drawn.at)
        told["place"] = randomness.choice(places[:-1]) if who == "player" else "dealer"
    if drawn.incident in ("exposed_card", "unread_card", "boxed_card"):
        told["index"] = randomness.randint(1, CARDS_OF_A_HAND)
    return (msgspec.convert(told, AnyIncident),)
