"""Telegrams on the wire: whole, cut, damaged, and among noise."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drivers.angel_eye.telegrams import (
    LONGEST_BODY,
    Answer,
    Bcc,
    Item,
    Spoilt,
    Telegram,
    TelegramDecoder,
    command_bytes,
)
from tests.drivers.angel_eye.wire import block, telegram, told

EIGHT = told("1", "D", "81B8", copies=1)
ACE = told("2", "D", "82C1", copies=1)

TELEGRAMS = st.builds(
    Telegram,
    st.integers(0x21, 0x7E),
    st.sampled_from(b"SPDdRGCEeLM?"),
    st.binary(max_size=12).map(lambda data: bytes(byte | 0x80 for byte in data)),
)


def feed(*pieces: bytes) -> tuple[list[Item], dict[str, int]]:
    decoder = TelegramDecoder()
    items = [item for piece in pieces for item in decoder.feed(piece)]
    return items, dict(decoder.counters)


@pytest.mark.parametrize("line", block("telegrams"))
def test_the_vectors_of_the_spec(line: str) -> None:
    wire, fields = line[:24].split("  ")[0], line[25:].split()
    data = bytes.fromhex(wire)
    payload = bytes.fromhex(fields[2]) if len(data) > 6 and data[3] & 0x80 else b""
    payload += bytes.fromhex(fields[3]) if len(data) == 8 else b""
    expected = Telegram(ord(fields[0]), ord(fields[1]), payload)
    assert feed(data) == ([expected], {})
    assert expected.to_bytes() == data


@pytest.mark.parametrize("line", block("commands"))
def test_the_commands_of_the_spec(line: str) -> None:
    kind, number, bcc, *wire = line.split()
    assert command_bytes(kind, int(number), Bcc(bcc)) == bytes.fromhex("".join(wire))


@given(st.lists(TELEGRAMS, max_size=6), st.data())
def test_cut_into_any_pieces_they_are_the_same(telegrams: list[Telegram], data: st.DataObject) -> None:
    wire = b"".join(one.to_bytes() for one in telegrams)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(wire)), max_size=8)))
    pieces = [wire[a:b] for a, b in itertools.pairwise([0, *cuts, len(wire)])]
    assert feed(*pieces) == (telegrams, {})
    assert feed(*(bytes((byte,)) for byte in wire)) == (telegrams, {})


@pytest.mark.parametrize("length", range(1, len(EIGHT)))
def test_a_telegram_that_is_cut_off_costs_itself_alone(length: int) -> None:
    items, counters = feed(EIGHT[:length], ACE)
    assert items[-1] == telegram("2", "D", "82C1")
    assert items[:-1] == ([Spoilt(ord("1"))] if length > 1 else [])
    assert counters == ({"cut_off_telegrams": 1} if length > 1 else {"junk_bytes": 1})


@pytest.mark.parametrize("place", range(1, len(EIGHT)))
@pytest.mark.parametrize("bit", range(8))
def test_no_single_flipped_bit_makes_another_telegram(place: int, bit: int) -> None:
    damaged = bytearray(EIGHT)
    damaged[place] ^= 1 << bit
    items, counters = feed(bytes(damaged), ACE)
    assert [item for item in items if isinstance(item, Telegram)] == [telegram("2", "D", "82C1")]
    assert sum(counters.values()) > 0


def test_noise_around_telegrams_is_counted_and_hides_nothing() -> None:
    items, counters = feed(b"\xff\x00\xff\xb8\x03", EIGHT, b"\x03\x80", ACE, b"\xff")
    assert items == [telegram("1", "D", "81B8"), telegram("2", "D", "82C1")]
    assert counters == {"junk_bytes": 8}


@pytest.mark.parametrize("length", [LONGEST_BODY, LONGEST_BODY + 1, 5_000])
def test_more_than_128_bytes_are_no_telegram(length: int) -> None:
    junk = b"\x051D" + b"\x81" * (length - 2)
    items, counters = feed(junk, EIGHT)
    assert items == [Spoilt(ord("1")), telegram("1", "D", "81B8")]
    overlong = length > LONGEST_BODY
    assert counters.get("overlong_telegrams", 0) == overlong
    assert counters.get("cut_off_telegrams", 0) == (not overlong)


def test_the_longest_telegram_passes() -> None:
    longest = telegram("1", "M", "81" * (LONGEST_BODY - 2))
    assert feed(longest.to_bytes()) == ([longest], {})


def test_a_check_in_lower_case_is_wrong() -> None:
    wire = told("1", "D", "81BA", copies=1)
    assert wire[-2:].lower() != wire[-2:] or wire[-2:].isdigit()
    for candidate in range(0x80, 0x100):
        wire = Telegram(ord("1"), ord("D"), bytes((0x81, candidate))).to_bytes()
        if wire[-1:].isalpha():
            items, _ = feed(wire[:-1] + wire[-1:].lower())
            assert items == [Spoilt(ord("1"))]


@pytest.mark.parametrize(
    ("wire", "answers"),
    [
        (b"\x06", [Answer(accepted=True)]),
        (b"\x06\x06", [Answer(accepted=True), Answer(accepted=True)]),
        (b"\x060", [Answer(accepted=True)]),
        (b"\x15", []),
        (b"\x154", [Answer(accepted=False, code=ord("4"))]),
        (b"\x15\x06", [Answer(accepted=False), Answer(accepted=True)]),
        (b"\x15\x00", [Answer(accepted=False)]),
        (b"\x15" + EIGHT, [Answer(accepted=False), telegram("1", "D", "81B8")]),
        (b"\x06" + EIGHT, [Answer(accepted=True), telegram("1", "D", "81B8")]),
        (EIGHT + b"\x06", [telegram("1", "D", "81B8"), Answer(accepted=True)]),
        (EIGHT[:4] + b"\x06", [Spoilt(ord("1")), Answer(accepted=True)]),
        (EIGHT[:7] + b"\x06", [Spoilt(ord("1")), Answer(accepted=True)]),
    ],
)
def test_answers_stand_between_telegrams(wire: bytes, answers: list[Item]) -> None:
    assert feed(wire)[0] == answers


def test_the_hosts_own_echo_is_junk() -> None:
    items, counters = feed(command_bytes("LK", 2), command_bytes("GP", 0, Bcc.WITH_STX), EIGHT)
    assert items == [telegram("1", "D", "81B8")]
    assert counters == {"junk_bytes": 20}


@settings(max_examples=300)
@given(st.lists(st.binary(max_size=300), max_size=10))
def test_any_bytes_leave_it_small_and_ready(pieces: list[bytes]) -> None:
    decoder = TelegramDecoder()
    for piece in pieces:
        for item in decoder.feed(piece):
            if isinstance(item, Telegram):
                assert item.to_bytes() in b"".join(pieces)
        assert decoder.pending <= LONGEST_BODY + 3
    assert decoder.feed(EIGHT)[-1] == telegram("1", "D", "81B8")
