import contextlib
import copy
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.offline.settle import CaseBook, CaseRefused
from tests.firmware_bridge.core.game.case_strategies import deals
from tests.firmware_bridge.core.game.plain_settlement import settle_plainly

CASES = Path(__file__).parents[2] / "cases"
BOOK = CaseBook()


def settled(case: dict[str, Any]) -> Any:
    return json.loads(msgspec.json.encode(BOOK.answer(json.dumps(case).encode())))


def differences(expected: Any, found: Any, where: str = "") -> list[str]:
    """What of `expected` is not in `found`; keys that `expected` does not name are free."""
    if isinstance(expected, dict) and isinstance(found, dict):
        missing = [f"{where}.{key}: missing" for key in expected if key not in found]
        return missing + [
            d for key in expected if key in found for d in differences(expected[key], found[key], f"{where}.{key}")
        ]
    return [] if expected == found else [f"{where}: expected {expected!r}, found {found!r}"]


@pytest.mark.parametrize("file", sorted(CASES.glob("settle/*.json")), ids=lambda file: file.stem)
def test_a_worked_case_is_settled_as_written(file: Path) -> None:
    case = json.loads(file.read_text())
    assert differences(case["expect"], settled(case["settle"])) == []


@pytest.mark.parametrize("file", sorted(CASES.glob("refused/*.json")), ids=lambda file: file.stem)
def test_a_case_that_cannot_be_settled_is_refused_in_one_sentence(file: Path) -> None:
    with pytest.raises(CaseRefused) as refused:
        settled(json.loads(file.read_text())["settle"])
    assert "\n" not in str(refused.value)


@settings(deadline=None)
@given(deals())
def test_any_deal_is_settled_as_a_plain_reading_of_the_rules_settles_it(case: dict[str, Any]) -> None:
    found = settled(case)
    assert found == settle_plainly(case)
    assert found == settled(copy.deepcopy(case))


@settings(deadline=None)
@given(deals())
def test_every_unit_that_went_in_is_in_one_row(case: dict[str, Any]) -> None:
    found = settled(case)
    staked = paid = lost = returned = 0
    for name, seat in case["seats"].items():
        staked += sum(seat.get(key, 0) for key in ("ante", "pair_plus", "six_card"))
        staked += sum(seat.get(key, 0) for key in ("tip_ante", "tip_pair_plus", "tip_play"))
        staked += seat["ante"] if seat["decision"] == "play" else 0
        for row in found["seats"][name]["payments"]:
            if row["result"] == "lose":
                lost += row["stake"]
            elif row["result"] != "bonus":
                returned += row["stake"]
            paid += row["paid"]
    assert staked == lost + returned
    if "player_dealer" in found:
        assert found["player_dealer"]["net"] == lost - paid
        assert found["player_dealer"]["net"] >= -case["player_dealer"]["wager"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None)
@given(st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_no_bytes_crash_it(line: bytes) -> None:
    with pytest.raises(CaseRefused):
        BOOK.answer(line)


@settings(deadline=None)
@given(deals(), st.data())
def test_no_damaged_case_crashes_it(case: dict[str, Any], data: st.DataObject) -> None:
    place: Any = case
    while isinstance(place, dict | list) and place:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if data.draw(st.booleans()) or not isinstance(place[key], dict | list):
            place[key] = data.draw(JSON | st.integers(-3, 20))
            break
        place = place[key]
    with contextlib.suppress(CaseRefused):
        assert "seats" in settled(case)
