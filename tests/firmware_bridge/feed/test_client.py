import asyncio
import contextlib
from contextlib import aclosing
from pathlib import Path

import pytest

from firmware_bridge.feed.client import FeedMissing, FeedRefused, follow
from tests.firmware_bridge.feed.feeds import DEADLINE_S, Stored, served, take, until


async def test_a_reader_goes_on_when_the_daemon_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "feed"
    stored = Stored(2)
    async with aclosing(follow(path)) as events:
        async with served(path, stored):
            assert await take(events, 2) == [1, 2]
        stored.add(2)
        async with served(path, stored):
            assert await take(events, 2) == [3, 4]


async def test_a_reader_whose_request_was_not_read_yet_goes_on_too(tmp_path: Path) -> None:
    stored = Stored(2)
    async with served(tmp_path / "feed", stored) as feed:
        reader, writer = await asyncio.open_unix_connection(tmp_path / "feed")
        await until(lambda: len(feed._clients) == 1)
        await feed.close()
        async with asyncio.timeout(DEADLINE_S):
            assert await reader.read() == b""
        writer.close()


async def test_a_reader_tells_that_nobody_is_there(tmp_path: Path) -> None:
    with pytest.raises(FeedMissing, match=r"nobody answers at .*start firmware-bridge run"):
        await anext(follow(tmp_path / "feed"))


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (b"junk\n", "no event"),
        (b'{"a":1}\n', "no event"),
        (b'{"seq":1}\n{"seq":3}\n', "left out"),
        (b'{"seq":0}\n', "no event"),
    ],
)
async def test_a_reader_tells_what_is_no_feed(tmp_path: Path, lines: bytes, told: str) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(lines)
        with contextlib.suppress(OSError):
            await writer.drain()
        writer.close()

    async with await asyncio.start_unix_server(serve, tmp_path / "feed"):
        with pytest.raises(FeedRefused, match=told):
            async for _ in follow(tmp_path / "feed"):
                pass
