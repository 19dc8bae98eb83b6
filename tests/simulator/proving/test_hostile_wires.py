"""Bad cables cost time, never a card."""

import random
from itertools import islice

import pytest

from firmware_bridge.core.table_setup import TableSetup
from firmware_bridge.houses.loader import load_house
from simulator.oracle.comparison import disagreements
from simulator.people.table_session import load_catalogue, table_session
from simulator.proving.virtual_table import VirtualTable
from simulator.wires.faults import Noise, noisy

HOSTILE = {
    "lossy": (Noise(lost=0.05), ()),
    "doubling": (Noise(doubled=0.3), ("repeated_frames",)),
    "flipping": (Noise(flipped=0.05), ("bad_crc",)),
    "junk": (Noise(junk=0.1), ("bad_crc",)),
    "one byte at a time": (Noise(crumbled=1), ()),
    "all at once": (
        Noise(lost=0.03, doubled=0.05, flipped=0.03, junk=0.05, crumbled=0.2),
        ("repeated_frames", "bad_crc"),
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_nothing_is_lost_or_doubled(kind: str) -> None:
    noise, counted = HOSTILE[kind]
    catalogue, house = load_catalogue(), load_house("licensed")
    table = VirtualTable(
        house, TableSetup(deal="group", sensors=True), catalogue, 5, fault=noisy(noise, random.Random(kind))
    )
    table.play(islice(table_session(catalogue, "licensed", table.table.equipment, table.streams), 6))
    assert list(disagreements(table.truth, table.screen.events)) == []
    assert all(table.counters[reason] for reason in counted)
