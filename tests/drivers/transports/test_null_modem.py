import asyncio

from hypothesis import given
from hypothesis import strategies as st

from drivers.errors import LinkError
from drivers.transports.null_modem import ByteQueue, NullModemEnd, null_modem


class Listener:
    def __init__(self) -> None:
        self.data = b""
        self.lost: list[LinkError] = []

    def on_data(self, data: bytes) -> None:
        assert data
        self.data += data

    def on_lost(self, error: LinkError) -> None:
        self.lost.append(error)

    def on(self, end: NullModemEnd) -> NullModemEnd:
        return end.attach(self.on_data, self.on_lost)


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


@given(st.lists(st.tuples(st.binary(max_size=20), st.integers(0, 20))), st.integers(0, 30))
def test_a_queue_keeps_order_and_never_grows_past_its_capacity(moves: list[tuple[bytes, int]], capacity: int) -> None:
    queue = ByteQueue(capacity)
    put, taken = b"", b""
    for data, limit in moves:
        put += data[: queue.put(data)]
        assert len(queue) <= capacity
        taken += queue.take(limit)
    assert taken + queue.take(capacity) == put


async def test_bytes_cross_in_both_directions_and_wait_for_a_reader() -> None:
    end, far_end = null_modem()
    near, far = Listener(), Listener()
    near.on(end)
    end.write(b"he")
    end.write(b"llo")
    far.on(far_end).write(b"yes")
    await turns()
    assert (near.data, far.data) == (b"yes", b"hello")


async def test_a_hang_up_is_told_once_to_each_end_and_ends_writing() -> None:
    end, far_end = null_modem()
    near, far = Listener(), Listener()
    near.on(end)
    far.on(far_end)
    end.write(b"last")
    far_end.hang_up()
    far_end.hang_up()
    end.write(b"too late")
    await turns()
    assert far.data == b"last"
    assert len(near.lost) == len(far.lost) == 1


async def test_an_end_that_closed_hears_nothing_more() -> None:
    end, far_end = null_modem()
    near, far = Listener(), Listener()
    near.on(end)
    far.on(far_end).write(b"for nobody")
    await end.close()
    await end.close()
    await turns()
    assert (near.data, near.lost) == (b"", [])
    assert "closed at the far end" in str(far.lost[0])


async def test_too_much_for_the_line_loses_it() -> None:
    end, _ = null_modem(capacity=8)
    near = Listener()
    near.on(end)
    end.write(b"12345678")
    assert near.lost == []
    end.write(b"9")
    await turns()
    assert "far end takes none" in str(near.lost[0])
