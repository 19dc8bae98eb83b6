"""The one thread that writes: whatever waits goes to the disk in one transaction, in the order it came."""

import asyncio
import queue
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from firmware_bridge.journal.errors import JournalFailed
from firmware_bridge.journal.rows import Receive, Write
from firmware_bridge.journal.store import Store

_GROUP: Final = 256


@dataclass(frozen=True, slots=True)
class _Waiting:
    """`era` counts the recoveries before it was asked for: what was asked for before a failure fails with it."""

    era: int
    writes: Sequence[Write]
    done: asyncio.Future[frozenset[int]]


class Writer:
    """Commits for one event loop, which must be running when this is made.

    After a failed commit everything that waits fails too and every later commit is refused with the same error:
    what came after may rest on what was lost. `recovered` opens the door again, once the core was rebuilt.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._failure: Exception | None = None
        self._era = 0
        self._failed_era = -1
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    @property
    def failure(self) -> Exception | None:
        """Why commits are refused; None while they are not."""
        return self._failure

    async def commit(self, writes: Sequence[Write]) -> frozenset[int]:
        """Store `writes`, all or nothing; durable when it returns. As `Store.commit`."""
        if self._closed:
            raise JournalFailed(f"the journal {self._store.path} is closed")
        if self._failure is not None:
            raise self._failure
        waiting = _Waiting(self._era, tuple(writes), self._loop.create_future())
        self._queue.put(waiting)
        return await waiting.done

    def recovered(self) -> None:
        """Take commits again. To be called when the core stands where the journal stands."""
        self._era += 1
        self._failure = None

    async def close(self) -> None:
        """Write what waits, then end the thread. The store stays open. A second call does nothing."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        last_error: Exception = JournalFailed("nothing failed yet")
        going_on = True
        while going_on:
            group, going_on = self._next_group()
            spoilt = [waiting for waiting in group if waiting.era <= self._failed_era]
            self._tell(spoilt, last_error)
            group = [waiting for waiting in group if waiting.era > self._failed_era]
            if not group:
                continue
            try:
                known = self._store.commit([write for waiting in group for write in waiting.writes])
            except Exception as error:  # noqa: BLE001 - whatever it is, it must reach those who wait
                last_error = error
                self._failed_era = max(waiting.era for waiting in group)
                self._failure = error
                self._tell(group, error)
            else:
                self._tell(group, known)

    def _next_group(self) -> tuple[list[_Waiting], bool]:
        """What waits now, at least one; and whether there is more to come."""
        group = []
        waiting = self._queue.get()
        while waiting is not None:
            group.append(waiting)
            if len(group) == _GROUP or self._queue.empty():
                return group, True
            waiting = self._queue.get()
        return group, False

    def _tell(self, group: list[_Waiting], outcome: frozenset[int] | Exception) -> None:
        if group and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(_settle, group, outcome)


def _settle(group: list[_Waiting], outcome: frozenset[int] | Exception) -> None:
    for waiting in group:
        if waiting.done.done():
            continue
        if isinstance(outcome, Exception):
            waiting.done.set_exception(outcome)
        else:
            own = {write.received for write in waiting.writes if isinstance(write, Receive)}
            waiting.done.set_result(outcome & own)
