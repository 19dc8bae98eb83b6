"""The journal: facts before they are acknowledged, their application and events before anyone sees them.

One process writes (a lock names it), any number read meanwhile. Every commit is one transaction, on the disk when
`commit` returns. Methods raise the errors of `journal/errors.py` and no others.
"""

import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from firmware_bridge.journal import schema
from firmware_bridge.journal.errors import (
    JournalConflict,
    JournalDamaged,
    JournalError,
    JournalFailed,
    WrongKey,
)
from firmware_bridge.journal.keys import Keys
from firmware_bridge.journal.lock import JournalLock
from firmware_bridge.journal.reading import Reading
from firmware_bridge.journal.rows import (
    Origin,
    Receive,
    Write,
    checksum,
    fact_body,
    fact_source_and_name,
)
from firmware_bridge.journal.seal import CARD_FACTS, Seal
from firmware_bridge.journal.stamp import HostClock, Stamp

_INSERT_FACT: Final = """INSERT INTO facts (
        received, device, boot, number, source, name, at_ms, received_at_ms, body, key_id, checksum,
        host_boot, monotonic_ms, wall_ms, clock_synced, actor
    ) VALUES (
        :received, :device, :boot, :number, :source, :name, :at_ms, :received_at_ms, :body, :key_id,
        :checksum, :host_boot, :monotonic_ms, :wall_ms, :clock_synced, :actor
    )"""
_INSERT_APPLIED: Final = """INSERT INTO applied (
        place, received, first_seq, events, host_boot, monotonic_ms, wall_ms, clock_synced
    ) VALUES (
        :place, :received, :first_seq, :events, :host_boot, :monotonic_ms, :wall_ms, :clock_synced
    )"""
_INSERT_EVENT: Final = """INSERT INTO events (
        seq, received, round, name, body, checksum
    ) VALUES (
        :seq, :received, :round, :name, :body, :checksum
    )"""


class Store(Reading):
    """An open journal. Reading sees what is committed and nothing else, also while a commit is under way.

    `commit` belongs to one thread at a time (`journal/writer.py`); reading may be done from another one.
    `set_aside` tells, after opening, that a damaged journal was renamed and this one is new.
    """

    def __init__(
        self, path: Path, seal: Seal | None, lock: JournalLock | None, stamp: Callable[[], Stamp] | None
    ) -> None:
        super().__init__(path, seal)
        self._lock = lock
        self._stamp = stamp
        self._committing = threading.Lock()
        self._writing = None if lock is None else schema.connect(path, read_only=False)
        self.set_aside: JournalDamaged | None = None

    @classmethod
    def open(
        cls,
        path: Path,
        keys: Keys | None,
        *,
        read_only: bool = False,
        stamp: Callable[[], Stamp] | None = None,
    ) -> "Store":
        """Open the journal at `path`; for writing it is made where there is none, and needs `keys`.

        A damaged journal is renamed, never overwritten, when it is opened for writing, and a new one begins.
        Raises JournalHeld, JournalForeign, JournalDamaged, JournalFull, JournalFailed, WrongKey.
        """
        if read_only:
            return cls._open_reading(path, keys)
        if keys is None:
            raise WrongKey(f"the journal {path} cannot be written without its key: name it under [journal] key")
        lock = JournalLock(path)
        try:
            set_aside = _make_ready(path, keys)
            store = cls(path, Seal(keys), lock, HostClock() if stamp is None else stamp)
            store.set_aside = set_aside
            store._check_key()
        except sqlite3.Error as error:
            lock.release()
            raise schema.failure(error, path) from error
        except OSError as error:
            lock.release()
            raise JournalFailed(f"the journal {path} cannot be opened: {error.strerror}; check its folder") from error
        except JournalError:
            lock.release()
            raise
        return store

    @classmethod
    def _open_reading(cls, path: Path, keys: Keys | None) -> "Store":
        try:
            if schema.is_empty(path):
                raise JournalFailed(f"there is no journal at {path}: check the name, or start the daemon first")
            store = cls(path, None if keys is None else Seal(keys), None, None)
        except sqlite3.Error as error:
            raise schema.failure(error, path) from error
        store._check_key()
        return store

    def _check_key(self) -> None:
        key_id = self.about("key_id")
        if self._seal is not None and key_id != self._seal.key_id:
            self.close()
            raise WrongKey(
                f"the journal {self._path} is sealed with the key {key_id}, not with {self._seal.key_id}: bring back "
                "the right key file, or name another [journal] file"
            )

    def close(self) -> None:
        """Close the files, after a commit that is under way, and let another process write.

        A second call does nothing.
        """
        super().close()
        with self._committing:
            if self._writing is not None:
                self._writing.close()
                self._writing = None
        if self._lock is not None:
            self._lock.release()

    def commit(self, writes: Sequence[Write]) -> frozenset[int]:
        """Store all of `writes` in one transaction, durable on return, or none of them.

        Gives the `received` of every fact whose origin was stored before: those were not stored again.
        Raises JournalConflict, JournalFull, JournalFailed, JournalDamaged.
        """
        if self._stamp is None:
            raise JournalFailed(f"the journal {self._path} is open for reading alone")
        with self._committing:
            if self._writing is None:
                raise JournalFailed(f"the journal {self._path} is closed")
            return self._commit(self._writing, writes, self._stamp())

    def _commit(self, connection: sqlite3.Connection, writes: Sequence[Write], stamp: Stamp) -> frozenset[int]:
        try:
            connection.execute("BEGIN IMMEDIATE")
            known = self._write(connection, writes, stamp)
            connection.execute("COMMIT")
        except sqlite3.IntegrityError as error:
            self._roll_back()
            raise JournalConflict(
                f"the journal {self._path} refuses what contradicts it ({error}): the core must be rebuilt from it"
            ) from error
        except sqlite3.Error as error:
            self._roll_back()
            raise schema.failure(error, self._path) from error
        except JournalError:
            self._roll_back()
            raise
        return known

    def _write(self, connection: sqlite3.Connection, writes: Sequence[Write], stamp: Stamp) -> frozenset[int]:
        known = set()
        time = {
            "host_boot": stamp.host_boot,
            "monotonic_ms": stamp.monotonic_ms,
            "wall_ms": stamp.wall_ms,
            "clock_synced": stamp.clock_synced,
        }
        seq = self._one(connection, "SELECT max(seq) FROM events")
        place = self._one(connection, "SELECT max(place) FROM applied")
        for write in writes:
            if isinstance(write, Receive):
                if self._is_stored(connection, write.origin):
                    known.add(write.received)
                else:
                    self._write_fact(connection, write, time)
                continue
            if write.received in known:
                raise JournalConflict(
                    f"the journal {self._path} holds fact {write.received} under another number already, so it cannot "
                    "be applied again: the core must be rebuilt from the journal"
                )
            place += 1
            applied = {"place": place, "received": write.received, "first_seq": seq + 1, "events": len(write.events)}
            connection.execute(_INSERT_APPLIED, applied | time)
            for one in write.events:
                event = one.event
                seq += 1
                if event.seq != seq:
                    raise JournalConflict(
                        f"the journal {self._path} expects event {seq} and was given event {event.seq}: the core must "
                        "be rebuilt from the journal"
                    )
                row = {
                    "seq": seq,
                    "received": write.received,
                    "round": event.round,
                    "name": str(event.__struct_config__.tag),
                    "body": one.body,
                    "checksum": checksum((seq, write.received), one.body),
                }
                connection.execute(_INSERT_EVENT, row)
        return frozenset(known)

    def _write_fact(self, connection: sqlite3.Connection, write: Receive, time: Mapping[str, object]) -> None:
        fact, origin = write.fact, write.origin
        body = fact_body(fact)
        key_id = None
        if self._seal is not None and type(fact) in CARD_FACTS:
            body, key_id = self._seal.close(origin, body), self._seal.key_id
        source, name = fact_source_and_name(fact)
        row = {
            "received": write.received,
            **origin._asdict(),
            "source": source,
            "name": name,
            "at_ms": fact.at_ms,
            "received_at_ms": write.received_at_ms,
            "body": body,
            "key_id": key_id,
            "checksum": checksum((write.received, *origin, write.actor), body),
            "actor": write.actor,
            **time,
        }
        connection.execute(_INSERT_FACT, row)

    @staticmethod
    def _is_stored(connection: sqlite3.Connection, origin: Origin) -> bool:
        query = "SELECT 1 FROM facts WHERE device = :device AND boot = :boot AND number = :number"
        return connection.execute(query, origin._asdict()).fetchone() is not None

    @staticmethod
    def _one(connection: sqlite3.Connection, query: str) -> int:
        return connection.execute(query).fetchone()[0] or 0

    def _roll_back(self) -> None:
        if self._writing is None or not self._writing.in_transaction:
            return
        try:
            self._writing.execute("ROLLBACK")
        except sqlite3.Error:  # closing rolls back too, and the disk may take the next commit
            self._writing.close()
            self._writing = schema.connect(self._path, read_only=False)


def _make_ready(path: Path, keys: Keys) -> JournalDamaged | None:
    """See to it that there is a sound journal at `path`; tells where a damaged one was moved."""
    told = None
    aside = None
    if schema.has_orphaned_log(path):
        aside = schema.set_aside(path)
        told = JournalDamaged(
            f"a part of a journal without the rest lay at {path}; it was moved to {aside}, and a new journal begins"
        )
    elif not schema.is_empty(path) and (wrong := schema.damage(path)) is not None:
        aside = schema.set_aside(path)
        told = JournalDamaged(
            f"the journal {path} was damaged ({wrong}); it was moved to {aside}, and a new journal begins: keep the "
            "old file, and settle the round that was open by hand"
        )
    if schema.is_empty(path):
        schema.create(path, keys.key_id, aside)
    return told
