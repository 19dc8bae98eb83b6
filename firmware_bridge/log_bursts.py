"""A line that is logged over and over costs the lines around it: system loggers drop whatever comes in a storm."""

import time
from collections import Counter
from collections.abc import Callable
from typing import Final

import structlog
from structlog.typing import EventDict, WrappedLogger

LINES: Final = 100
WINDOW_S: Final = 10.0
_ALWAYS: Final = frozenset({"debug", "error", "critical"})


class BurstLimit:
    """Lets `lines` lines of one kind (level and text) through in each window of `window_s`, errors always.

    The next line of any kind says in `suppressed` how many were not shown. `now_s`: a monotonic clock.
    """

    def __init__(
        self, lines: int = LINES, window_s: float = WINDOW_S, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._lines = lines
        self._window_s = window_s
        self._now_s = now_s
        self._began_s = now_s()
        self._seen: Counter[tuple[str, str]] = Counter()
        self._suppressed = 0

    def __call__(self, _: WrappedLogger, level: str, fields: EventDict) -> EventDict:
        now_s = self._now_s()
        if now_s - self._began_s >= self._window_s:
            self._began_s = now_s
            self._seen.clear()
        if level not in _ALWAYS:
            kind = (level, str(fields["event"]))
            self._seen[kind] += 1
            if self._seen[kind] > self._lines:
                self._suppressed += 1
                raise structlog.DropEvent
        if self._suppressed:
            fields["suppressed"] = self._suppressed
            self._suppressed = 0
        return fields
