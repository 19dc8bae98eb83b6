from random import Random

from hypothesis import given
from hypothesis import strategies as st

from drivers.framing import encode_frame
from drivers.sequence import seq_add
from drivers.tdp.codec.fact_messages import Gap
from drivers.tdp.codec.header import REORDER_LIMIT
from drivers.tdp.host.auth import KEY_SIZE, SealReader
from drivers.tdp.host.stream import Incoming, SequencedReceiver


@given(first=st.integers(0, 0xFFFF), seed=st.integers(0, 10_000))
def test_whatever_the_order_each_is_handed_on_once_in_turn(first: int, seed: int) -> None:
    random = Random(seed)
    receiver: SequencedReceiver[int] = SequencedReceiver(first)
    found: list[int] = []
    sent = 0
    while sent < 40 or len(found) < 40:
        # the sender's window: from the receiver's place on, any frame in any order, old ones among them
        pick = max(0, len(found) + random.randrange(-6, 8))
        sent = max(sent, pick + 1)
        if pick < 40:
            found += receiver.take(seq_add(first, pick, 16), pick)
    assert found == list(range(40))
    assert receiver.expected == seq_add(first, 40, 16)


def test_frames_far_ahead_are_not_kept() -> None:
    receiver: SequencedReceiver[str] = SequencedReceiver(0xFFFE)
    assert receiver.take(seq_add(0xFFFE, REORDER_LIMIT + 1, 16), "far") == []
    assert receiver.too_far_ahead == 1
    assert receiver.take(0, "third") == []
    assert receiver.take(0, "third") == []
    assert receiver.repeated == 1
    assert receiver.take(0xFFFE, "first") == ["first"]
    assert receiver.take(0xFFFF, "second") == ["second", "third"]
    assert receiver.take(0xFFFF, "second") == []
    assert receiver.repeated == 2


def test_frames_come_out_of_bytes_in_any_pieces_and_every_byte_is_counted() -> None:
    incoming = Incoming()
    wire = b"\x00" + encode_frame(b"one") + encode_frame(b"two")
    bodies = [body for byte in wire for body in incoming.bodies(bytes((byte,)))]
    assert bodies == [b"one", b"two"]
    assert incoming.bytes_heard == len(wire)


def test_a_session_counts_from_where_the_device_says_and_is_plain_without_a_reader() -> None:
    incoming = Incoming()
    assert incoming.reader is None
    reader = SealReader(bytes(KEY_SIZE))
    incoming.begin(0xFFFF, reader)
    assert incoming.reader is reader
    assert incoming.messages.expected == 0xFFFF
    assert incoming.messages.take(0, None) == []
    assert incoming.messages.take(0xFFFF, Gap(next_number=1)) == [Gap(next_number=1), None]


def test_what_could_not_be_used_is_counted_by_reason() -> None:
    incoming = Incoming()
    incoming.begin(5, None)
    incoming.bodies(b"junk\x00" + b"\x05\x00")
    incoming.messages.take(4, None)
    incoming.messages.take(5 + REORDER_LIMIT + 1, None)
    assert {reason: count for reason, count in incoming.counters.items() if count} == {
        "unsync_bytes": 4,
        "bad_stuffing": 1,
        "repeated_frames": 1,
        "frames_too_far_ahead": 1,
    }
