"""Log lines: for people on a terminal, JSON elsewhere, with their weight before it in the system's journal.

A line never carries a card that lies face down: facts and events are logged by their names and numbers, errors by
their kind and place, never by their text where that may quote a fact.
"""

import enum
import logging
import os
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

BURST_LINES: Final = 100
BURST_WINDOW_S: Final = 10.0
_NEVER_DROPPED: Final = frozenset({"debug", "error", "critical"})
_INFO: Final = 6
_WEIGHTS: Final = {"debug": 7, "warning": 4, "error": 3, "critical": 2}


class LogLevel(enum.Enum):
    """The least that is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogEvent(enum.StrEnum):
    """The key of a line, for programs that watch logs. What each means stands in firmware_bridge/LOGS.md."""

    READY = "ready"
    STOPPED = "stopped"
    DEALING_HELD = "dealing_held"
    DEALING_RESUMED = "dealing_resumed"
    FACTS_NOT_TAKEN = "facts_not_taken"
    STOP_TOOK_LONG = "stop_took_long"
    EVENT_PUBLISHED = "event_published"
    JOURNAL_SET_ASIDE = "journal_set_aside"
    SIGN_OF_LIFE_WITHHELD = "sign_of_life_withheld"
    STATUS_NOT_REPORTED = "status_not_reported"
    HOTPLUG_UNAVAILABLE = "hotplug_unavailable"
    DEVICE_CONNECTED = "device_connected"
    DEVICE_WAITING = "device_waiting"
    DEVICE_REFUSED = "device_refused"
    DEVICE_SILENT = "device_silent"
    DEVICE_HEARD_AGAIN = "device_heard_again"
    DEVICE_ALARM = "device_alarm"
    DEVICE_FACT = "device_fact"
    COMMAND_SENT = "command_sent"
    COMMAND_OUTCOME = "command_outcome"
    CAPTURE_STARTED = "capture_started"
    CAPTURE_STOPPED = "capture_stopped"
    LIBRARY_MESSAGE = "library_message"


def start_logs(level: LogLevel, stream: TextIO | None = None) -> None:
    """Log to `stream`, standard error by default, from `level` on. A line that cannot be written is lost: the next
    one that can says in `lost` how many were, and whoever logs goes on.
    """
    out = stream or sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  open as long as the process
    lines = _Lines(out)
    last: tuple[Processor, ...]
    if out.isatty():
        last = _sentence_first, structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    else:
        last = (_weighed if _is_journal(out) else structlog.processors.JSONRenderer(),)
    number: int = getattr(logging, level.name)
    structlog.configure(
        processors=[
            BurstLimit(),
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            lines.count_lost,
            *last,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=lambda *_: lines,
        cache_logger_on_first_use=False,
    )
    logging.basicConfig(handlers=[_FromLibraries()], level=max(number, logging.WARNING), force=True)


def place_of(error: BaseException) -> str:
    """Where an error arose, without its text: "daemon.py line 12"."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name} line {frames[-1].lineno}" if frames else "an unknown place"


class BurstLimit:
    """A line logged over and over costs the lines around it, since system loggers drop whatever comes in a storm.

    Lets `lines` lines of one kind (level, key and sentence) through in each window of `window_s`, errors always.

    The next line of any kind says in `suppressed` how many were not shown. `now_s`: a monotonic clock.
    """

    def __init__(
        self, lines: int = BURST_LINES, window_s: float = BURST_WINDOW_S, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._lines = lines
        self._window_s = window_s
        self._now_s = now_s
        self._began_s = now_s()
        self._seen: Counter[tuple[str, str, str]] = Counter()
        self._suppressed = 0

    def __call__(self, _: WrappedLogger, level: str, fields: EventDict) -> EventDict:
        """The line as it is to be written. Raises structlog.DropEvent for one too many."""
        now_s = self._now_s()
        if now_s - self._began_s >= self._window_s:
            self._began_s = now_s
            self._seen.clear()
        if level not in _NEVER_DROPPED:
            kind = (level, str(fields["event"]), str(fields.get("sentence", "")))
            self._seen[kind] += 1
            if self._seen[kind] > self._lines:
                self._suppressed += 1
                raise structlog.DropEvent
        if self._suppressed:
            fields["suppressed"] = self._suppressed
            self._suppressed = 0
        return fields


def _sentence_first(_: WrappedLogger, __: str, fields: EventDict) -> EventDict:
    """On a terminal a person reads the sentence where a program reads the key."""
    if "sentence" in fields:
        fields["event"] = fields.pop("sentence")
    return fields


def _is_journal(out: TextIO) -> bool:
    """Does `out` lead to the system's journal? It says in the environment which stream that is."""
    try:
        there = os.fstat(out.fileno())
    except (OSError, ValueError):
        return False
    return os.environ.get("JOURNAL_STREAM") == f"{there.st_dev}:{there.st_ino}"


def _weighed(logger: WrappedLogger, level: str, fields: EventDict) -> str:
    """JSON after the mark that the journal takes for the line's weight."""
    told = structlog.processors.JSONRenderer()(logger, level, fields)
    return f"<{_WEIGHTS.get(level, _INFO)}>{told if isinstance(told, str) else told.decode()}"


class _Lines:
    """A full disk, a reader that went away: nothing that becomes of the log may stop the table."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._lost = 0

    def count_lost(self, _: WrappedLogger, __: str, fields: EventDict) -> EventDict:
        if self._lost:
            fields["lost"] = self._lost
        return fields

    def msg(self, line: str) -> None:
        try:
            print(line, file=self._out, flush=True)
        except (OSError, ValueError):  # no room, no reader; or closed
            self._lost += 1
        else:
            self._lost = 0

    debug = info = warning = error = critical = log = msg


class _FromLibraries(logging.Handler):
    """What libraries log goes the same way; an error they caught is named by its kind and place alone."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        fields = {"sentence": str(record.msg).partition("\n")[0], "library": record.name}
        if error is not None:
            fields |= {"error": type(error).__name__, "where": place_of(error)}
        structlog.get_logger("library").log(record.levelno, LogEvent.LIBRARY_MESSAGE, **fields)
