"""The written rounds, each in virtual time and on ptys with the real daemon."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from firmware_bridge.houses.loader import load_house
from firmware_bridge.setup import TableSetup
from simulator.evening import Catalogue, load_catalogue
from simulator.proving.bench import Bench, Evening
from simulator.proving.virtual import VirtualTable
from simulator.scenarios.loader import Scenario, load_scenario, scenario_names
from simulator.scenarios.verdict import differences, rounds_of
from simulator.slips import CablePulled
from simulator.steps import Told


def setup_of(scenario: Scenario) -> TableSetup:
    return TableSetup(deal=scenario.rig, decks=scenario.decks, seats=scenario.places, sensors=scenario.sensors)


def catalogue_of(scenario: Scenario) -> Catalogue:
    catalogue = load_catalogue()
    return msgspec.structs.replace(catalogue, rulings={**catalogue.rulings, **scenario.rulings})


def pace_of(scenario: Scenario) -> float:
    """No time at all, unless a device reports later what happened meanwhile: then hands have to be as slow as hands."""
    cables = any(isinstance(slip, CablePulled) for written in scenario.round for slip in written.slips)
    return 0.5 if cables else 0


def judge(scenario: Scenario, events: Sequence[Told]) -> list[str]:
    rounds = rounds_of(events)
    return [
        f"round {number}: {said}"
        for number, written in enumerate(scenario.round, start=1)
        for said in differences(written.expect, rounds.get(number, []))
    ]


@pytest.mark.parametrize("name", scenario_names())
def test_in_virtual_time(name: str) -> None:
    scenario = load_scenario(name)
    table = VirtualTable(load_house(scenario.house), setup_of(scenario), catalogue_of(scenario), scenario.seed)
    table.play(scenario.played())
    assert judge(scenario, table.screen.events) == []
    assert [refusal for real in table.truth.rounds for refusal in real.refusals] == []


@pytest.mark.real
@pytest.mark.parametrize("name", scenario_names())
async def test_on_ptys(name: str, tmp_path: Path) -> None:
    scenario = load_scenario(name)
    evening = Evening(scenario.house, scenario.house, setup_of(scenario), scenario.seed, pace=pace_of(scenario))
    async with Bench(evening, catalogue_of(scenario), tmp_path) as bench:
        for written in scenario.played():
            await bench.perform(bench.dealer.play(written))
        assert judge(scenario, bench.screen.events) == []
        assert [refusal for real in bench.truth.rounds for refusal in real.refusals] == []
