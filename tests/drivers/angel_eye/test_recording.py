"""Recorded bytes of a shoe, without a session."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.angel_eye.recording import AngelEyeRecording
from drivers.angel_eye.telegrams import LONGEST_BODY
from drivers.cards import FULL_DECK
from drivers.facts import CardDrawn, CutCard
from drivers.plugins import open_recording
from simulator.firmware.angel_eye import AngelEyeFirmware
from tests.drivers.angel_eye.wire import Lock, told

CASES = sorted((Path(__file__).parents[2] / "cases" / "decode").glob("*.json"))


def cards(*pieces: bytes) -> list[str | None]:
    recording = AngelEyeRecording()
    facts = [fact for piece in pieces for fact in recording.feed(piece)] + recording.end()
    drawn = [fact for fact in facts if isinstance(fact, CardDrawn)]
    assert [fact.draw for fact in drawn] == list(range(1, len(drawn) + 1))
    return [None if fact.card is None else str(fact.card) for fact in drawn]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_worked_cases(case: Path) -> None:
    written = json.loads(case.read_text())
    data = bytes.fromhex(written["decode"]["hex"])
    assert cards(data) == [fact["card"] for fact in written["expect"]]
    assert cards(*(bytes((byte,)) for byte in data)) == [fact["card"] for fact in written["expect"]]


def test_there_are_worked_cases() -> None:
    assert len(CASES) >= 4


EIGHT, ACE = told("1", "D", "81B8", copies=1), told("2", "D", "82C1", copies=1)


@pytest.mark.parametrize(
    ("wire", "expected"),
    [
        (EIGHT * 3 + ACE * 3, ["8s", "Ah"]),
        (EIGHT[:-1] + b"0" + EIGHT[:4] + EIGHT + ACE, ["8s", "Ah"]),
        (EIGHT + EIGHT[:-1] + b"0" + EIGHT[:5] + ACE, ["8s", "Ah"]),
        (b"\xff\x05\x05\x00\x03" + EIGHT + b"\xff" * 400 + ACE, ["8s", "Ah"]),
        (b"\x051D" + b"\x81" * 500 + EIGHT, ["8s"]),
        (EIGHT[:-2] + ACE, ["Ah"]),
        (EIGHT[:-1], []),
        (EIGHT + told("2", "E", "C1") + told("3", "D", "83C1"), ["8s", None, "Ah"]),
        (EIGHT + told("2", "d", "91C1") + told("3", "R", "81B8") + told("4", "D", "A1C1"), ["8s"]),
        (b"", []),
    ],
    ids=[
        "all three repeats",
        "the third only good",
        "the first only good",
        "noise",
        "overlong",
        "cut off",
        "unfinished",
        "unread",
        "not dealt",
        "nothing",
    ],
)
def test_whatever_lies_around_them_draws_are_told_once(wire: bytes, expected: list[str | None]) -> None:
    assert cards(wire) == expected


def test_a_session_of_a_simulated_shoe() -> None:
    shoe = AngelEyeFirmware(Lock())
    wire = shoe.switched_on()
    for card in FULL_DECK:
        wire += shoe.report(CardDrawn(at_ms=0, draw=1, card=card, face="down"))
        wire += shoe.result() if card.index % 6 == 5 else b""
    wire += shoe.report(CutCard(at_ms=0))
    recording = AngelEyeRecording()
    facts = recording.feed(wire) + recording.end()
    assert [fact.card for fact in facts if isinstance(fact, CardDrawn)] == list(FULL_DECK)
    assert facts[-1] == CutCard(at_ms=0)
    assert recording.counters == {"repeated_telegrams": 2 * (2 + 52 + 8 + 1), "stand_bys": 1, "game_results": 8}


def test_what_was_passed_over_is_counted() -> None:
    recording = AngelEyeRecording()
    recording.feed(b"\xff\x06" + EIGHT + EIGHT[:-1] + b"0" + told("2", "R", "82C1") + ACE[:4])
    recording.end()
    assert recording.counters == {
        "answers": 1,
        "bad_bcc": 1,
        "bytes_of_an_unfinished_telegram": 3,
        "draws_sent_again": 1,
        "gaps": 1,
        "junk_bytes": 1,
        "repeated_telegrams": 2,
    }


@given(st.lists(st.binary(max_size=200), max_size=8))
def test_any_bytes_are_read_without_a_word(pieces: list[bytes]) -> None:
    recording = open_recording("angel_eye")
    for piece in pieces:
        recording.feed(piece)
        assert recording._decoder.pending <= LONGEST_BODY + 3  # type: ignore[attr-defined]
    recording.end()
