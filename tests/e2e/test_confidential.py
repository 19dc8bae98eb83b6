"""What comes out of a real daemon before hands are released does not depend on the cards that lie face down."""

import asyncio
import json
import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest

from drivers.cards import FULL_DECK
from firmware_bridge.core.table_setup import TableSetup
from simulator.mechanics.table import Rig
from simulator.people.script import JsonObject, Step
from simulator.people.table_session import load_catalogue, table_session
from simulator.proving.bench import START_S, Bench, BenchSession
from tests.e2e.process import bridge, running

pytestmark = pytest.mark.real

CARD_IN_JSON = re.compile(rb'"cards?":\[?"[2-9TJQKA][cdhs]"')
ABOUT_LINKS = re.compile(r"is connected|waiting for")
OWN_TO_A_RUN = re.compile(
    r'("(?:at_ms|timestamp|received_at_ms|heard_at_ms|generation|tries|commitment|suppressed)": ?)(?:"[^"]*"|\d+)'
    r'|"counters": ?\{[^}]*\}|"answers_ms": ?(?:\[[^]]*\]|null)'
)


class Dealt(Exception):
    """Every hand lies there, and nobody has decided."""


class ClosedBench(Bench):
    """Deals until the last place has its hand. Keeps every answer of the control socket."""

    def __init__(self, rig: Rig, folder: Path) -> None:
        catalogue = msgspec.structs.replace(load_catalogue(), incident_chance=0)
        setup = TableSetup(deal=rig, sensors=True)
        self.feed: list[bytes] = []
        self.answers: list[JsonObject] = []
        played = BenchSession("licensed", "licensed", setup, seed=5, pace=0, own_daemon=False)
        super().__init__(played, catalogue, folder, lambda line, event: self.feed.append(line))
        self.catalogue = catalogue

    async def deal(self) -> None:
        await self.join(START_S)
        (written,) = islice(table_session(self.catalogue, "licensed", self.table.equipment, self.streams), 1)
        with pytest.raises(Dealt):
            await self.perform(self.dealer.play(written))
        await self._settle()
        self.answers.append(await self._ask(self._control.ask("status"), "the status"))

    async def _do(self, step: Step) -> JsonObject:
        if any(b'"hand_dealt"' in line and b'"dealer"' in line for line in self.feed):
            raise Dealt
        answer = await super()._do(step)
        self.answers.append(answer)
        return answer


@asynccontextmanager
async def dealt(rig: Rig, folder: Path, shift: int) -> AsyncIterator[ClosedBench]:
    """A deal in which every card is the one `shift` further in the deck, all else being equal."""
    folder.mkdir()  # noqa: ASYNC240
    bench = ClosedBench(rig, folder)
    for card in bench.table.deck.cards:
        card.face = FULL_DECK[(FULL_DECK.index(card.face) + shift) % len(FULL_DECK)]
    with running(bench.config, "--log-level", "debug"):
        async with bench:
            await bench.deal()
            yield bench


def told(bench: ClosedBench, folder: Path) -> dict[str, Any]:
    """Everything that came out, without times, commitments, and the order in which the devices came up."""
    log = (folder / "table.log").read_text()
    journal = str(folder / "table.journal")
    shown = bridge("journal", "show", "--journal", journal).stdout
    texts = {
        "feed": b"\n".join(line for line in bench.feed if b'"device_up"' not in line).decode(),
        "answers": "\n".join(sorted(json.dumps(answer) for answer in bench.answers)),
        "log": "\n".join(sorted(line for line in log.splitlines() if not ABOUT_LINKS.search(line))),
        "shown": "\n".join(line for line in shown.splitlines() if "device back" not in line and "is there" not in line),
    }
    out: dict[str, Any] = {
        name: OWN_TO_A_RUN.sub(r"\1", text).replace(str(folder), "FOLDER") for name, text in texts.items()
    }
    out["shown"] = re.sub(r"\d+:\d\d:\d\d\.\d{3}", "TIME", out["shown"])
    with closing(sqlite3.connect(f"file:{journal}?mode=ro", uri=True)) as connection:
        sealed = "CASE WHEN key_id IS NULL THEN 0 ELSE length(body) END"
        rows = connection.execute(f"SELECT device, number, name, {sealed} FROM facts ORDER BY 1, 2, 3").fetchall()  # noqa: S608
    return {**out, "rows": rows}


@pytest.mark.parametrize("rig", ["group", "rotation"])
async def test_two_deals_of_other_cards_come_out_as_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, rig: Rig
) -> None:
    outputs, hands, commitments = [], [], []
    for shift in (0, 17):
        folder = tmp_path_factory.mktemp("c") / "t"
        async with dealt(rig, folder, shift) as bench:
            outputs.append(await asyncio.to_thread(told, bench, folder))
            hands.append([bench.table.cards_at(place) for place in (*range(1, 8), "dealer")])
            commitments.append(re.findall(rb'"commitment":"(\w+)"', b"".join(bench.feed)))
        stored = b"".join(path.read_bytes() for path in folder.iterdir() if path.name != "table.key" and path.is_file())
        assert not CARD_IN_JSON.search(stored)
    for name, output in outputs[0].items():
        assert output == outputs[1][name]
    assert str(hands[0]) != str(hands[1])
    assert commitments[0]
    assert not set(commitments[0]) & set(commitments[1])
