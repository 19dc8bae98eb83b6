"""The journal's file: its tables, its mark, and what is looked at before a line is written to it."""

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Final

from firmware_bridge.journal.errors import JournalDamaged, JournalFailed, JournalForeign, JournalFull
from firmware_bridge.secret_files import sync_folder

APPLICATION_ID: Final = 0x46574252  # "FWBR", at byte 68 of the file
SCHEMA_VERSION: Final = 1

ROUND_MARKS: Final = "name IN ('round_opened', 'dealer_revealed', 'round_settled', 'round_void')"

# A commit writes whole pages: small ones, few tables, few indexes, rows in the order of their keys.
_PAGE_BYTES: Final = 1024
_TABLES: Final = (
    "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE facts (
        received INTEGER PRIMARY KEY, device TEXT NOT NULL, boot TEXT NOT NULL, number INTEGER NOT NULL,
        source TEXT NOT NULL, name TEXT NOT NULL, at_ms INTEGER NOT NULL, received_at_ms INTEGER NOT NULL,
        body BLOB NOT NULL, key_id TEXT, checksum INTEGER NOT NULL,
        host_boot TEXT NOT NULL, monotonic_ms INTEGER NOT NULL, wall_ms INTEGER NOT NULL,
        clock_synced INTEGER NOT NULL, actor TEXT,
        UNIQUE (device, boot, number))""",
    """CREATE TABLE applied (
        place INTEGER PRIMARY KEY, received INTEGER NOT NULL UNIQUE REFERENCES facts,
        first_seq INTEGER NOT NULL, events INTEGER NOT NULL,
        host_boot TEXT NOT NULL, monotonic_ms INTEGER NOT NULL, wall_ms INTEGER NOT NULL,
        clock_synced INTEGER NOT NULL)""",
    """CREATE TABLE events (
        seq INTEGER PRIMARY KEY, received INTEGER NOT NULL REFERENCES facts, round INTEGER NOT NULL,
        name TEXT NOT NULL, body BLOB NOT NULL, checksum INTEGER NOT NULL)""",
    f"CREATE INDEX round_marks ON events (round) WHERE {ROUND_MARKS}",
)
_INSERT_ABOUT: Final = "INSERT INTO about (name, value) VALUES (:name, :value)"


def connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """A connection that any one thread at a time may use, without transactions of its own making."""
    mode = "ro" if read_only else "rw"
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=5)
    if not read_only:
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
    return connection


def create(path: Path, key_id: str, predecessor: Path | None) -> None:
    """An empty journal, in one transaction. A half-made file of an earlier try is completed."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    os.close(descriptor)
    sync_folder(path)
    with closing(connect(path, read_only=False)) as connection:
        connection.execute(f"PRAGMA page_size={_PAGE_BYTES}")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("BEGIN IMMEDIATE")
        for table in _TABLES:
            connection.execute(table)
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        connection.execute(_INSERT_ABOUT, {"name": "key_id", "value": key_id})
        if predecessor is not None:
            connection.execute(_INSERT_ABOUT, {"name": "predecessor", "value": str(predecessor)})
        connection.execute("COMMIT")


def is_empty(path: Path) -> bool:
    """Nothing was ever committed here: no file, or one whose making was cut short.

    Raises JournalForeign for a file that is no journal of ours, or of a newer version.
    """
    try:
        with path.open("rb") as file:
            head = file.read(100)
    except FileNotFoundError:
        return True
    except OSError as error:
        raise JournalFailed(f"the journal {path} cannot be read: {error.strerror}") from error
    if not head:
        return True
    application_id = int.from_bytes(head[68:72], "big")
    version = int.from_bytes(head[60:64], "big")
    if not head.startswith(b"SQLite format 3\0") or application_id not in (0, APPLICATION_ID):
        raise JournalForeign(
            f"{path} is not a journal of this program: name another [journal] file, or move this one away"
        )
    if version > SCHEMA_VERSION:
        raise JournalForeign(
            f"the journal {path} was written by a newer version (its format is {version}, this version knows "
            f"{SCHEMA_VERSION}): start the newer version, or name another [journal] file"
        )
    if application_id == APPLICATION_ID:
        return False
    # The mark is still in the write-ahead log, or this is somebody else's: only SQLite can tell.
    with closing(connect(path, read_only=True)) as connection:
        try:
            marked = connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        except sqlite3.DatabaseError as error:
            raise JournalForeign(
                f"{path} is not a journal that this program can read ({error}): name another [journal] file, or move "
                "this one away"
            ) from error
    if tables and not marked:
        raise JournalForeign(
            f"{path} is a database of another program: name another [journal] file, or move this one away"
        )
    return not tables


def damage(path: Path) -> str | None:
    """What is wrong with the pages of an existing journal; None where nothing is."""
    try:
        with closing(connect(path, read_only=True)) as connection:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return str(error)
        raise failure(error, path) from error
    return None if found == "ok" else " ".join(str(found).split())


def set_aside(path: Path) -> Path:
    """Rename a damaged journal, its write-ahead log with it, to a free name with the date; the new name."""
    date = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    aside = path.with_name(f"{path.name}.damaged-{date}")
    count = 1
    while aside.exists() or _log(aside).exists():
        count += 1
        aside = path.with_name(f"{path.name}.damaged-{date}-{count}")
    try:
        if path.exists():
            path.rename(aside)
        if _has_log(path):
            _log(path).rename(_log(aside))
        _log(path).unlink(missing_ok=True)
        path.with_name(path.name + "-shm").unlink(missing_ok=True)
        sync_folder(path)
    except OSError as error:
        raise JournalDamaged(
            f"the journal {path} is damaged and cannot be renamed ({error.strerror}): move it away, then start again"
        ) from error
    return aside


def has_orphaned_log(path: Path) -> bool:
    """A write-ahead log without its journal: a new journal must never take it for its own."""
    return not path.exists() and _has_log(path)


def failure(error: sqlite3.Error, path: Path) -> JournalFull | JournalFailed | JournalDamaged:
    """SQLite's error as the situation it stands for."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return JournalFull(f"the disk of the journal {path} is full: make room; dealing goes on when there is some")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return JournalDamaged(f"the journal {path} is damaged ({error}): restart the daemon, which sets it aside")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return JournalFailed(f"another program holds the journal {path} ({error}): end that program")
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    return JournalFailed(
        f"the journal {path} cannot be used ({error}, {name}): check its disk, its folder and their owner"
    )


def _has_log(path: Path) -> bool:
    return _log(path).exists() and _log(path).stat().st_size > 0


def _log(path: Path) -> Path:
    return path.with_name(path.name + "-wal")
