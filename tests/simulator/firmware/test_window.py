from hypothesis import given
from hypothesis import strategies as st

from drivers.facts import CutCard
from drivers.sequence import seq_add
from simulator.firmware.ring import Ring
from simulator.firmware.window import STUCK_MS, Window


def test_the_timeout_is_learned_within_bounds() -> None:
    window = Window(0xFFFE, 0, 17, 115_200)
    now_ms = 0
    for _ in range(50):
        window.add(6, b"x", now_ms)
        now_ms += 2
        window.acknowledge(window.next_sequence, now_ms)
    window.add(6, b"x", now_ms)
    assert window.wake_at_ms == now_ms + 50 + 2  # 18 bytes of ten bits each
    for _ in range(20):
        now_ms = window.wake_at_ms or 0
        if window.stuck(now_ms):
            break
        assert len(window.due_again(now_ms)) == 1
    assert window.stuck(now_ms)
    assert now_ms >= STUCK_MS
    assert window.wake_at_ms is not None


@given(ahead=st.integers(-20, 20), under_way=st.integers(0, 8), first=st.integers(0, 0xFFFF))
def test_only_acknowledgements_inside_the_window_count(ahead: int, under_way: int, first: int) -> None:
    window = Window(first, 0, 17, 115_200)
    for _ in range(under_way):
        window.add(6, b"x", 0)
    window.acknowledge(seq_add(first, ahead, 16), 5)
    assert len(window) == (under_way - ahead if 0 < ahead <= under_way else under_way)


@given(
    first=st.sampled_from((1, 2**32 - 3)),
    steps=st.lists(st.one_of(st.just("add"), st.integers(0, 40)), max_size=60),
)
def test_the_ring_keeps_the_newest_and_forgets_what_is_durable(first: int, steps: list[str | int]) -> None:
    ring, count, dropped = Ring(8, first), 0, 0
    for step in steps:
        if step == "add":
            ring.add(count, CutCard(at_ms=0))
            count += 1
            dropped = max(dropped, count - 8)
        elif isinstance(step, int):
            ring.durable(seq_add(first, step, 32))
            if dropped <= step < count:
                dropped = step + 1
        assert len(ring) == count - dropped
        assert ring.oldest == seq_add(first, dropped, 32)
        assert ring.holds_from(ring.next_number)
        kept = ring.get(ring.oldest)
        assert (kept is None) == (count == dropped)
