"""What is committed is there, once, in order; what contradicts it is refused whole."""

import sqlite3
import tempfile
import threading
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drivers.driver import Resume
from drivers.facts import CutCard
from firmware_bridge.core.facts import NoMoreBets, Started, UnknownFact, Wager
from firmware_bridge.journal.errors import JournalConflict, JournalFailed
from firmware_bridge.journal.rows import Apply, Highest, Origin, Receive, event_body
from firmware_bridge.journal.stamp import HostClock, Stamp
from firmware_bridge.journal.store import Store
from tests.firmware_bridge.journal.facts_and_events import (
    KEYS,
    apply,
    dealt,
    draw,
    open_store,
    origin,
    receive,
)


def test_a_new_journal_is_empty(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    assert store.highest() == Highest(0, 0, 0)
    assert store.last("shoe") is None
    assert store.clock_state() is None
    assert list(store.applied()) == []
    assert list(store.pending()) == []
    assert store.set_aside is None
    assert (tmp_path / "table.journal").stat().st_mode & 0o777 == 0o600


def test_facts_come_back_in_order_of_application_with_their_events(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.commit([receive(1), receive(2)])
    store.commit([receive(3), apply(2, 1, 2)])
    store.commit([apply(1), apply(3, 3)])
    store.close()
    store = open_store(tmp_path)
    applied = list(store.applied())
    assert [row.received for row in applied] == [2, 1, 3]
    assert [row.fact for row in applied] == [receive(n).fact for n in (2, 1, 3)]
    assert [row.events for row in applied] == [
        (event_body(dealt(1)), event_body(dealt(2))),
        (),
        (event_body(dealt(3)),),
    ]
    assert store.highest() == Highest(3, 3, 3)
    assert store.events_after(1, 10) == [(2, event_body(dealt(2))), (3, event_body(dealt(3)))]
    assert store.events_after(0, 1) == [(1, event_body(dealt(1)))]


def test_what_was_received_and_not_applied_is_pending(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.commit([receive(1), receive(2), receive(3), apply(2)])
    assert [(row.received, row.origin, row.fact) for row in store.pending()] == [
        (n, origin(n), receive(n).fact) for n in (1, 3)
    ]


def test_a_repeat_is_told_and_not_stored(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    assert store.commit([receive(1)]) == frozenset()
    again = Receive(2, origin(1), draw(1), 5000)
    assert store.commit([again, receive(3)]) == {2}
    assert [row.received for row in store.pending()] == [1, 3]


def test_a_repeat_inside_one_commit_is_a_repeat_too(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    assert store.commit([receive(1), Receive(2, origin(1), draw(1), 5000)]) == {2}


def test_a_repeat_is_never_applied(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.commit([receive(1), apply(1, 1)])
    with pytest.raises(JournalConflict, match="cannot be applied again"):
        store.commit([Receive(2, origin(1), draw(1), 5000), apply(2, 2)])
    assert store.highest() == Highest(1, 1, 1)


@pytest.mark.parametrize(
    "writes",
    [
        [apply(1)],  # applied already
        [apply(9)],  # never received
        [apply(2, 3)],  # event 2 is left out
        [apply(2, 1)],  # event 1 is there
        [Receive(1, origin(9), draw(9), 1)],  # another fact has this number
        [Receive(7, origin(7), CutCard(at_ms=1), 1), apply(9)],  # the first half is good
    ],
)
def test_a_contradiction_is_refused_whole(tmp_path: Path, writes: list[Receive | Apply]) -> None:
    store = open_store(tmp_path)
    store.commit([receive(1), receive(2), apply(1, 1)])
    with pytest.raises(JournalConflict):
        store.commit(writes)
    assert store.highest() == Highest(2, 1, 1)
    store.commit([apply(2, 2)])
    assert store.highest() == Highest(2, 2, 2)


def test_last_is_the_last_received_of_that_device(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.commit([receive(1), receive(2), Receive(3, Origin("shuffler", "b", 7), CutCard(at_ms=1), 1)])
    assert store.last("shoe") == Resume(boot="boot-1", number=2)
    store.commit([Receive(4, Origin("shoe", "boot-2", 1), CutCard(at_ms=1), 1)])
    assert store.last("shoe") == Resume(boot="boot-2", number=1)
    assert store.last("shuffler") == Resume(boot="b", number=7)
    assert store.last("layout") is None


def test_answers_are_found_by_origin(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.commit([receive(1), receive(2), receive(3), apply(2), apply(1, 1, 2)])
    assert store.answer(origin(1)) == (event_body(dealt(1)), event_body(dealt(2)))
    assert store.answer(origin(2)) == ()
    assert store.answer(origin(3)) is None
    assert store.answer(origin(4)) is None


def test_the_clock_goes_on_where_it_stood(tmp_path: Path) -> None:
    stamp = Stamp(host_boot="b", monotonic_ms=77, wall_ms=1_700_000_000_000, clock_synced=True)
    store = Store.open(tmp_path / "j", KEYS, stamp=lambda: stamp)
    store.commit([Receive(1, origin(1), CutCard(at_ms=900), 100), Receive(2, origin(2), CutCard(at_ms=5), 400)])
    assert store.clock_state() == (900, "b", 77, 1_700_000_000_000)


def test_f36_each_row_says_when_it_was_written_and_whether_that_can_be_trusted(tmp_path: Path) -> None:
    """The first before the time was set, as of 1970; the order is that of reception whatever the time of day says."""
    stamps = iter(
        [
            Stamp(host_boot="b", monotonic_ms=77, wall_ms=5_000, clock_synced=False),
            Stamp(host_boot="b", monotonic_ms=78, wall_ms=1_700_000_000_000, clock_synced=True),
            Stamp(host_boot="c", monotonic_ms=3, wall_ms=1_600_000_000_000, clock_synced=False),
        ]
    )
    store = Store.open(tmp_path / "j", KEYS, stamp=lambda: next(stamps))
    for number in (1, 2, 3):
        store.commit([receive(number), apply(number, number)])
    store.close()
    stamped = "SELECT {}, host_boot, monotonic_ms, wall_ms, clock_synced FROM {}"
    with closing(sqlite3.connect(tmp_path / "j")) as raw:
        for key, table in (("received", "facts"), ("place", "applied")):
            assert raw.execute(stamped.format(key, table)).fetchall() == [
                (1, "b", 77, 5_000, 0),
                (2, "b", 78, 1_700_000_000_000, 1),
                (3, "c", 3, 1_600_000_000_000, 0),
            ]
    assert [row.received for row in Store.open(tmp_path / "j", KEYS).applied()] == [1, 2, 3]


def test_host_stamps_go_forward() -> None:
    clock = HostClock()
    first, second = clock(), clock()
    assert first.host_boot == second.host_boot != ""
    assert first.monotonic_ms <= second.monotonic_ms


@pytest.mark.parametrize(
    "fact",
    [
        Wager(at_ms=1, seat=2, ante=500, tip_play=3),
        NoMoreBets(at_ms=2**62),
        Started(at_ms=3, version="1", house=msgspec.Raw(b'{"a":[1]}'), table=msgspec.Raw(b"{}")),
        UnknownFact(at_ms=4, source="shoe", name="sang"),
    ],
)
def test_any_fact_comes_back_equal(tmp_path: Path, fact: Wager) -> None:
    store = open_store(tmp_path)
    store.commit([Receive(1, Origin("operator", "id", 0), fact, 1)])
    (stored,) = store.pending()
    assert stored.fact == fact


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_any_history_is_read_back_as_it_was_written(data: st.DataObject) -> None:
    """Against a plain list as the model: repeats, any order of application, any grouping into commits, reopening."""
    with tempfile.TemporaryDirectory() as folder:
        _write_any_history(data, Path(folder))


def _write_any_history(data: st.DataObject, folder: Path) -> None:
    store = open_store(folder)
    received: dict[int, int] = {}  # fact to its device number
    order: list[int] = []
    seq = 0
    next_id = 1
    for _ in range(data.draw(st.integers(1, 8))):
        writes: list[Receive | Apply] = []
        repeats = set()
        for _ in range(data.draw(st.integers(0, 5))):
            number = data.draw(st.integers(1, 12))
            if number in received.values():
                repeats.add(next_id)
            else:
                received[next_id] = number
            writes.append(Receive(next_id, origin(number), draw(number), next_id))
            next_id += 1
        for number in data.draw(st.permutations(sorted(set(received) - set(order))))[: data.draw(st.integers(0, 3))]:
            count = data.draw(st.integers(0, 3))
            writes.append(apply(number, *range(seq + 1, seq + count + 1)))
            seq += count
            order.append(number)
        assert store.commit(writes) == repeats
        if data.draw(st.booleans()):
            store.close()
            store = open_store(folder)
        assert [row.received for row in store.applied()] == order
        assert [row.received for row in store.pending()] == sorted(set(received) - set(order))
        assert [number for number, _ in store.events_after(0, 1000)] == list(range(1, seq + 1))
    store.close()


def test_every_commit_reaches_the_disk_before_it_returns(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    assert store._writing is not None
    assert store._writing.execute("PRAGMA synchronous").fetchone() == (2,)
    assert store._writing.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert store._writing.execute("PRAGMA foreign_keys").fetchone() == (1,)


def test_closing_waits_for_a_commit_under_way_and_the_next_one_is_refused(tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def stamp() -> Stamp:
        begun.set()
        assert go_on.wait(20)
        return Stamp(host_boot="boot", monotonic_ms=1, wall_ms=1, clock_synced=True)

    store = Store.open(tmp_path / "table.journal", KEYS, stamp=stamp)
    committing = threading.Thread(target=store.commit, args=([receive(1)],))
    committing.start()
    assert begun.wait(20)
    closing = threading.Thread(target=store.close)
    closing.start()
    closing.join(0.1)
    assert closing.is_alive()
    go_on.set()
    closing.join(20)
    committing.join(20)
    with pytest.raises(JournalFailed, match="closed"):
        store.commit([receive(2)])
    assert [row.received for row in open_store(tmp_path).pending()] == [1]
