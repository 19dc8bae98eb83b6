"""A daemon killed with -9, again and again within one round, has the record of one that nobody disturbed."""

import asyncio
import re
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest

from firmware_bridge.core.table_setup import TableSetup
from firmware_bridge.journal.store import Store
from simulator.mechanics.table import Rig
from simulator.people.script import JsonObject, Step, Tell
from simulator.people.table_session import load_catalogue, table_session
from simulator.proving.bench import Bench, BenchSession

ROUNDS = 2
KILLS = 10
CARD = re.compile(r"\b[2-9TJQKA][cdhs]\b")
ABOUT_LINKS = ("device_up", "device_down")


class StruckBench(Bench):
    """Kills the daemon in the middle of the steps in `strikes`: a request unanswered, or facts on the wire."""

    strikes: Collection[int] = ()
    steps = 0
    killed = 0

    async def _do(self, step: Step) -> JsonObject:
        self.steps += 1
        if self.steps not in self.strikes:
            return await super()._do(step)
        self.killed += 1
        # From at once to when the daemon is likely to be done: another instant each time.
        wait_s = self.killed % 5 * 0.002
        if isinstance(step, Tell):
            request = {"id": f"struck-{self.killed}", "actor": step.actor, "fact": dict(step.fact)}
            async with self._line() as line:
                await line.say(request)
                await asyncio.sleep(wait_s)
                await self.kill_daemon()
            async with self._line() as line:
                await line.say(request)
                return await line.hear()
        await asyncio.sleep(wait_s)
        await self.kill_daemon()
        return await super()._do(step)

    @asynccontextmanager
    async def _line(self) -> AsyncIterator["Line"]:
        reader, writer = await asyncio.open_unix_connection(self._folder / "control.sock")
        try:
            yield Line(reader, writer)
        finally:
            writer.close()


class Line:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def say(self, request: dict[str, Any]) -> None:
        self._writer.write(msgspec.json.encode(request) + b"\n")
        await self._writer.drain()

    async def hear(self) -> JsonObject:
        answer: JsonObject = msgspec.json.decode(await self._reader.readline())
        return answer


async def play(folder: Path, rig: Rig, strikes: Collection[int]) -> StruckBench:
    catalogue = msgspec.structs.replace(load_catalogue(), incident_chance=0)
    setup = TableSetup(deal=rig, sensors=True)
    bench = StruckBench(BenchSession("licensed", "licensed", setup, seed=7, pace=0), catalogue, folder)
    bench.strikes = strikes
    async with bench:
        for written in islice(table_session(catalogue, "licensed", bench.table.equipment, bench.streams), ROUNDS):
            await bench.perform(bench.dealer.play(written))
    return bench


def record(folder: Path) -> list[dict[str, Any]]:
    """Every event of the journal, without its times and numbers, and without what is told of links."""
    store = Store.open(folder / "table.journal", None, read_only=True)
    try:
        stored = store.events_after(0, 100_000)
    finally:
        store.close()
    assert [seq for seq, _ in stored] == list(range(1, len(stored) + 1))
    events: list[dict[str, Any]] = [msgspec.json.decode(body) for _, body in stored]
    told = [event for event in events if event["event"] not in ABOUT_LINKS]
    return [{name: value for name, value in event.items() if name not in ("seq", "at_ms")} for event in told]


@pytest.mark.real
@pytest.mark.parametrize("rig", ["group", pytest.param("rotation", marks=pytest.mark.long)])
async def test_ten_kills_in_a_round_lose_and_double_nothing(tmp_path: Path, rig: Rig) -> None:
    (tmp_path / "undisturbed").mkdir()
    (tmp_path / "killed").mkdir()
    undisturbed = await play(tmp_path / "undisturbed", rig, ())
    first_step = len(undisturbed.table.devices) + 1
    spread = (undisturbed.steps // ROUNDS - first_step) / KILLS
    strikes = {first_step + round(number * spread) for number in range(KILLS)}
    killed = await play(tmp_path / "killed", rig, strikes)
    assert killed.killed == KILLS
    settled = record(tmp_path / "undisturbed")
    assert sum(event["event"] == "round_settled" for event in settled) == ROUNDS
    assert record(tmp_path / "killed") == settled
    log = (tmp_path / "killed" / "daemon.log").read_text()
    assert log.count('"ready"') == KILLS + 1
    assert not CARD.findall(log)
