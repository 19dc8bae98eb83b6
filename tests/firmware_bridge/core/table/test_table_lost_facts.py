"""One fact is lost on the way, any one: no hand is ever told to be what it is not."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.firmware_bridge.core.table.recording import Recording
from tests.firmware_bridge.core.table.test_table_properties import Clean, finish, opened

TOLD_BY_DEVICES = ("shoe", "shuffler", "layout")


def wrong_hands(row: dict[str, Any], truth: dict[str, Any]) -> list[str]:
    """Places whose cards are called a good hand and are others than those that lie there."""
    return [
        place
        for place, seat in row["seats"].items()
        if seat["verdict"] == "ok" and seat["count"] == 3 and seat["cards"] != truth[place]["cards"]
    ]


def lose_one(clean: Clean, data: st.DataObject) -> tuple[Recording, dict[str, Any]]:
    recording = clean.recording
    recording.deal(recording.order[:-1] if clean.waits else None)
    finish(clean, collect=False)
    truth = recording.last(clean.house)["seats"]
    first = next(place for place, fact in enumerate(recording.facts) if fact["source"] == "shoe")
    can_be_lost = [
        place
        for place, fact in enumerate(recording.facts)
        if place > first and fact["source"] in TOLD_BY_DEVICES and fact["fact"] != "card_exposed"
    ]
    del recording.facts[data.draw(st.sampled_from(can_be_lost))]
    return recording, truth


@given(opened(), st.data())
@settings(max_examples=60, deadline=None)
def test_nothing_false_is_said_of_a_hand(clean: Clean, data: st.DataObject) -> None:
    recording, truth = lose_one(clean, data)
    assert wrong_hands(recording.last(clean.house), truth) == []


@given(opened(), st.data())
@settings(max_examples=60, deadline=None)
def test_nor_when_the_floor_lets_it_go_on(clean: Clean, data: st.DataObject) -> None:
    recording, truth = lose_one(clean, data)
    for _ in range(3):
        recording.rule()
    assert wrong_hands(recording.last(clean.house), truth) == []
