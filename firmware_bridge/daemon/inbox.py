"""What waits for the task that owns the core: reports, requests and barriers, in the order in which they came."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from drivers.driver import Report
from drivers.facts import Fact


@dataclass(frozen=True, slots=True)
class Reported:
    """What the connection of `device` has reported."""

    device: str
    report: Report
    at_ms: int


@dataclass(frozen=True, slots=True)
class Requested:
    """What `actor` reports at the control socket, under the id `request`."""

    request: str
    actor: str
    fact: Fact
    at_ms: int


@dataclass(frozen=True, slots=True)
class Barrier:
    """Somebody waits until everything handed in before this has been applied."""

    token: str


Handed: TypeAlias = Reported | Requested | Barrier


class Inbox:
    """Filled by anybody on the event loop, emptied by one task."""

    def __init__(self) -> None:
        self._waiting: deque[Handed] = deque()
        self._news = asyncio.Event()

    def put(self, handed: Handed) -> None:
        """Append, and wake the owner."""
        self._waiting.append(handed)
        self._news.set()

    def wake(self) -> None:
        """Let the owner go round once, though nothing was handed in."""
        self._news.set()

    def clear(self) -> None:
        """Drop all that waits."""
        self._waiting.clear()

    def taken_out(self) -> Iterator[Handed]:
        """All that waits, oldest first, and what comes meanwhile."""
        while self._waiting:
            yield self._waiting.popleft()

    async def wait(self, timeout_s: float | None) -> None:
        """Until something waits, somebody wakes the owner, or `timeout_s` has passed (None: however long)."""
        if self._waiting:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self.woken()

    async def woken(self) -> None:
        """Until the next `put` or `wake`, whatever waits already."""
        self._news.clear()
        await self._news.wait()
