"""One thread writes: in order, in groups, and a failure reaches everybody who waits."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from firmware_bridge.journal.errors import JournalFailed, JournalFull
from firmware_bridge.journal.rows import Receive, Write
from firmware_bridge.journal.writer import Writer
from tests.firmware_bridge.journal.facts_and_events import apply, draw, open_store, origin, receive


async def test_everything_asked_for_is_stored_in_order(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    writer = Writer(store)
    await asyncio.gather(*(writer.commit([receive(n), apply(n, n)]) for n in range(1, 301)))
    assert [row.received for row in store.applied()] == list(range(1, 301))
    await writer.close()
    await writer.close()
    with pytest.raises(JournalFailed, match="closed"):
        await writer.commit([receive(301)])


async def test_what_waits_goes_in_one_transaction(tmp_path: Path, mocker: MockerFixture) -> None:
    store = open_store(tmp_path)
    begun, go_on = threading.Event(), threading.Event()
    real = store.commit
    sizes = []

    def commit(writes: Sequence[Write]) -> frozenset[int]:
        sizes.append(len(writes))
        begun.set()
        go_on.wait()
        return real(writes)

    mocker.patch.object(store, "commit", commit)
    writer = Writer(store)
    first = asyncio.create_task(writer.commit([receive(1)]))
    await asyncio.to_thread(begun.wait)
    rest = [asyncio.create_task(writer.commit([receive(n)])) for n in range(2, 8)]
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.gather(first, *rest)
    assert sizes == [1, 6]
    await writer.close()


async def test_each_is_told_of_its_own_repeats(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    writer = Writer(store)
    again = Receive(2, origin(1), draw(1), 1)
    told = await asyncio.gather(*(writer.commit([write]) for write in (receive(1), again, receive(3))))
    assert [sorted(known) for known in told] == [[], [2], []]
    await writer.close()


async def test_a_failure_reaches_all_and_nothing_follows_it_before_recovery(
    tmp_path: Path, mocker: MockerFixture
) -> None:
    store = open_store(tmp_path)
    begun, go_on = threading.Event(), threading.Event()

    def fail(writes: Sequence[Write]) -> frozenset[int]:
        begun.set()
        go_on.wait()
        raise JournalFull("full")

    patch = mocker.patch.object(store, "commit", side_effect=fail)
    writer = Writer(store)
    first = asyncio.create_task(writer.commit([receive(1)]))
    await asyncio.to_thread(begun.wait)
    second = asyncio.create_task(writer.commit([receive(2)]))
    await asyncio.sleep(0)
    go_on.set()
    assert [type(error) for error in await asyncio.gather(first, second, return_exceptions=True)] == [JournalFull] * 2
    assert isinstance(writer.failure, JournalFull)
    assert patch.call_count == 1
    mocker.stop(patch)
    with pytest.raises(JournalFull):
        await writer.commit([receive(3)])
    writer.recovered()
    assert writer.failure is None
    await writer.commit([receive(4)])
    assert [row.received for row in store.pending()] == [4]
    await writer.close()


async def test_what_was_asked_for_before_a_failure_fails_even_if_recovery_is_quick(
    tmp_path: Path, mocker: MockerFixture
) -> None:
    """The thread comes to it only after the door was opened again."""
    store = open_store(tmp_path)
    begun, go_on = threading.Event(), threading.Event()
    real = store.commit
    outcomes = iter([JournalFull("full"), None])

    def commit(writes: Sequence[Write]) -> frozenset[int]:
        begun.set()
        go_on.wait()
        outcome = next(outcomes)
        if outcome is not None:
            raise outcome
        return real(writes)

    mocker.patch.object(store, "commit", commit)
    writer = Writer(store)
    first = asyncio.create_task(writer.commit([receive(1)]))
    await asyncio.to_thread(begun.wait)
    late = asyncio.create_task(writer.commit([receive(2)]))
    await asyncio.sleep(0)
    writer.recovered()
    fresh = asyncio.create_task(writer.commit([receive(3)]))
    await asyncio.sleep(0)
    go_on.set()
    results = await asyncio.gather(first, late, fresh, return_exceptions=True)
    assert [type(result) for result in results] == [JournalFull, JournalFull, frozenset]
    assert [row.received for row in store.pending()] == [3]
    await writer.close()


async def test_a_waiter_that_gives_up_takes_nothing_back(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    writer = Writer(store)
    given_up = asyncio.create_task(writer.commit([receive(1)]))
    await asyncio.sleep(0)
    given_up.cancel()
    await writer.commit([receive(2)])
    assert [row.received for row in store.pending()] == [1, 2]
    await writer.close()
