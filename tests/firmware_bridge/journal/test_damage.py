"""Files that are no sound journal of ours: told in a sentence, set aside or left alone, never overwritten."""

import shutil
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.journal.errors import JournalDamaged, JournalError
from firmware_bridge.journal.rows import Highest
from firmware_bridge.journal.store import Store
from tests.firmware_bridge.journal.facts_and_events import KEYS, apply, open_store, receive


def _filled(folder: Path, commits: int = 60) -> Path:
    """A closed journal of many pages."""
    store = open_store(folder)
    for n in range(1, commits + 1):
        store.commit([receive(n), apply(n, n)])
    store.close()
    return folder / "table.journal"


@pytest.mark.parametrize("how", ["cut", "zeroed"])
def test_a_damaged_journal_is_set_aside_and_a_new_one_names_it(tmp_path: Path, how: str) -> None:
    path = _filled(tmp_path)
    content = bytearray(path.read_bytes())
    assert len(content) > 5 * 4096
    if how == "cut":
        content = content[: 3 * 4096]
    else:
        content[4096 : 4 * 4096] = bytes(3 * 4096)
    path.write_bytes(content)
    with pytest.raises(JournalError):
        Store.open(path, KEYS, read_only=True).answer(receive(3).origin)
    store = open_store(tmp_path)
    assert isinstance(store.set_aside, JournalDamaged)
    (aside,) = tmp_path.glob("table.journal.damaged-*")
    assert str(aside) in str(store.set_aside)
    assert store.predecessor() == str(aside)
    assert aside.read_bytes() == content
    assert store.highest() == Highest(0, 0, 0)
    store.commit([receive(1)])
    store.close()
    again = open_store(tmp_path)
    assert again.set_aside is None
    assert again.predecessor() == str(aside)


def test_a_log_without_its_journal_is_set_aside_too(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.commit([receive(1)])
    log = tmp_path / "table.journal-wal"
    kept = log.read_bytes()
    store.close()
    (tmp_path / "table.journal").unlink()
    log.write_bytes(kept)
    store = open_store(tmp_path)
    assert isinstance(store.set_aside, JournalDamaged)
    assert store.highest() == Highest(0, 0, 0)
    (aside,) = tmp_path.glob("table.journal.damaged-*-wal")
    assert aside.read_bytes() == kept


def test_two_damaged_journals_keep_two_names(tmp_path: Path) -> None:
    for _ in range(2):
        path = _filled(tmp_path)
        path.write_bytes(path.read_bytes()[: 2 * 4096])
        open_store(tmp_path).close()
        path.unlink()
    assert len(list(tmp_path.glob("table.journal.damaged-*"))) == 2


@pytest.mark.parametrize(
    ("table", "column"), [("facts", "body"), ("events", "body"), ("facts", "number"), ("facts", "actor")]
)
def test_a_changed_row_is_found_when_it_is_read(tmp_path: Path, table: str, column: str) -> None:
    """Pages are sound, the content is not: only the row's checksum can tell."""
    path = _filled(tmp_path, 3)
    with sqlite3.connect(path) as connection:
        changed = {"number": "12", "actor": "'pit'", "body": "zeroblob(length(body))"}[column]
        connection.execute(f"UPDATE {table} SET {column} = {changed} WHERE rowid = 2")  # noqa: S608
    connection.close()
    store = open_store(tmp_path)
    with pytest.raises(JournalDamaged, match=r"(fact|event) 2"):
        list(store.applied())


def test_a_missing_event_is_found_when_it_is_read(tmp_path: Path) -> None:
    path = _filled(tmp_path, 3)
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM events WHERE seq = 2")
    connection.close()
    with pytest.raises(JournalDamaged, match="fact 2 has 0 of its 1 events"):
        list(open_store(tmp_path).applied())


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_torn_log_leaves_a_whole_number_of_commits(data: st.DataObject, torn_source: Path) -> None:
    """The power goes while the log is written: a beginning of it is on the disk, the end is missing or noise."""
    source = torn_source
    folder = source / "torn"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    log = (source / "kept-wal").read_bytes()
    cut = data.draw(st.integers(0, len(log)))
    noise = data.draw(st.binary(max_size=64))
    shutil.copy(source / "kept", folder / "table.journal")
    (folder / "table.journal-wal").write_bytes(log[:cut] + noise)
    store = open_store(folder)
    assert store.set_aside is None
    highest = store.highest()
    assert highest == Highest(3 * highest.applied, highest.applied, 2 * highest.applied) or highest.applied == 0
    assert [row.received for row in store.applied()] == [3 * n for n in range(1, highest.applied + 1)]
    if cut == len(log):
        assert highest.applied == 12
    store.close()


@pytest.fixture(scope="module")
def torn_source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal as it lies on the disk while it is open: every commit still in the log."""
    folder = tmp_path_factory.mktemp("log")
    store = open_store(folder)
    for n in range(12):
        writes = [receive(3 * n + i) for i in (1, 2, 3)]
        store.commit([*writes, apply(3 * n + 3, 2 * n + 1, 2 * n + 2)])
    shutil.copy(folder / "table.journal", folder / "kept")
    shutil.copy(folder / "table.journal-wal", folder / "kept-wal")
    store.close()
    return folder
