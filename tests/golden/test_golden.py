"""The core tells the stored feeds byte for byte, and the simulator still plays what they were made from."""

from itertools import zip_longest

import pytest

from tests.golden.recorded import FOLDER, NAMES, made, replayed, sha256, stored, sums

FACTS_SHOWN = 3


def first_difference(name: str, expected: list[str], got: list[str]) -> str | None:
    """Where two recordings part, with the facts before it; None where they are the same."""
    for number, (then, now) in enumerate(zip_longest(expected, got, fillvalue="(nothing more)")):
        if then != now:
            before = [line for line in expected[:number] if not line.startswith("<")][-FACTS_SHOWN:]
            return "\n".join([f"{name}, line {number + 1}, after", *before, "was", then, "is now", now])
    return None


@pytest.mark.parametrize("name", NAMES)
def test_the_same_facts_give_the_same_events_byte_for_byte(name: str) -> None:
    text = stored(name)
    assert text.count("\n< ") > 500
    difference = first_difference(name, text.splitlines(), list(replayed(text)))
    assert difference is None, difference


@pytest.mark.parametrize("name", NAMES)
def test_the_simulator_plays_the_same_again(name: str) -> None:
    difference = first_difference(name, stored(name).splitlines(), made(name).splitlines())
    assert difference is None, difference


def test_every_recording_is_listed_with_the_hash_of_its_text() -> None:
    files = sorted(file.name.removesuffix(".jsonl.xz") for file in FOLDER.iterdir())
    assert files == sorted(NAMES)
    assert {name: sha256(stored(name)) for name in files} == sums()


def test_a_difference_is_shown_with_what_came_before_it() -> None:
    shown = first_difference("a round", ["{}", "> fact", "< was"], ["{}", "> fact", "< is"])
    assert shown == "a round, line 3, after\n{}\n> fact\nwas\n< was\nis now\n< is"
