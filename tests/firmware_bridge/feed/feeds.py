"""A feed over events that lie in memory, and a client that says what the test wants said."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from firmware_bridge.feed.client import FeedLine
from firmware_bridge.feed.server import Feed

DEADLINE_S = 20


class Stored:
    """A history in memory."""

    def __init__(self, count: int = 0, padding: int = 0) -> None:
        self.events: list[tuple[int, bytes]] = []
        self.padding = padding
        self.error: Exception | None = None
        self.add(count)

    def add(self, count: int) -> list[tuple[int, bytes]]:
        first = len(self.events) + 1
        new = [
            (seq, json.dumps({"seq": seq, "pad": "x" * self.padding}).encode()) for seq in range(first, first + count)
        ]
        self.events += new
        return new

    def events_after(self, seq: int, limit: int) -> list[tuple[int, bytes]]:
        if self.error is not None:
            raise self.error
        return self.events[seq : seq + limit]

    def last_seq(self) -> int:
        return len(self.events)


@asynccontextmanager
async def served(path: Path, stored: Stored, backlog: int = 2000) -> AsyncIterator[Feed]:
    feed = Feed(path, stored, backlog=backlog)
    await feed.start()
    try:
        yield feed
    finally:
        await feed.close()


async def take(events: AsyncGenerator[FeedLine, None], count: int) -> list[int]:
    async with asyncio.timeout(DEADLINE_S):
        return [(await anext(events)).seq for _ in range(count)]


async def until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110 - what is waited for is inside the feed
        await asyncio.sleep(0)


async def ask(path: Path, line: bytes) -> list[dict[str, object]]:
    """What comes back until the server closes."""
    reader, writer = await asyncio.open_unix_connection(path)
    async with asyncio.timeout(DEADLINE_S):
        writer.write(line)
        answer = await reader.read()
    writer.close()
    return [json.loads(line) for line in answer.splitlines()]
