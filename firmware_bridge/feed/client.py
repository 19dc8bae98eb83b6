"""Following the feed from another process: every event once, in order, over any number of reconnections."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import msgspec

from firmware_bridge.unix_sockets import unanswered

LINE_BYTES: Final = 1 << 22
_FIRST_WAIT_S: Final = 0.05
_LONGEST_WAIT_S: Final = 2.0


class FeedMissing(Exception):
    """Nobody listens at the socket; the sentence says where and what to do."""


class FeedRefused(Exception):
    """The daemon will not serve what was asked; the text is its sentence."""


@dataclass(frozen=True, slots=True)
class FeedLine:
    """An event's JSON, without the line feed."""

    seq: int
    line: bytes


class _Head(msgspec.Struct):
    seq: Annotated[int, msgspec.Meta(ge=1)] | None = None
    error: str | None = None
    after: int | None = None


_HEAD: Final = msgspec.json.Decoder(_Head)


async def follow_once(path: Path, after: int = 0) -> AsyncGenerator[FeedLine, None]:
    """The events after `after`, until the connection ends. Raises FeedMissing, FeedRefused."""
    try:
        reader, writer = await asyncio.open_unix_connection(path, limit=LINE_BYTES)
    except OSError as error:
        raise FeedMissing(unanswered(path, error)) from error
    cursor = after
    try:
        writer.write(msgspec.json.encode({"after": after}) + b"\n")
        while (line := await reader.readline()).endswith(b"\n"):
            head = _HEAD.decode(line)
            if head.seq is None:
                if head.after is None:
                    raise FeedRefused(head.error or f"the feed at {path} sent a line that is no event")
                return
            if head.seq > cursor + 1:
                raise FeedRefused(f"the feed at {path} left out what came after event {cursor}")
            if head.seq == cursor + 1:
                cursor = head.seq
                yield FeedLine(cursor, line[:-1])
    except (msgspec.DecodeError, ValueError) as error:
        raise FeedRefused(f"the feed at {path} sent a line that is no event: {error}") from error
    except OSError:
        return  # the daemon has gone; the half line it may have left is sent again
    finally:
        writer.close()


async def follow(path: Path, after: int = 0) -> AsyncGenerator[FeedLine, None]:
    """The events after `after`, for ever: when the daemon goes away this waits for it to come back.

    Raises FeedMissing where nobody listens at the start, FeedRefused when the daemon refuses what is asked.
    """
    cursor = after
    was_there = False
    wait_s = _FIRST_WAIT_S
    while True:
        begun_at = cursor
        try:
            async with aclosing(follow_once(path, cursor)) as events:
                async for event in events:
                    cursor = event.seq
                    yield event
            was_there = True
        except FeedMissing:
            if not was_there:
                raise
        wait_s = _FIRST_WAIT_S if cursor > begun_at else min(2 * wait_s, _LONGEST_WAIT_S)
        await asyncio.sleep(wait_s)
