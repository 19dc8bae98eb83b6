import dataclasses
import json

import msgspec

from firmware_bridge.core.table.round_snapshot import Hold
from firmware_bridge.core.terms import Irregularity
from firmware_bridge.daemon.status import Status, in_one_line, round_status
from firmware_bridge.devices.link import DeviceState, LinkState
from tests.firmware_bridge.core.game.paper_table import PaperTable


def held_table() -> PaperTable:
    table = PaperTable()
    table.wager(2, ante=10)
    table.close()
    table.deal({2: "As Ad 9d", "dealer": "Kh ?? 2c"})
    table.hold(Irregularity.COUNT_CONFLICT)
    return table


def device(link: LinkState) -> DeviceState:
    return DeviceState(
        kind="shoe",
        driver="tdp",
        port="serial:/dev/x",
        link=link,
        sentence=None,
        alarm=None,
        generation=1,
        tries=0,
        losses=0,
        losses_last_hour=0,
        faults=0,
        heard_at_ms=None,
        answers_ms=None,
        claims=None,
        boot=None,
        counters={},
    )


def status(**changes: object) -> Status:
    fields: dict[str, object] = {
        "table": "table-1",
        "house": "licensed",
        "version": "1",
        "at_ms": 5,
        "trouble": None,
        "applied": 3,
        "waiting": 0,
        "lost": (),
        "round": None,
        "devices": {},
    }
    return Status(**(fields | changes))  # type: ignore[arg-type]


def test_a_round_is_told_with_its_holds_and_numbers_and_without_a_card() -> None:
    record = held_table().current()
    told = json.loads(msgspec.json.encode(round_status(record)))
    assert told["number"] == 1
    assert told["holds"] == [{"irregularity": "count_conflict", "seat": None}]
    assert told["places"] == {"2": {"cards": 3, "verdict": "ok"}, "dealer": {"cards": 3, "verdict": "ok"}}
    text = json.dumps(told)
    assert not [card for card in ("As", "Ad", "9d", "Kh", "2c") if f'"{card}"' in text]


def test_the_oldest_hold_comes_first() -> None:
    holds = (Hold(Irregularity.SHORT_HAND, 2, 1), Hold(Irregularity.FACT_GAP, None, 2))
    told = round_status(dataclasses.replace(held_table().current(), holds=holds))
    assert [(hold.irregularity, hold.seat) for hold in told.holds] == [
        (Irregularity.SHORT_HAND, 2),
        (Irregularity.FACT_GAP, None),
    ]


def test_one_line_says_how_the_table_stands() -> None:
    up, down = device(LinkState.UP), device(LinkState.WAITING)
    assert in_one_line(status(devices={"shoe": up, "shuffler": down})) == "1 of 2 devices connected; no round yet"
    record = round_status(held_table().current())
    assert in_one_line(status(devices={"shoe": up}, round=record)) == "1 of 1 devices connected; round 1"


def test_trouble_comes_before_everything_else() -> None:
    assert in_one_line(status(trouble="the disk is full")) == "the disk is full"
