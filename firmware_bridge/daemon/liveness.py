"""The daemon's parts, made to move and watched, so that systemd hears of a daemon that works and of no other."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

import structlog

from firmware_bridge.daemon.systemd import Notifier, Watchdog
from firmware_bridge.journal.errors import JournalError
from firmware_bridge.logs import LogEvent, place_of

CORE = "core"
WRITER = "writer"


class Liveness:
    """Tells `notifier` how the daemon lives.

    `wake()` makes the owner of the core take a batch, which beats CORE. `commit()` sends nothing through the journal's
    writer and comes back when it was there. `standing`: parts that wait for others and have no turns of their own, by
    name; each answers whether it is still there. `summary()`: one line without cards.
    """

    def __init__(
        self,
        notifier: Notifier,
        *,
        wake: Callable[[], None],
        commit: Callable[[], Awaitable[object]],
        standing: Mapping[str, Callable[[], bool]],
        summary: Callable[[], str],
    ) -> None:
        self._notifier = notifier
        self._wake = wake
        self._commit = commit
        self._standing = standing
        self._summary = summary
        self._watchdog = Watchdog(notifier, (CORE, WRITER, *standing))
        self._writing: asyncio.Task[None] | None = None
        self._log = structlog.get_logger("watchdog")
        self._complained = False

    @contextlib.asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """While the daemon runs: signs of life as long as all its parts move."""
        watching = asyncio.create_task(self._watchdog.run(self._nudge), name="watchdog")
        try:
            yield
        finally:
            tasks = [watching] if self._writing is None else [watching, self._writing]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def turned(self) -> None:
        """The core's owner has gone round once."""
        self._watchdog.beat(CORE)

    def ready(self) -> None:
        """The journal is read and the sockets are open: say so to systemd."""
        self._tell_status()
        self._notifier.ready()

    def stopping(self) -> None:
        """Say to systemd that the daemon stops by itself."""
        self._notifier.stopping()

    def _nudge(self) -> None:
        self._wake()
        for part, stands in self._standing.items():
            if stands():
                self._watchdog.beat(part)
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_nothing(), name="sign of the writer")
        self._tell_status()

    def _tell_status(self) -> None:
        """A defect in one line of text is told, and does not end a daemon that works."""
        try:
            self._notifier.status(self._summary())
        except Exception as error:  # noqa: BLE001 - its text may quote a card
            if not self._complained:
                self._complained = True
                told = f"{type(error).__name__} in {place_of(error)}"
                sentence = f"how the daemon stands cannot be told to systemd ({told}): report it"
                self._log.error(LogEvent.STATUS_NOT_REPORTED, sentence=sentence)

    async def _write_nothing(self) -> None:
        with contextlib.suppress(JournalError):  # whoever had something to write has been told
            await self._commit()
        self._watchdog.beat(WRITER)
