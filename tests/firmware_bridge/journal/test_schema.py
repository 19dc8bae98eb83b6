import sqlite3
from pathlib import Path

import pytest

from firmware_bridge.journal import schema
from firmware_bridge.journal.errors import JournalForeign
from firmware_bridge.journal.store import Store
from tests.firmware_bridge.journal.facts_and_events import KEYS, apply, open_store, receive


def _filled(folder: Path, commits: int = 60) -> Path:
    """A closed journal of many pages."""
    store = open_store(folder)
    for n in range(1, commits + 1):
        store.commit([receive(n), apply(n, n)])
    store.close()
    return folder / "table.journal"


def test_another_programs_file_is_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("three queens\n" * 100)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE things (name TEXT)")
        connection.execute("PRAGMA application_id=77")
    unmarked = tmp_path / "unmarked.db"
    with sqlite3.connect(unmarked) as connection:
        connection.execute("CREATE TABLE things (name TEXT)")
    for path in (text, other, unmarked):
        before = path.read_bytes()
        for read_only in (False, True):
            with pytest.raises(JournalForeign, match=path.name):
                Store.open(path, KEYS, read_only=read_only)
        assert path.read_bytes() == before


def test_a_newer_versions_journal_is_left_alone(tmp_path: Path) -> None:
    path = _filled(tmp_path, 1)
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version={schema.SCHEMA_VERSION + 1}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(JournalForeign, match="newer version"):
        Store.open(path, KEYS)
    assert path.read_bytes() == before


@pytest.mark.parametrize("leftover", [b"", "made"])
def test_a_file_whose_making_was_cut_short_is_completed(tmp_path: Path, leftover: bytes | str) -> None:
    path = tmp_path / "table.journal"
    if isinstance(leftover, bytes):
        path.write_bytes(leftover)
    else:
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.close()
    store = open_store(tmp_path)
    assert store.set_aside is None
    store.commit([receive(1)])
