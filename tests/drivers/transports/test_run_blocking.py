import asyncio
import threading

import pytest

from drivers.transports.run_blocking import run_blocking, stuck
from tests.drivers.transports.ends.pty_end import until


class Late:
    def __init__(self) -> None:
        self.results: list[int] = []


def fail() -> int:
    raise ValueError("no")


async def test_the_result_comes_back() -> None:
    late = Late()
    assert await run_blocking(lambda: 7, "a", 10, late.results.append) == 7
    assert late.results == []


async def test_what_the_work_raises_is_raised_here() -> None:
    with pytest.raises(ValueError, match="no"):
        await run_blocking(fail, "a", 10, Late().results.append)
    assert not stuck("a")


async def test_a_timeout_of_the_work_itself_is_no_hanging() -> None:
    def time_out() -> int:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        await run_blocking(time_out, "a", 10, Late().results.append)
    assert not stuck("a")


async def test_a_result_after_the_deadline_is_handed_over() -> None:
    late, release = Late(), threading.Event()
    with pytest.raises(TimeoutError):
        await run_blocking(lambda: 1 + release.wait(20), "slow", 0.01, late.results.append)
    assert stuck("slow")
    assert not stuck("other")
    release.set()
    await until(lambda: late.results == [2])
    await until(lambda: not stuck("slow"))


async def test_a_result_in_the_moment_of_giving_up_is_handed_over() -> None:
    late = Late()
    task = asyncio.create_task(run_blocking(lambda: 5, "a", 10, late.results.append))
    await asyncio.sleep(0)
    for thread in threading.enumerate():
        if thread.name == "blocking a":
            thread.join(20)
    asyncio.get_running_loop().call_soon(task.cancel)  # behind the delivery of the result, before the task runs on
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: late.results == [5])


def test_a_result_after_the_loop_has_closed_is_handed_over() -> None:
    late, release, over = Late(), threading.Event(), threading.Event()

    def take(result: int) -> None:
        late.results.append(result)
        over.set()

    async def give_up() -> None:
        with pytest.raises(TimeoutError):
            await run_blocking(lambda: 3 if release.wait(20) else 0, "a", 0.01, take)

    asyncio.run(give_up())
    release.set()
    assert over.wait(20)
    assert late.results == [3]
