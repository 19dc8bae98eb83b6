"""Written rounds: what is dealt and goes wrong, and what must be true at the end. README.md explains the format."""

import tomllib
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Annotated, Any, Final, Literal

import msgspec

from drivers.cards import Card
from drivers.facts import Place
from simulator.mechanics.table import Rig
from simulator.people.dealer import PlayedRound
from simulator.people.floor import FloorRuling
from simulator.people.incidents import AnyIncident

Money = Annotated[int, msgspec.Meta(ge=0)]
SeatName = Annotated[str, msgspec.Meta(pattern=r"^([1-9][0-9]?)$")]
PlaceName = Annotated[str, msgspec.Meta(pattern=r"^([1-9][0-9]?|dealer)$")]
DEALERS_PLACE: Final = "dealer"


class ScenarioError(ValueError):
    """A scenario cannot be used; one sentence with its file and what is wrong."""


class Written(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of a written round's file: a key that is not known is refused."""


class ExpectedFlag(Written, frozen=True, kw_only=True):
    """`seat` is left out where the irregularity is nobody's."""

    irregularity: str
    ruling: str
    seat: Place | None = None


class Expectation(Written, frozen=True, kw_only=True):
    """What must be true when the round is over; what is left out is not looked at, but flags, holds and lost devices
    are all of them.

    `verdicts`: ok (shown, and all its cards known), unread (shown with an unknown card) or misdeal (wagers returned).
    `payments`: "WAGER RESULT PAID" in the house's order. `held`: irregularities that held the round, in order.
    """

    outcome: Literal["dealt", "void", "held"]
    reason: str | None = None
    flags: tuple[ExpectedFlag, ...] = ()
    held: tuple[str, ...] = ()
    verdicts: dict[PlaceName, Literal["ok", "unread", "misdeal"]] = {}
    evidence: dict[PlaceName, Literal["sensed", "checked", "taken", "order"]] = {}
    qualifies: bool | None = None
    payments: dict[SeatName, tuple[str, ...]] = {}
    net: dict[SeatName, int] = {}
    player_dealer_net: int | None = None
    alarms: tuple[str, ...] = ()
    devices_lost: tuple[str, ...] = ()


class Position(Written, frozen=True, kw_only=True):
    """The seat that holds the player-dealer position, and what it wagers there."""

    seat: Annotated[int, msgspec.Meta(ge=1)]
    wager: Money


class WrittenRound(Written, frozen=True, kw_only=True):
    """`cards`: three or more cards of a place as they come out, "Qs Qd 4h". `decisions`: against the dividing line."""

    wagers: dict[SeatName, dict[str, Money]]
    cards: dict[PlaceName, str] = {}
    decisions: dict[SeatName, Literal["play", "fold"]] = {}
    position: Position | None = None
    incidents: tuple[AnyIncident, ...] = ()
    expect: Expectation


class Scenario(Written, frozen=True, kw_only=True):
    """`places` counts the seats of the table. `rulings` are what the floor rules here otherwise than usual."""

    title: str
    says: str
    house: str
    rig: Rig
    places: Annotated[int, msgspec.Meta(ge=1, le=14)] = 7
    sensors: bool = True
    decks: Annotated[int, msgspec.Meta(ge=1, le=8)] = 1
    seed: int = 1
    rulings: dict[str, FloorRuling] = {}
    round: Annotated[tuple[WrittenRound, ...], msgspec.Meta(min_length=1)]

    def played(self) -> Iterator[PlayedRound]:
        """The rounds as a dealer plays them."""
        for written in self.round:
            yield PlayedRound(
                wagers={int(seat): wagers for seat, wagers in written.wagers.items()},
                incidents=written.incidents,
                stacked={place_of(place): cards_of(text) for place, text in written.cards.items()},
                decisions={int(seat): answer == "play" for seat, answer in written.decisions.items()},
                position=None if written.position is None else (written.position.seat, written.position.wager),
            )


def place_of(name: str) -> Place:
    """The place of that name: "dealer", or a seat's number."""
    return DEALERS_PLACE if name == DEALERS_PLACE else int(name)


def cards_of(text: str) -> tuple[Card, ...]:
    """Raises ValueError for a word that is no card."""
    return tuple(Card(word) for word in text.split())


def scenario_names() -> tuple[str, ...]:
    """All that come with the simulator, in alphabetical order."""
    files = (file.name for file in _folder().iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml")))


def load_scenario(name: str) -> Scenario:
    """One of those that come with the simulator. Raises ScenarioError."""
    file = _folder().joinpath(f"{name}.toml")
    if not file.is_file():
        raise ScenarioError(f"There is no scenario {name}: name one of {', '.join(scenario_names())}.")
    return read_scenario(file.read_text(encoding="utf-8"), f"{name}.toml")


def read_scenario(text: str, file: str) -> Scenario:
    """`file` names it in sentences. Raises ScenarioError."""
    try:
        tree: dict[str, Any] = tomllib.loads(text)
        scenario = msgspec.convert(tree, Scenario)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{file} is not TOML: {error}.") from error
    except msgspec.ValidationError as error:
        raise ScenarioError(f"{file} is not a scenario: {error}.") from error
    for number, written in enumerate(scenario.round, start=1):
        _check(scenario, written, f"{file}, round {number}")
    return scenario


def _check(scenario: Scenario, written: WrittenRound, where: str) -> None:
    seats = [int(seat) for seat in written.wagers]
    if not seats:
        raise ScenarioError(f"{where} has no wagers: somebody has to play.")
    if max(seats) > scenario.places:
        raise ScenarioError(f"{where} has wagers at seat {max(seats)}, and the table has {scenario.places} places.")
    position = written.position
    if position is not None and (position.seat in seats or position.seat > scenario.places):
        raise ScenarioError(f"{where} has the position at seat {position.seat}: it needs a place with no other wager.")
    dealt: list[Card] = []
    for place, text in written.cards.items():
        if place_of(place) not in (*seats, DEALERS_PLACE):
            raise ScenarioError(f"{where} has cards for {place}, where nobody has wagered.")
        try:
            dealt += cards_of(text)
        except ValueError:
            raise ScenarioError(f'{where} has cards "{text}" for {place}: write them like "Qs Qd 4h".') from None
    twice = next((card for card in dealt if dealt.count(card) > scenario.decks), None)
    if twice is not None:
        raise ScenarioError(f"{where} deals {twice} more often than there are decks.")
    for incident in written.incidents:
        place = getattr(incident, "place", DEALERS_PLACE)
        if place not in (*seats, DEALERS_PLACE):
            raise ScenarioError(f"{where} has an incident at seat {place}, where nobody has wagered.")


def _folder() -> Traversable:
    return resources.files("simulator.scenarios")
