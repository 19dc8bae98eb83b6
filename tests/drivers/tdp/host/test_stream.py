from random import Random

from hypothesis import given
from hypothesis import strategies as st

from drivers.sequence import seq_add
from drivers.tdp.codec.header import REORDER_LIMIT
from drivers.tdp.host.stream import SequencedReceiver


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
