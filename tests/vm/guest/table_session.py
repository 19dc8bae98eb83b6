"""In the guest: the written rounds of a scenario, dealt through the service that is installed there.

`python -m tests.vm.guest.table_session '{"scenario": NAME, "wires": {KIND: WIRE}, "clock": bool}'`, where a WIRE is
"adapter", "acm" or "bulk"; the last line printed is the outcome as JSON.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from firmware_bridge.core.table_setup import TableSetup
from simulator.people.script import JsonObject, Script, Until
from simulator.people.table_session import load_catalogue
from simulator.proving.bench import Bench, BenchSession
from simulator.scenarios.loader import Scenario, load_scenario
from simulator.scenarios.verdict import differences, rounds_of
from tests.vm.guest.adapters import Adapters, AdapterWire
from tests.vm.guest.gadgets import AcmWire, BulkWire, Controllers

SOCKETS_OF_SERVICE: Final = Path("/run/firmware-bridge")
JOIN_S: Final = 60.0
HOUR_S: Final = 3600


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be played, on which wires, and whether somebody sets the computer's clock meanwhile.

    `ask`: commands that somebody runs before the first round, when all machines are up.
    """

    scenario: str
    wires: dict[str, Literal["adapter", "acm", "bulk"]]
    clock: bool = False
    ask: tuple[tuple[str, ...], ...] = ()


class Wires:
    """The cables of the machines, each of its kind."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._adapters = Adapters()
        self._controllers = Controllers() if set(order.wires.values()) - {"adapter"} else None
        self.made: Final[dict[str, AdapterWire | AcmWire | BulkWire]] = {}

    def __call__(self, path: Path, on_data: Callable[[bytes], None]) -> AdapterWire | AcmWire | BulkWire:
        """As simulator.wires.wire.Wiring wants it."""
        made: AdapterWire | AcmWire | BulkWire
        kind = self._order.wires[path.name]
        if kind == "adapter" or self._controllers is None:
            made = AdapterWire(self._adapters, path, on_data)
        else:
            made = (AcmWire if kind == "acm" else BulkWire)(self._controllers, path, on_data)
        self.made[path.name] = made
        return made

    def close(self) -> None:
        for wire in self.made.values():
            wire.close()
        self._adapters.pull_all()


class Onlooker:
    """Sees every event as it is told: notes which line a machine came up on, and sets the clock if that is wanted."""

    def __init__(self, order: Order) -> None:
        self.lines: Final[dict[str, list[str]]] = {}
        self._steps_s = {"card_dealt": 5 * HOUR_S, "hand_dealt": -9 * HOUR_S, "round_settled": 4 * HOUR_S}
        if not order.clock:
            self._steps_s.clear()
        self.clock_set = 0

    def __call__(self, _line: bytes, event: JsonObject) -> None:
        name = event["event"]
        if name == "device_up":
            link = Path(f"/dev/table/adapter-TDP-{event['device'].upper()}-00")
            self.lines.setdefault(event["device"], []).append(os.path.realpath(link) if link.exists() else "")
        if name in self._steps_s:
            time.clock_settime(time.CLOCK_REALTIME, time.time() + self._steps_s.pop(name))
            self.clock_set += 1


async def deal(order: Order, folder: Path) -> dict[str, Any]:
    """What was told otherwise than written, what was refused, and where the machines were plugged in."""
    scenario = load_scenario(order.scenario)
    for name in ("control.sock", "feed.sock"):
        (folder / name).symlink_to(SOCKETS_OF_SERVICE / name)
    setup = TableSetup(deal=scenario.rig, decks=scenario.decks, seats=scenario.places, sensors=scenario.sensors)
    catalogue = load_catalogue()
    catalogue = msgspec.structs.replace(catalogue, rulings={**catalogue.rulings, **scenario.rulings})
    session = BenchSession(scenario.house, scenario.house, setup, scenario.seed, pace=0, own_daemon=False)
    wires = Wires(order)
    onlooker = Onlooker(order)
    try:
        async with Bench(session, catalogue, folder, onlooker, wires) as bench:
            await bench.join(JOIN_S)
            await bench.perform(everything_up(bench))
            answers = [await ran(command) for command in order.ask]
            for written in scenario.played():
                await bench.perform(bench.dealer.play(written))
    finally:
        wires.close()
    return {
        "wrong": wrong(scenario, bench.screen.events),
        "refused": [str(refusal) for real in bench.truth.rounds for refusal in real.refusals],
        "sockets": {name: wire.sockets for name, wire in wires.made.items()},
        "lines": onlooker.lines,
        "answers": answers,
        "clock_set": onlooker.clock_set,
        "events": [event["event"] for event in bench.screen.events],
    }


async def ran(command: tuple[str, ...]) -> tuple[int | None, str]:
    """Status and output; the machines go on meanwhile."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=asyncio.subprocess.STDOUT)
    out, _ = await process.communicate()
    return process.returncode, out.decode(errors="replace")


def everything_up(bench: Bench) -> Script:
    devices = {kind.value for kind in bench.table.devices}
    yield Until(lambda: devices <= bench.screen.up, f"{sorted(devices)} to be up")


def wrong(scenario: Scenario, events: list[JsonObject]) -> list[str]:
    rounds = [told for number, told in sorted(rounds_of(events).items()) if number]
    if len(rounds) != len(scenario.round):
        return [f"{len(scenario.round)} rounds were dealt, {len(rounds)} were told"]
    played = zip(scenario.round, rounds, strict=True)
    return [said for written, told in played for said in differences(written.expect, told)]


def main(order: str) -> None:
    with tempfile.TemporaryDirectory(prefix="table-") as folder:
        print(json.dumps(asyncio.run(deal(msgspec.json.decode(order, type=Order), Path(folder)))))
    sys.stdout.flush()
    os._exit(0)  # threads may still wait at endpoints of devices that are gone


if __name__ == "__main__":
    main(sys.argv[1])
