"""Feeds that stay byte for byte: what they were made from, and how they are made again.

A recording is text: one head line (JSON: house, table, key), then each fact as the core got it (`> `) and each event it
caused (`< `). `python -m tests.golden.recorded` makes all of them again and names those that changed; a change of an
event is a decision, and the new hash in SHA256SUMS shows it in review.
"""

import hashlib
import lzma
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from firmware_bridge.core.bridge import Bridge
from firmware_bridge.core.facts import read_fact
from firmware_bridge.core.table_setup import TableSetup
from firmware_bridge.houses.loader import load_house
from firmware_bridge.journal.rows import Apply, Receive, event_body, fact_body
from simulator.mechanics.table import Rig
from simulator.people.table_session import load_catalogue, table_session
from simulator.proving.virtual_table import VirtualTable
from simulator.proving.written import catalogue_of, setup_of
from simulator.scenarios.loader import load_scenario, scenario_names

FOLDER: Final = Path(__file__).with_name("feeds")
SUMS: Final = Path(__file__).with_name("SHA256SUMS")
ROUNDS: Final = 50
WRITTEN: Final = "written-rounds"


@dataclass(frozen=True, slots=True)
class RandomSession:
    """Rounds with incidents, drawn from a seed."""

    house: str
    rig: Rig
    seed: int
    sensors: bool

    @property
    def name(self) -> str:
        return f"{self.house}-{self.rig}"

    def recorded(self) -> str:
        """Its recording."""
        house, catalogue = load_house(self.house), load_catalogue()
        setup = TableSetup(deal=self.rig, seats=house.deal.places, sensors=self.sensors)
        table = VirtualTable(house, setup, catalogue, self.seed)
        table.play(islice(table_session(catalogue, self.house, table.table.equipment, table.streams), ROUNDS))
        return _text(table, self.name)


SESSIONS: Final = tuple(
    RandomSession(house, rig, seed, sensors=(number + turned) % 2 == 0)
    for number, house in enumerate(("classic", "licensed", "six-card", "player-dealer"))
    for turned, rig in enumerate[Rig](("group", "rotation"))
    for seed in (101 + 2 * number + turned,)
)
NAMES: Final = (*(session.name for session in SESSIONS), WRITTEN)


class Head(msgspec.Struct, frozen=True):
    """`key`: the table's key in hexadecimal digits, from which the salts of the commitments are made."""

    recording: str
    key: str


def made(name: str) -> str:
    """The recording of that name, played anew."""
    if name == WRITTEN:
        return "".join(_written_round(scenario) for scenario in scenario_names())
    return next(session for session in SESSIONS if session.name == name).recorded()


def stored(name: str) -> str:
    """The recording of that name as it lies in the repository."""
    return lzma.decompress(_file(name).read_bytes()).decode()


def replayed(text: str) -> Iterator[str]:
    """The lines of a recording, its events told anew by a fresh core from the facts in it."""
    core = Bridge(b"")
    for line in text.splitlines():
        if line.startswith("{"):
            core = Bridge(bytes.fromhex(msgspec.json.decode(line, type=Head).key))
            yield line
        elif line.startswith("> "):
            yield line
            yield from (f"< {event_body(event).decode()}" for event in core.apply(read_fact(line[2:].encode())))


def sums() -> dict[str, str]:
    """SHA-256 of each recording's text, as listed."""
    return {name: digest for digest, name in (line.split() for line in SUMS.read_text().splitlines())}


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _written_round(name: str) -> str:
    scenario = load_scenario(name)
    table = VirtualTable(load_house(scenario.house), setup_of(scenario), catalogue_of(scenario), scenario.seed)
    table.play(scenario.played())
    return _text(table, name)


def _text(table: VirtualTable, name: str) -> str:
    received = {write.received: write for write in table.journal if isinstance(write, Receive)}
    at_ms = 0
    lines = [msgspec.json.encode(Head(name, table.table_key.hex())).decode()]
    for write in table.journal:
        if isinstance(write, Apply):
            fact = received[write.received].fact
            at_ms = max(at_ms, fact.at_ms)  # the core's time does not run backwards: intake sees to that
            lines.append(f"> {fact_body(msgspec.structs.replace(fact, at_ms=at_ms)).decode()}")
            lines += [f"< {one.body.decode()}" for one in write.events]
    return "\n".join(lines) + "\n"


def _file(name: str) -> Path:
    return FOLDER / f"{name}.jsonl.xz"


def main() -> int:
    """Write all recordings; print what became of each."""
    before, after = (sums() if SUMS.exists() else {}), {}
    FOLDER.mkdir(exist_ok=True)
    for name in NAMES:
        text = made(name)
        after[name] = sha256(text)
        if before.get(name) != after[name] or not _file(name).exists():
            _file(name).write_bytes(lzma.compress(text.encode(), preset=9))
        print(f"{name:24}{'as before' if before.get(name) == after[name] else 'changed'}")
    SUMS.write_text("".join(f"{after[name]}  {name}\n" for name in sorted(after)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
