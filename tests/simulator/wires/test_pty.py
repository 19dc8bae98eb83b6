import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from simulator.wires.pty import PtyPort

pytestmark = pytest.mark.real


async def until(ready: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not ready():  # noqa: ASYNC110  the bytes come from the kernel
            await asyncio.sleep(0.005)


async def test_bytes_go_through_unchanged_both_ways(tmp_path: Path) -> None:
    heard = bytearray()
    port = PtyPort(tmp_path / "shoe", heard.extend)
    port.plug()
    far = os.open(tmp_path / "shoe", os.O_RDWR | os.O_NOCTTY)
    every_byte = bytes(range(256))
    os.write(far, every_byte)
    await until(lambda: bytes(heard) == every_byte)
    port.write(every_byte)
    got = b""
    while len(got) < 256:
        got += await asyncio.to_thread(os.read, far, 256)
    assert got == every_byte
    os.close(far)
    port.pull()


async def test_a_pulled_port_is_gone_and_comes_back_as_another(tmp_path: Path) -> None:
    path = tmp_path / "shoe"
    before = len(os.listdir("/proc/self/fd"))
    port = PtyPort(path, lambda data: None)
    for _ in range(20):
        port.plug()
        far = os.open(path, os.O_RDWR | os.O_NOCTTY)
        port.pull()
        assert not path.is_symlink()
        with pytest.raises(OSError, match="Input/output error"):
            os.write(far, b"x")
        os.close(far)
        port.write(b"nobody hears this")
        port.pull()
    assert len(os.listdir("/proc/self/fd")) == before


async def test_f66_a_port_that_nobody_has_open_wakes_nobody(tmp_path: Path, mocker: MockerFixture) -> None:
    """A master without any far end is readable for ever."""
    port = PtyPort(tmp_path / "shoe", lambda data: None)
    port.plug()
    os.close(os.open(tmp_path / "shoe", os.O_RDWR | os.O_NOCTTY))
    reads = mocker.spy(os, "read")
    for _ in range(20):
        await asyncio.sleep(0)
    assert reads.call_count <= 1
    port.pull()


async def test_far_ends_may_come_and_go(tmp_path: Path) -> None:
    heard = bytearray()
    port = PtyPort(tmp_path / "shoe", heard.extend)
    port.plug()
    for word in (b"one", b"two"):
        far = os.open(tmp_path / "shoe", os.O_RDWR | os.O_NOCTTY)
        os.write(far, word)
        await until(lambda word=word: heard.endswith(word))  # type: ignore[misc]
        os.close(far)
    assert bytes(heard) == b"onetwo"
    port.pull()


async def test_a_reader_that_is_slow_loses_nothing(tmp_path: Path) -> None:
    port = PtyPort(tmp_path / "shoe", lambda data: None)
    port.plug()
    far = os.open(tmp_path / "shoe", os.O_RDWR | os.O_NOCTTY)
    sent = os.urandom(100_000)
    port.write(sent)
    got = bytearray()
    async with asyncio.timeout(20):
        while len(got) < len(sent):
            got += await asyncio.to_thread(os.read, far, 4096)
    assert bytes(got) == sent
    os.close(far)
    port.pull()
