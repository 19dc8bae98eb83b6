"""A journal applied once more, which is what a restart of the daemon is: `make bench`.

Rounds of a session with incidents are played in virtual time; then their facts go through a fresh core, in the order in
which they were applied. The events must be those of the session, all of them, before anything is measured.
`python -m tests.bench.replay ROUNDS` for another number of rounds than 200.
"""

import sys
from itertools import islice
from typing import Final

import msgspec

from drivers.driver import DeviceKind
from firmware_bridge.core.bridge import Bridge
from firmware_bridge.core.events import Event
from firmware_bridge.core.table_setup import TableSetup
from firmware_bridge.daemon.intake import Intake
from firmware_bridge.houses.loader import load_house
from firmware_bridge.journal.rows import Apply, Receive, Write
from simulator.mechanics.table import Rig
from simulator.mechanics.world import RandomStreams
from simulator.people.table_session import load_catalogue, table_session
from simulator.proving.virtual_table import VirtualTable
from tests.bench.turns import best_times

HOUSE: Final = "licensed"
RIGS: Final[tuple[Rig, ...]] = ("group", "rotation")
SEED: Final = 7
PLAYED: Final = 200
TURNS: Final = 5


def _play(rig: Rig, rounds: int) -> list[Write]:
    house, catalogue = load_house(HOUSE), load_catalogue()
    table = VirtualTable(house, TableSetup(deal=rig, seats=house.deal.places, sensors=True), catalogue, SEED)
    table.play(islice(table_session(catalogue, HOUSE, table.table.equipment, table.streams), rounds))
    return table.journal


class _Replay:
    """The facts of a journal in the order of their application, and what they caused."""

    def __init__(self, journal: list[Write]) -> None:
        received = {write.received: write for write in journal if isinstance(write, Receive)}
        applied = [write for write in journal if isinstance(write, Apply)]
        self.recorded: Final = [tuple(one.event for one in write.events) for write in applied]
        self._facts = [received[write.received] for write in applied]

    def run(self) -> list[tuple[Event, ...]]:
        core = Bridge(RandomStreams(SEED).token("table key", 32))
        intake = Intake(core, {kind.value: kind for kind in DeviceKind}, run="run-2")
        return [intake.replay(write.received, write.origin, write.fact) for write in self._facts]


def main() -> int:
    """Measure and print; 1 when a replay differs."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else PLAYED
    replays = {rig: _Replay(_play(rig, rounds)) for rig in RIGS}
    for rig, replay in replays.items():
        if msgspec.json.encode(replay.run()) != msgspec.json.encode(replay.recorded):
            print(f"the replay of the {rig} rig differs from what was played", file=sys.stderr)
            return 1
    times = best_times({rig: replay.run for rig, replay in replays.items()}, TURNS)
    print(f"replaying {rounds:,} rounds of house {HOUSE}, best of {TURNS} rounds")
    for rig, replay in replays.items():
        seconds = times[rig]
        facts = len(replay.recorded) / rounds
        rate = f"{rounds / seconds:7.0f} rounds/s   {seconds / rounds * 1e3:5.2f} ms a round of {facts:.0f} facts"
        print(f"  {rig:16}{rate}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
