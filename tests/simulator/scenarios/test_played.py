"""The written rounds, each in virtual time and on ptys with the real daemon."""

from pathlib import Path

import pytest

from firmware_bridge.houses.loader import load_house
from simulator.proving.bench import Bench, BenchSession
from simulator.proving.virtual_table import VirtualTable
from simulator.proving.written import catalogue_of, mistakes, pulls_cables, setup_of
from simulator.scenarios.loader import load_scenario, scenario_names


@pytest.mark.parametrize("name", scenario_names())
def test_in_virtual_time(name: str) -> None:
    scenario = load_scenario(name)
    table = VirtualTable(load_house(scenario.house), setup_of(scenario), catalogue_of(scenario), scenario.seed)
    table.play(scenario.played())
    assert mistakes(scenario, table.screen.events) == []
    assert [refusal for real in table.truth.rounds for refusal in real.refusals] == []


@pytest.mark.real
@pytest.mark.parametrize("name", scenario_names())
async def test_on_ptys(name: str, tmp_path: Path) -> None:
    scenario = load_scenario(name)
    pace = 0.5 if pulls_cables(scenario) else 0
    session = BenchSession(scenario.house, scenario.house, setup_of(scenario), scenario.seed, pace=pace)
    async with Bench(session, catalogue_of(scenario), tmp_path) as bench:
        for written in scenario.played():
            await bench.perform(bench.dealer.play(written))
        assert mistakes(scenario, bench.screen.events) == []
        assert [refusal for real in bench.truth.rounds for refusal in real.refusals] == []
