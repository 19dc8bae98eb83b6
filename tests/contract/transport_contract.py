"""What every transport promises: inherit, give a line, and all of it is checked."""

import asyncio
import contextlib
import gc
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from drivers.errors import LinkError, LinkLost
from drivers.transports.transport import Transport
from tests.contract.lines import Line
from tests.drivers.transports.ends.pty_end import Host, open_fds, until

EVERYTHING = bytes(range(256)) * 4


class Witness(Host):
    """What a transport tells, and what was still open when it told the loss."""

    def __init__(self) -> None:
        super().__init__()
        self.open_at_loss: set[str] = set()

    def on_lost(self, error: LinkError) -> None:
        super().on_lost(error)
        self.open_at_loss = open_fds()


class TransportContract(ABC):
    @abstractmethod
    def new_line(self, folder: Path) -> Line:
        """A line that is plugged in and not opened."""

    @pytest.fixture
    async def line(self, tmp_path: Path) -> AsyncIterator[Line]:
        line = self.new_line(tmp_path)
        yield line
        await line.end()

    async def test_every_byte_arrives_unchanged_and_in_order(self, line: Line) -> None:
        host = Witness()
        transport = await begun(line, host, *pieces(EVERYTHING, seed=1))
        await until(lambda: len(host.data) >= len(EVERYTHING))
        assert host.data == EVERYTHING
        await transport.close()

    async def test_one_byte_at_a_time_is_the_same(self, line: Line) -> None:
        host = Witness()
        transport = await begun(line, host, *(bytes((byte,)) for byte in EVERYTHING))
        await until(lambda: len(host.data) >= len(EVERYTHING))
        assert host.data == EVERYTHING
        await transport.close()

    async def test_what_the_host_writes_arrives_unchanged_and_in_order(self, line: Line) -> None:
        live(line)
        transport = await begun(line, Witness())
        for piece in pieces(EVERYTHING * 8, seed=2):
            transport.write(piece)
        transport.write(b"")
        await until(lambda: len(line.heard) >= 8 * len(EVERYTHING))
        assert line.heard == EVERYTHING * 8
        await transport.close()

    async def test_an_answer_may_be_written_while_data_is_told(self, line: Line) -> None:
        live(line)
        host = Witness()
        transports: list[Transport] = []

        def answer(data: bytes) -> None:
            host.on_data(data)
            transports[0].write(data.upper())

        transports.append(await line.open(answer, host.on_lost))
        line.say(b"ping")
        await until(lambda: line.heard == b"PING")
        await transports[0].close()

    async def test_f09_f11_a_loss_is_told_once_and_after_the_port_is_let_go(self, line: Line) -> None:
        threads = threads_of_ours()
        fds = open_fds()
        host = Witness()
        transport = await begun(line, host, b"last words")
        await until(lambda: host.data == b"last words")
        line.cut()
        await until(lambda: bool(host.lost))
        transport.write(b"nobody is there")
        await transport.close()
        await transport.close()
        await settled()
        (error,) = host.lost
        assert isinstance(error, LinkLost)
        assert len(str(error)) > 20
        assert "\n" not in str(error)
        assert len(host.open_at_loss) <= len(fds)
        await until(lambda: threads_of_ours() <= threads)

    async def test_what_was_said_before_the_cable_was_pulled_comes_first_or_never(self, line: Line) -> None:
        live(line)
        host = Witness()
        transport = await begun(line, host)
        line.say(b"last words")
        line.cut()
        await until(lambda: bool(host.lost))
        told = host.data
        await transport.close()
        assert host.data == told
        assert told == b"last words" if line.quirks.keeps_last_words else b"last words".startswith(told)

    async def test_a_closed_transport_says_nothing_more(self, line: Line) -> None:
        host = Witness()
        transport = await begun(line, host)
        await transport.close()
        told = host.data
        if line.quirks.live:
            with contextlib.suppress(OSError, AssertionError):
                line.say(b"for nobody")
            line.cut()
        transport.write(b"neither")
        await transport.close()
        await settled()
        assert (host.data, host.lost) == (told, [])

    async def test_closing_while_the_cable_is_pulled_tells_one_loss_at_most(self, line: Line) -> None:
        host = Witness()
        fds = open_fds()
        transport = await begun(line, host, b"x")
        line.cut()
        await asyncio.gather(*(transport.close() for _ in range(3)))
        await settled()
        assert len(host.lost) <= 1
        await until(lambda: len(open_fds()) <= len(fds))

    async def test_a_close_that_is_cancelled_closes_all_the_same(self, line: Line) -> None:
        threads = threads_of_ours()
        host = Witness()
        transport = await begun(line, host, b"x")
        closing = asyncio.create_task(transport.close())
        await asyncio.sleep(0)
        closing.cancel()
        await asyncio.gather(closing, return_exceptions=True)
        await transport.close()
        line.cut()
        await until(lambda: threads_of_ours() <= threads)
        assert host.lost == [] or not line.quirks.live

    async def test_closing_from_within_what_is_told_is_allowed(self, line: Line) -> None:
        host = Witness()
        closing: list[asyncio.Task[None]] = []
        transports: list[Transport] = []

        def close(data: bytes) -> None:
            host.on_data(data)
            closing.append(asyncio.create_task(transports[0].close()))

        if not line.quirks.live:
            line.say(b"x")
        transports.append(await line.open(close, host.on_lost))
        if line.quirks.live:
            line.say(b"x")
        await until(lambda: bool(closing))
        await asyncio.gather(*closing)
        assert host.lost == [] or not line.quirks.live

    async def test_f20_a_new_opening_hears_nothing_of_the_one_before(self, line: Line) -> None:
        first, second = Witness(), Witness()
        transport = await begun(line, first, b"old")
        await until(lambda: first.data == b"old")
        line.cut()
        await until(lambda: bool(first.lost))
        await transport.close()
        line.mend()
        transport = await begun(line, second, b"new")
        await until(lambda: second.data == b"new")
        assert first.data == b"old"
        await transport.close()

    async def test_f12_f38_many_openings_leak_no_descriptor_and_no_thread(self, line: Line) -> None:
        await (await begun(line, Witness())).close()
        line.mend()
        fds, threads = open_fds(), threads_of_ours()
        for turn in range(20):
            host = Witness()
            transport = await begun(line, host, *(pieces(b"something", seed=turn) if turn % 2 else ()))
            if turn % 3 == 0:
                transport.write(b"something")
            await transport.close()
            line.mend()
        gc.collect()
        await settled()
        await until(lambda: threads_of_ours() <= threads)
        assert len(open_fds()) <= len(fds)

    @pytest.mark.parametrize("turns", [0, 1, 2, 3, 5, 8])
    async def test_an_opening_given_up_half_way_leaves_nothing_open(self, line: Line, turns: int) -> None:
        if not line.quirks.cancellable:
            pytest.skip("opening it takes no time")
        fds, threads = open_fds(), threads_of_ours()
        task = asyncio.create_task(line.open(Witness().on_data, Witness().on_lost))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        (outcome,) = await asyncio.gather(task, return_exceptions=True)
        if not isinstance(outcome, BaseException):
            await outcome.close()
            line.cut()
            line.mend()
        await until(lambda: threads_of_ours() <= threads and len(open_fds()) <= len(fds))
        host = Witness()
        transport = await begun(line, host, b"and now")
        await until(lambda: host.data == b"and now")
        await transport.close()


async def begun(line: Line, host: Witness, *said: bytes) -> Transport:
    """Opened, and the device has said that."""
    if not line.quirks.live:
        for piece in said:
            line.say(piece)
    transport = await line.open(host.on_data, host.on_lost)
    if line.quirks.live:
        for piece in said:
            line.say(piece)
    return transport


def threads_of_ours() -> int:
    """Those of the event loop's pool wait for more work until it is closed."""
    return sum(not thread.name.startswith("asyncio_") for thread in threading.enumerate())


def live(line: Line) -> None:
    if not line.quirks.live:
        pytest.skip("nobody is at the far end of a recording")


def pieces(data: bytes, seed: int) -> list[bytes]:
    chance = Random(seed)
    cuts = sorted(chance.randrange(len(data) + 1) for _ in range(12))
    return [piece for a, b in pairwise([0, *cuts, len(data)]) if (piece := data[a:b])]


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)
