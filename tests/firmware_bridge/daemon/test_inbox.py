"""The inbox: nothing handed in is lost or doubled, and whoever waits is woken."""

import asyncio

import pytest

from drivers.driver import Heard
from firmware_bridge.daemon.inbox import Barrier, Inbox, Reported


def test_what_was_handed_in_comes_out_once_and_in_order() -> None:
    inbox = Inbox()
    first, second = Barrier("one"), Reported("shoe", Heard(5), 7)
    inbox.put(first)
    inbox.put(second)
    assert list(inbox.taken_out()) == [first, second]
    assert list(inbox.taken_out()) == []


def test_what_comes_while_it_is_emptied_comes_out_too() -> None:
    inbox = Inbox()
    inbox.put(Barrier("one"))
    taken = []
    for handed in inbox.taken_out():
        taken.append(handed)
        if len(taken) == 1:
            inbox.put(Barrier("two"))
    assert taken == [Barrier("one"), Barrier("two")]


def test_what_is_dropped_does_not_come_out() -> None:
    inbox = Inbox()
    inbox.put(Barrier("one"))
    inbox.clear()
    assert list(inbox.taken_out()) == []


async def test_something_that_waits_is_news_at_once() -> None:
    inbox = Inbox()
    inbox.put(Barrier("one"))
    await asyncio.wait_for(inbox.wait(None), 5)


async def test_what_is_handed_in_later_ends_the_wait() -> None:
    inbox = Inbox()
    waiting = asyncio.create_task(inbox.wait(None))
    await asyncio.sleep(0)
    assert not waiting.done()
    inbox.put(Barrier("one"))
    await asyncio.wait_for(waiting, 5)
    assert list(inbox.taken_out()) == [Barrier("one")]


async def test_a_wait_ends_with_its_time() -> None:
    await asyncio.wait_for(Inbox().wait(0.001), 5)


async def test_the_owner_is_woken_though_something_waits_already() -> None:
    inbox = Inbox()
    inbox.put(Barrier("one"))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(inbox.woken(), 0.01)
    woken = asyncio.create_task(inbox.woken())
    await asyncio.sleep(0)
    inbox.wake()
    await asyncio.wait_for(woken, 5)
