"""Waiting on a bench: for the thing itself, with a deadline, and with a sign that somebody is still waiting."""

import asyncio
import time
from collections.abc import Callable
from operator import methodcaller
from typing import Final, TypeAlias

LOOK_S: Final = 0.005
PROGRESS_S: Final = 1.0

Progress: TypeAlias = Callable[[str, float, float], None]
"""Called about once a second: what is waited for, since how long, and for how long at most, in seconds."""


class BenchFaultError(Exception):
    """The bench did not do what it has to; the text says what was awaited, and of whom."""


said_by_itself: Final = methodcaller("errisinstance", BenchFaultError)
"""As `__tracebackhide__`: that error's sentence says all, and where in this suite it was noticed says nothing more."""
__tracebackhide__ = said_by_itself


def unseen(_what: str, _waited_s: float, _within_s: float) -> None:
    pass


async def until(ready: Callable[[], bool], what: str, within_s: float, progress: Progress = unseen) -> None:
    """Raises BenchFaultError when `within_s` seconds are over first."""
    began_s = time.monotonic()
    told_s = 0.0
    while not ready():
        waited_s = time.monotonic() - began_s
        if waited_s > within_s:
            raise BenchFaultError(f"waited {within_s:.0f} s in vain for {what}")
        if waited_s - told_s >= PROGRESS_S:
            told_s = waited_s
            progress(what, waited_s, within_s)
        await asyncio.sleep(LOOK_S)
