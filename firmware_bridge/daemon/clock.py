"""The table's one clock: milliseconds that never run backwards, over restarts too."""

import time
from collections.abc import Callable

from firmware_bridge.journal.rows import ClockState
from firmware_bridge.journal.stamp import read_host_boot


def host_ms() -> int:
    """The host's monotonic clock."""
    return time.monotonic_ns() // 1_000_000


class TableClock:
    """Goes on from where the journal says that it stood. The time that the daemon was away counts where it can be
    known: within one boot of the host.
    """

    def __init__(
        self, stood: ClockState | None, host_boot: str | None = None, now: Callable[[], int] = host_ms
    ) -> None:
        self._now = now
        self._offset_ms = -now()
        if stood is not None:
            same_boot = stood.host_boot == (host_boot or read_host_boot())
            since_ms = stood.monotonic_ms if same_boot else now()
            self._offset_ms = stood.at_ms - min(since_ms, now())

    def __call__(self) -> int:
        """Now, in ms of the table's clock."""
        return self._now() + self._offset_ms
