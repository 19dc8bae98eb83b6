"""Names of telegrams for a log: which, with which numbers, and no card."""

from hypothesis import given
from hypothesis import strategies as st

from drivers.angel_eye.frame_names import name_frames
from drivers.angel_eye.telegrams import Bcc, command_bytes
from drivers.cards import FULL_DECK
from drivers.facts import CardDrawn
from drivers.plugins import frame_namer
from simulator.firmware.angel_eye import AngelEyeFirmware
from tests.drivers.angel_eye.wire import Lock, told


def test_telegrams_and_commands_are_named_in_order_with_their_numbers() -> None:
    pieces = [
        (False, command_bytes("GP", 0)),
        (True, b"\x06" + told("1", "L", "80") + told("2", "D", "91B8")[:12]),
        (False, command_bytes("LK", 2, Bcc.WITH_STX)[:4]),
        (True, told("2", "D", "91B8")[12:] + b"\x153"),
        (False, command_bytes("LK", 2, Bcc.WITH_STX)[4:] + b"junk" + command_bytes("LK", 1)),
        (True, told("3", "E", "C1", copies=1) + told("4", "e", "81", copies=1) + b"\xff\xff" + told("5", "R", "81B8")),
        (True, told("6", "X", "81", copies=1) + told("7", "C", copies=1) + b"\x058Dxx" + told("9", "P", copies=1)),
    ]
    assert name_frames(pieces) == [
        "> GP 00",
        "< ACK",
        "< LOCK_STATE seq 1 unlocked x3",
        "< DRAWN seq 2 target 1 index 1 x3",
        "< NAK 3",
        "> LK 02",
        "> LK 01",
        "< ERROR_SET seq 3 error 1",
        "< ERROR_CANCELLED seq 4 error 1",
        "< SENT_AGAIN seq 5 target 0 index 1 x3",
        "< junk",
        "< telegram 0x58 seq 6",
        "< CUTTING_CARD seq 7",
        "< damaged telegram",
        "< STAND_BY seq 9",
    ]


def test_both_drivers_have_names() -> None:
    for driver in ("angel_eye", "angel_eye_with_stx"):
        assert frame_namer(driver)([(True, told("1", "C"))]) == ["< CUTTING_CARD seq 1 x3"]


def test_no_card_changes_a_name() -> None:
    names = set()
    for card in FULL_DECK:
        drawn = AngelEyeFirmware(Lock()).report(CardDrawn(at_ms=0, draw=1, card=card, face="down"))
        names.add(tuple(name_frames([(True, drawn), (True, drawn[:7])])))
    assert names == {("< DRAWN seq C target 0 index 1 x3",)}


@given(st.lists(st.tuples(st.booleans(), st.binary(max_size=60)), max_size=20))
def test_any_bytes_have_names(pieces: list[tuple[bool, bytes]]) -> None:
    for name in name_frames(pieces):
        assert name[:2] in ("< ", "> ")
        assert name.isprintable()
