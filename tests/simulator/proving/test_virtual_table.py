"""The real drivers, intake and core in virtual time, against the truth."""

from itertools import islice

import msgspec
import pytest

from firmware_bridge.core.table_setup import TableSetup
from firmware_bridge.houses.loader import load_house
from simulator.mechanics.table import Rig
from simulator.oracle.comparison import disagreements
from simulator.people.table_session import load_catalogue, table_session
from simulator.proving.virtual_table import VirtualTable


def played(
    house: str, rig: Rig, rounds: int, seed: int, *, sensors: bool = True, incidents: bool = True
) -> VirtualTable:
    catalogue = load_catalogue()
    if not incidents:
        catalogue = msgspec.structs.replace(catalogue, incident_chance=0)
    rules = load_house(house)
    setup = TableSetup(deal=rig, seats=rules.deal.places, sensors=sensors)
    table = VirtualTable(rules, setup, catalogue, seed)
    table.play(islice(table_session(catalogue, house, table.table.equipment, table.streams), rounds))
    return table


@pytest.mark.parametrize("sensors", [True, False], ids=["sensed", "unsensed"])
@pytest.mark.parametrize("rig", ["group", "rotation"])
@pytest.mark.parametrize("house", ["licensed", "six-card", "player-dealer", "classic"])
def test_clean_rounds_are_told_as_they_were(house: str, rig: Rig, sensors: bool) -> None:  # noqa: FBT001
    table = played(house, rig, 8, 11, sensors=sensors, incidents=False)
    assert list(disagreements(table.truth, table.screen.events)) == []
    assert all(real.revealed for real in table.truth.rounds)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("rig", ["group", "rotation"])
def test_a_session_with_slips_is_told_as_it_was(rig: Rig, seed: int) -> None:
    table = played("licensed", rig, 25, seed)
    assert any(real.incidents for real in table.truth.rounds)
    assert list(disagreements(table.truth, table.screen.events)) == []


def test_the_same_seed_gives_the_same_bytes() -> None:
    first, second = (played("licensed", "group", 10, 4) for _ in range(2))
    assert msgspec.json.encode(first.feed) == msgspec.json.encode(second.feed)
    assert first.journal == second.journal


def test_no_card_is_lost_by_the_hands_at_the_table() -> None:
    table = played("licensed", "group", 20, 9)
    assert table.table.deck.misplaced() == ()


def test_nothing_is_thrown_away_on_good_wires() -> None:
    counters = played("licensed", "group", 5, 3).counters
    assert counters["bad_crc"] == counters["overlong_frames"] == counters["repeated_frames"] == 0


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("rig", ["group", "rotation"])
def test_a_thousand_rounds(rig: Rig) -> None:
    table = played("licensed", rig, 1000, 77)
    assert list(disagreements(table.truth, table.screen.events)) == []
