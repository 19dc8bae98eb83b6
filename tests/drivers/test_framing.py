"""Frames on a byte stream: any cutting, any junk, nothing lost that was good, nothing kept that was not."""

from random import Random
from zlib import crc32

import pytest
from cobs import cobs
from hypothesis import given
from hypothesis import strategies as st

from drivers.framing import (
    CRC_SIZE,
    DELIMITER,
    MAX_DECODED,
    MAX_ENCODED,
    FrameDecoder,
    FrameTooLong,
    FramingState,
    encode_frame,
)

BODIES = st.lists(st.binary(max_size=MAX_DECODED - CRC_SIZE), max_size=8)
TOTAL = {"unsync_bytes": 0, "overlong_frames": 0, "bad_stuffing": 0, "too_short_frames": 0, "bad_crc": 0}


def synced() -> FrameDecoder:
    decoder = FrameDecoder()
    decoder.feed(DELIMITER)
    return decoder


def cut(stream: bytes, sizes: list[int]) -> list[bytes]:
    pieces: list[bytes] = []
    at = 0
    for size in sizes:
        pieces.append(stream[at : at + size])
        at += size
    return [*pieces, stream[at:]]


@given(bodies=BODIES, sizes=st.lists(st.integers(0, 40), max_size=100), delimiters=st.integers(1, 4))
def test_f26_f28_bodies_come_back_however_the_stream_is_cut(
    bodies: list[bytes], sizes: list[int], delimiters: int
) -> None:
    stream = (DELIMITER * delimiters).join([b"", *(encode_frame(body)[:-1] for body in bodies), b""])
    decoder = FrameDecoder()
    found = [body for piece in cut(stream, sizes) for body in decoder.feed(piece)]
    assert found == bodies
    assert decoder.counters == TOTAL


def test_f25_every_byte_value_at_every_position_in_one_byte_feeds() -> None:
    for position in range(16):
        decoder = synced()
        for value in range(256):
            body = bytes(position) + bytes((value,)) + bytes(range(16 - position))
            stream = encode_frame(body)
            found = [seen for at in range(len(stream)) for seen in decoder.feed(stream[at : at + 1])]
            assert found == [body]
        assert decoder.counters == TOTAL


def test_f25_every_byte_value_at_every_position_of_the_crc() -> None:
    wanted = {(position, value) for position in range(CRC_SIZE) for value in range(256)}
    decoder = synced()
    for number in range(20_000):
        body = number.to_bytes(4, "little")
        wanted -= set(enumerate(crc32(body).to_bytes(CRC_SIZE, "little")))
        assert decoder.feed(encode_frame(body)) == [body]
        if not wanted:
            break
    assert not wanted


@pytest.mark.parametrize("length", [0, 1, 249, 250, 251, 252, 253, 254, 255, MAX_DECODED - CRC_SIZE])
@pytest.mark.parametrize("value", [0, 1, 255])
def test_lengths_around_the_stuffing_s_runs(length: int, value: int) -> None:
    body = bytes((value,)) * length
    frame = encode_frame(body)
    assert DELIMITER not in frame[:-1]
    assert len(frame) <= MAX_ENCODED + 1
    assert synced().feed(frame) == [body]


def test_f26_cut_at_every_point() -> None:
    first, second = b"\x00one\x00\xff" * 3, bytes(range(60))
    stream = DELIMITER + encode_frame(first) + encode_frame(second)
    for point in range(len(stream) + 1):
        decoder = FrameDecoder()
        assert decoder.feed(stream[:point]) + decoder.feed(stream[point:]) == [first, second]


def test_f26_lines_that_are_read_in_turn_do_not_mix() -> None:
    """What one decoder holds of a frame is nothing to another."""
    one, other = synced(), synced()
    first, second = encode_frame(b"of one line"), encode_frame(b"of another line")
    one.feed(first[:5])
    other.feed(second[:7])
    assert (one.feed(first[5:]), other.feed(second[7:])) == ([b"of one line"], [b"of another line"])


def test_a_body_too_long_is_refused() -> None:
    encode_frame(bytes(MAX_DECODED - CRC_SIZE))
    with pytest.raises(FrameTooLong, match="509"):
        encode_frame(bytes(MAX_DECODED - CRC_SIZE + 1))


def test_f28_nothing_counts_before_the_first_delimiter() -> None:
    decoder = FrameDecoder()
    frame = encode_frame(b"lost its start")
    assert decoder.state is FramingState.UNSYNC
    assert decoder.feed(frame[:3]) == []
    assert decoder.feed(frame[3:]) == []
    assert decoder.counters == TOTAL | {"unsync_bytes": len(frame) - 1}
    assert decoder.feed(frame) == [b"lost its start"]


def test_f25_each_reason_is_counted_and_costs_one_frame() -> None:
    good = encode_frame(b"good")
    wrong_crc = cobs.encode(b"body" + b"\x01\x02\x03\x04") + DELIMITER
    too_short = cobs.encode(b"abc") + DELIMITER
    bad_stuffing = b"\x09ab" + DELIMITER
    overlong = b"\x01" * (MAX_ENCODED + 1) + DELIMITER
    decoder = synced()
    stream = good + wrong_crc + good + too_short + good + bad_stuffing + good + overlong + good
    assert decoder.feed(stream) == [b"good"] * 5
    once = dict.fromkeys(("bad_crc", "too_short_frames", "bad_stuffing", "overlong_frames"), 1)
    assert decoder.counters == TOTAL | once


def test_f27_an_overlong_frame_is_skipped_to_its_end_and_counted_once() -> None:
    decoder = synced()
    for _ in range(10 * MAX_ENCODED):
        assert decoder.feed(b"\x01") == []
        assert decoder.pending <= MAX_ENCODED
    assert decoder.state is FramingState.SKIP
    assert decoder.feed(DELIMITER + encode_frame(b"next")) == [b"next"]
    assert decoder.feed(encode_frame(b"and the one after it")) == [b"and the one after it"]
    assert decoder.counters == TOTAL | {"overlong_frames": 1}


@pytest.mark.parametrize("fed", ["at once", "in two", "by byte"])
def test_the_cap_is_the_same_however_the_frame_arrives(fed: str) -> None:
    """The longest frame passes, one byte more does not, whichever way it was cut."""
    for length, passes in ((MAX_ENCODED, True), (MAX_ENCODED + 1, False)):
        decoder = synced()
        stream = b"\x01" * length + DELIMITER
        size = {"at once": len(stream), "in two": 100, "by byte": 1}[fed]
        for at in range(0, len(stream), size):
            decoder.feed(stream[at : at + size])
        assert (decoder.overlong == 0) is passes


@given(junk=st.lists(st.binary(max_size=700), max_size=10))
def test_f27_no_bytes_crash_it_or_make_it_grow_and_it_finds_its_way_back(junk: list[bytes]) -> None:
    decoder = FrameDecoder()
    for piece in junk:
        decoder.feed(piece)
        assert decoder.pending <= MAX_ENCODED
    assert decoder.feed(DELIMITER + encode_frame(b"after"))[-1:] == [b"after"]
    assert decoder.feed(encode_frame(b"and on")) == [b"and on"]


def test_every_single_bit_flip_costs_that_frame_alone() -> None:
    good = encode_frame(b"neighbour")
    frame = encode_frame(bytes(range(20)))
    for bit in range(8 * (len(frame) - 1)):
        flipped = bytearray(frame)
        flipped[bit // 8] ^= 1 << bit % 8
        found = synced().feed(good + bytes(flipped) + good)
        assert found == [b"neighbour", b"neighbour"]


def test_damage_of_any_kind_never_passes_as_a_frame() -> None:
    random = Random(20)
    sent = {random.randbytes(20) for _ in range(200)}
    stream = bytearray(DELIMITER + b"".join(encode_frame(body) for body in sorted(sent)))
    for _ in range(100):
        stream[random.randrange(len(stream))] = random.randrange(256)
    found = FrameDecoder().feed(bytes(stream))
    assert set(found) <= sent
    assert len(found) >= 80
