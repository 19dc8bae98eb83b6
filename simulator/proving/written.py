"""What a written round means to the daemon: its table, its people, and whether the feed tells what must be true."""

from collections.abc import Sequence

import msgspec

from firmware_bridge.core.table_setup import TableSetup
from simulator.people.incidents import CablePulled
from simulator.people.script import JsonObject
from simulator.people.table_session import Catalogue, load_catalogue
from simulator.scenarios.loader import Scenario
from simulator.scenarios.verdict import differences, rounds_of


def setup_of(scenario: Scenario) -> TableSetup:
    """The table's setup that the round is written for."""
    return TableSetup(deal=scenario.rig, decks=scenario.decks, seats=scenario.places, sensors=scenario.sensors)


def catalogue_of(scenario: Scenario) -> Catalogue:
    """The simulator's, with the rulings of this scenario's floor."""
    catalogue = load_catalogue()
    return msgspec.structs.replace(catalogue, rulings={**catalogue.rulings, **scenario.rulings})


def pulls_cables(scenario: Scenario) -> bool:
    """A device then tells late what happened meanwhile: hands have to be as slow as hands, or times are too close."""
    return any(isinstance(incident, CablePulled) for written in scenario.round for incident in written.incidents)


def mistakes(scenario: Scenario, events: Sequence[JsonObject]) -> list[str]:
    """One sentence for each thing that the feed tells otherwise than is written, all rounds together."""
    rounds = rounds_of(events)
    return [
        f"round {number}: {said}"
        for number, written in enumerate(scenario.round, start=1)
        for said in differences(written.expect, rounds.get(number, []))
    ]
