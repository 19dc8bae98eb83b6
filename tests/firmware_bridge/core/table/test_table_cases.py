"""Worked cases: facts with what they come to. tests/cases/judge has one file each."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from firmware_bridge.core.facts import read_fact
from firmware_bridge.core.table_setup import TableSetup
from firmware_bridge.houses.loader import load_house
from firmware_bridge.offline.judge import Judge

CASES = sorted((Path(__file__).parents[3] / "cases" / "judge").glob("*.json"))


def differences(expected: Any, found: Any, where: str = "") -> list[str]:
    """What of `expected` is not in `found`; keys that it does not name are free, irregularities are not."""
    if isinstance(expected, dict) and isinstance(found, dict):
        out = [f"{where}.{key}: missing" for key in expected if key not in found]
        for key in expected.keys() & found.keys():
            check = flag_differences if key == "flags" else differences
            out += check(expected[key], found[key], f"{where}.{key}")
        return out
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found, strict=True))
        return [told for place, (one, other) in pairs for told in differences(one, other, f"{where}[{place}]")]
    return [] if expected == found else [f"{where}: expected {expected!r}, found {found!r}"]


def flag_differences(expected: list[dict[str, Any]], found: list[dict[str, Any]], where: str) -> list[str]:
    missing = [f"{where}: {flag} is missing" for flag in expected if all(differences(flag, one) for one in found)]
    known = {flag["irregularity"] for flag in expected}
    return missing + [f"{where}: {flag} is not expected" for flag in found if flag["irregularity"] not in known]


@pytest.mark.parametrize("file", CASES, ids=[file.stem for file in CASES])
def test_a_worked_case_comes_out_as_written(file: Path) -> None:
    case = json.loads(file.read_text())
    setup = msgspec.convert(case["judge"]["table"], TableSetup)
    judge = Judge(load_house(case["judge"]["house"]), setup, "test")
    for fact in case["facts"]:
        judge.take(read_fact(json.dumps(fact)))
    assert differences(case["expect"], judge.rows()) == []


def test_the_cases_are_there() -> None:
    assert len(CASES) > 100
