"""Calls that may block for ever in the kernel, made beside the event loop.

Each gets a daemon thread of its own: the threads of a pool are joined at exit, so one stuck in a driver would keep
the process alive.
"""

import asyncio
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class _Aside(threading.Thread, Generic[T]):
    def __init__(self, work: Callable[[], T], subject: str, too_late: Callable[[T], None]) -> None:
        super().__init__(name=f"blocking {subject}", daemon=True)
        self.subject = subject
        self.abandoned = False
        self._work = work
        self._too_late = too_late
        self._loop = asyncio.get_running_loop()
        self.outcome: asyncio.Future[T] = self._loop.create_future()

    def run(self) -> None:
        try:
            result = self._work()
        except Exception as error:  # noqa: BLE001  whatever it is, it belongs to the one who waits
            failure = error
            self._post(lambda: self._fail(failure), lambda: None)
        else:
            self._post(lambda: self._succeed(result), lambda: self._too_late(result))

    def _post(self, deliver: Callable[[], None], otherwise: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(deliver)
        except RuntimeError:  # the loop was closed in the meantime
            otherwise()

    def _fail(self, error: Exception) -> None:
        if not self.outcome.done():
            self.outcome.set_exception(error)

    def _succeed(self, result: T) -> None:
        if self.outcome.done():
            self.turn_down(result)
        else:
            self.outcome.set_result(result)

    def turn_down(self, result: T) -> None:
        threading.Thread(target=self._too_late, args=(result,), daemon=True).start()


async def run_blocking(work: Callable[[], T], subject: str, timeout_s: float, too_late: Callable[[T], None]) -> T:
    """Run `work` in a thread and wait for its result; what it raises is raised here.

    Raises TimeoutError after `timeout_s`. The thread is left to itself then, as it is when the waiting task is
    cancelled, and `too_late` gets its result in a thread, should one ever come. `subject` names what is worked on.
    """
    thread = _Aside(work, subject, too_late)
    thread.start()
    outcome = thread.outcome
    try:
        async with asyncio.timeout(timeout_s):
            return await outcome
    except (TimeoutError, asyncio.CancelledError):
        if not outcome.done() or outcome.cancelled():
            thread.abandoned = True
        elif outcome.exception() is None:  # it came in the very moment of giving up
            thread.turn_down(outcome.result())
        raise


def stuck(subject: str) -> bool:
    """Is a call about `subject` still running that nobody waits for any more?"""
    return any(isinstance(t, _Aside) and t.abandoned and t.subject == subject for t in threading.enumerate())
