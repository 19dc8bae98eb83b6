"""What a person has to do so that a device reports a fact, and which written rounds hands alone can play."""

from typing import Final

from drivers.driver import DeviceKind
from drivers.facts import (
    BoxedCard,
    CardDrawn,
    CardExposed,
    DeviceFact,
    DoorClosed,
    DoorOpened,
    GroupReady,
    GroupTaken,
    JamCleared,
    Jammed,
    Place,
    SeatCount,
    ShoeLoaded,
    ShuffleCompleted,
    StubCounted,
)
from simulator.mechanics.table import Rig
from simulator.people import incidents
from simulator.scenarios.loader import Scenario
from tests.hil.bench.reported import place_in_words

BOTH: Final[tuple[Rig, ...]] = ("group", "rotation")
BY_HAND: Final[dict[type[incidents.Incident], tuple[Rig, ...]]] = {
    incidents.ExposedCard: BOTH,
    incidents.WrongSeat: BOTH,
    incidents.LostCard: BOTH,
    incidents.OpenDoor: BOTH,
    incidents.CablePulled: BOTH,
    incidents.ForeignCard: BOTH,
    incidents.LateBet: BOTH,
    incidents.MiscountedFold: BOTH,
    incidents.ShortGroup: ("rotation",),
    incidents.LongGroup: ("rotation",),
    incidents.UnreadCard: ("rotation",),
    incidents.BoxedCard: ("rotation",),
    incidents.NotShuffled: ("rotation",),
}
"""Slips that a person can make at real machines, and in which rigs; for the others a machine has to go wrong itself."""


def kinds_of(scenario: Scenario) -> tuple[DeviceKind, ...]:
    """The devices that stand at the table of a scenario."""
    fitted = (DeviceKind.SHUFFLER, DeviceKind.SHOE)
    return (*fitted, DeviceKind.LAYOUT) if scenario.sensors else fitted


def beyond_hands(scenario: Scenario) -> str | None:
    """The incident of the scenario that no hands can make at real machines; None where there is none."""
    made = (incident for written in scenario.round for incident in written.incidents)
    beyond = next((incident for incident in made if scenario.rig not in BY_HAND.get(type(incident), ())), None)
    return None if beyond is None else str(beyond.__struct_config__.tag).replace("_", " ")


def instruction(fact: DeviceFact, place: Place | None, rig: Rig) -> str:
    """`place`: where the card or the group is to be put down."""
    there = "" if place is None else place_in_words(place)
    match fact:
        case ShuffleCompleted():
            return f"Put {fact.cards} cards into the shuffler, and let it shuffle them."
        case ShoeLoaded():
            return f"Put the shuffled cards into the shoe: {fact.cards}."
        case CardDrawn() if rig == "group":
            return f"Let the shuffler deal out the group for {there}, past the reader."
        case CardDrawn():
            how = " while its reader is covered" if fact.card is None else ""
            how = how or (", turned face up before it leaves the shoe" if fact.face == "up" else "")
            return f"Draw one card{how}, and deal it to {there}."
        case GroupReady():
            return f"Let the shuffler deal out group {fact.group}."
        case GroupTaken():
            return f"Deal group {fact.group} to {there}."
        case SeatCount(cards=0):
            return f"Take the cards at {place_in_words(fact.seat)} away."
        case SeatCount():
            return f"See that {fact.cards} cards lie at {place_in_words(fact.seat)}."
        case CardExposed():
            return f"Turn one card at {place_in_words(fact.seat)} face up."
        case StubCounted():
            return "Let the shuffler count the cards that it has left."
        case Jammed():
            return "Make the shuffler jam: hold a card back at its outlet."
        case JamCleared():
            return "Clear the jam."
        case DoorOpened():
            return "Open the shuffler's door."
        case DoorClosed():
            return "Shut the shuffler's door."
        case BoxedCard():
            return "Put one card into the shuffler the wrong way round."
        case _:
            return f"Make the device report: {type(fact).__name__}."
