"""Signals that ask this process to end: it takes down what it has set up, and ends with the status of the signal."""

import signal
from types import FrameType
from typing import Final

NUMBERS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def status_of(number: int) -> int:
    """What a shell shows of a process that this signal ended."""
    return 128 + number


def end_by_signals() -> None:
    """From here on the first of them raises SystemExit, wherever the program is; `nohup` stays in force."""
    for number in NUMBERS:
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def ignore_signals() -> None:
    """One was heard: what is taken down now must not be interrupted by the next one.

    They are held back meanwhile: one that Python has taken in and whose handler is gone would be an error of its own.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, NUMBERS)
    for number in NUMBERS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(number: int, _: FrameType | None) -> None:
    ignore_signals()
    raise SystemExit(status_of(number))
