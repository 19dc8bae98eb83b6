import threading
from pathlib import Path

import pytest

from firmware_bridge.core import events as ev
from firmware_bridge.journal.errors import JournalFailed, WrongKey
from firmware_bridge.journal.rows import Apply, encoded, event_body
from firmware_bridge.journal.store import Store
from tests.firmware_bridge.journal.facts_and_events import (
    KEYS,
    OTHER_KEYS,
    apply,
    dealt,
    open_store,
    receive,
)


def test_more_rows_than_one_chunk(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    count = 1203
    store.commit([receive(n) for n in range(1, 2 * count + 1)])
    store.commit([apply(n, n) for n in range(1, count + 1)])
    assert [row.received for row in store.applied()] == list(range(1, count + 1))
    assert all(row.events == (event_body(dealt(row.received)),) for row in store.applied())
    assert [row.received for row in store.pending()] == list(range(count + 1, 2 * count + 1))


def test_reading_sees_nothing_of_a_commit_under_way(tmp_path: Path) -> None:
    """Whoever reads while the writer works sees all of a commit or nothing of it."""
    store = open_store(tmp_path)
    reader = Store.open(tmp_path / "table.journal", None, read_only=True)
    seen: set[tuple[int, int]] = set()
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            for view in (reader, store):
                highest = view.highest()
                seen.add((highest.received - 2 * highest.applied, highest.seq - 2 * highest.applied))

    thread = threading.Thread(target=read)
    thread.start()
    try:
        for n in range(1, 200):
            store.commit([receive(2 * n - 1), receive(2 * n), apply(2 * n, 2 * n - 1, 2 * n)])
    finally:
        done.set()
        thread.join()
    assert seen == {(0, 0)}


def test_reading_needs_no_key_and_writes_nothing(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.commit([receive(1), apply(1, 1)])
    reader = Store.open(tmp_path / "table.journal", None, read_only=True)
    assert reader.events_after(0, 5) == [(1, event_body(dealt(1)))]
    with pytest.raises(WrongKey, match="sealed"):
        list(reader.applied())
    with pytest.raises(JournalFailed, match="reading alone"):
        reader.commit([receive(2)])


def test_another_key_is_told(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    with pytest.raises(WrongKey, match=f"{KEYS.key_id}.*{OTHER_KEYS.key_id}"):
        open_store(tmp_path, OTHER_KEYS)
    with pytest.raises(WrongKey):
        Store.open(tmp_path / "table.journal", OTHER_KEYS, read_only=True)
    open_store(tmp_path).close()


def test_there_is_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(JournalFailed, match="there is no journal"):
        Store.open(tmp_path / "none", None, read_only=True)
    with pytest.raises(JournalFailed, match="folder"):
        Store.open(tmp_path / "no folder" / "j", KEYS)


def test_a_round_is_found_with_the_facts_before_it(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    rounds = [
        (ev.DeckIn(seq=1),),
        (ev.RoundOpened(seq=2, round=1, house="h", seats=(1,)),),
        (
            ev.DealerRevealed(seq=3, round=1, qualifies=True),
            ev.RoundSettled(seq=4, round=1, seats={}, order=()),
        ),
        (ev.DeckIn(seq=5, round=1),),
        (ev.RoundOpened(seq=6, round=2, house="h", seats=(1,)),),
        (ev.RoundVoid(seq=7, round=2, reason=None),),
        (ev.RoundOpened(seq=8, round=3, house="h", seats=(1,)),),
        (),
    ]
    for number, events in enumerate(rounds, 1):
        store.commit([receive(number), Apply(number, encoded(events))])
    assert store.last_round() == 3
    assert [[row.received for row in store.round_facts(n)] for n in range(5)] == [[], [1, 2, 3], [4, 5, 6], [7, 8], []]
