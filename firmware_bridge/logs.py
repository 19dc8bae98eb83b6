"""Log lines: for people on a terminal, JSON elsewhere.

A line never carries a card that lies face down: facts and events are logged by their names and numbers, errors by
their kind and place, never by their text where that may quote a fact.
"""

import enum
import logging
import sys
import traceback
from pathlib import Path
from typing import TextIO

import structlog
from structlog.typing import Processor


class LogLevel(enum.Enum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def start_logs(level: LogLevel, stream: TextIO | None = None) -> None:
    """Log to `stream`, standard error by default, from `level` on."""
    out = sys.stderr if stream is None else stream
    last: Processor
    if out.isatty():
        last = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    else:
        last = structlog.processors.JSONRenderer()
    number: int = getattr(logging, level.name)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            last,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.PrintLoggerFactory(out),
        cache_logger_on_first_use=False,
    )
    logging.basicConfig(handlers=[_FromLibraries()], level=max(number, logging.WARNING), force=True)


def place_of(error: BaseException) -> str:
    """Where an error arose, without its text: "daemon.py line 12"."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name} line {frames[-1].lineno}" if frames else "an unknown place"


class _FromLibraries(logging.Handler):
    """What libraries log goes the same way; an error they caught is named by its kind and place alone."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        fields = {"library": record.name}
        if error is not None:
            fields |= {"error": type(error).__name__, "where": place_of(error)}
        structlog.get_logger("library").log(record.levelno, str(record.msg).partition("\n")[0], **fields)
