"""Reading a journal: only what is committed, in chunks, every row checked against its checksum."""

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from drivers.driver import Resume
from drivers.facts import Fact
from firmware_bridge.core.facts import BadFact, read_fact
from firmware_bridge.journal import schema
from firmware_bridge.journal.errors import JournalDamaged, WrongKey
from firmware_bridge.journal.rows import (
    AppliedFact,
    ClockState,
    Highest,
    Origin,
    PendingFact,
    StoredFact,
    checksum,
)
from firmware_bridge.journal.seal import Seal

_CHUNK: Final = 500
_FACT: Final = "received, device, boot, number, source, facts.name, at_ms, facts.wall_ms, body, key_id, checksum, actor"
_ENDS: Final = "name <> 'round_opened'"


class Reading:
    """One read-only connection, for one thread at a time (a lock sees to it)."""

    def __init__(self, path: Path, seal: Seal | None) -> None:
        self._path = path
        self._seal = seal
        self._connection = schema.connect(path, read_only=True)
        self._turn = threading.Lock()

    @property
    def path(self) -> Path:
        """Where the journal lies."""
        return self._path

    def close(self) -> None:
        """Close the file. A second call does nothing."""
        with self._turn:
            self._connection.close()

    def predecessor(self) -> str | None:
        """The damaged journal that this one follows."""
        return self.about("predecessor")

    def about(self, name: str) -> str | None:
        """A value of the journal's table `about`; None where it has none of that name."""
        found = self._rows("SELECT value FROM about WHERE name = :name", {"name": name})
        return str(found[0][0]) if found else None

    def last(self, device: str) -> Resume | None:
        """The last fact of `device` that is stored."""
        if not self._rows("SELECT 1 FROM facts WHERE device = :device LIMIT 1", {"device": device}):
            return None
        query = "SELECT boot, number FROM facts WHERE device = :device ORDER BY received DESC LIMIT 1"
        boot, number = self._rows(query, {"device": device})[0]
        return Resume(boot=boot, number=number)

    def highest(self) -> Highest:
        """The last number of facts, applications and events."""
        query = (
            "SELECT (SELECT max(received) FROM facts), (SELECT max(place) FROM applied), (SELECT max(seq) FROM events)"
        )
        received, place, seq = self._rows(query, {})[0]
        return Highest(received or 0, place or 0, seq or 0)

    def clock_state(self) -> ClockState | None:
        """Where the table's clock stood, so that it can go on; None in an empty journal."""
        query = """SELECT max((SELECT max(at_ms) FROM facts), (SELECT max(received_at_ms) FROM facts)),
            host_boot, monotonic_ms, wall_ms FROM facts ORDER BY received DESC LIMIT 1"""
        found = self._rows(query, {})
        return ClockState(*found[0]) if found else None

    def applied(self) -> Iterator[AppliedFact]:
        """Every applied fact with its events, in order of application. Needs the key."""
        for row, events in self._applied_between(0, None):
            received, origin, fact = self._fact(row)
            yield AppliedFact(received, origin, fact, events)

    def pending(self) -> Iterator[PendingFact]:
        """Every fact that was received and not applied, in order of reception. Needs the key."""
        after = 0
        while True:
            rows = self._rows(
                f"""SELECT {_FACT} FROM facts WHERE received > :after
                    AND NOT EXISTS (SELECT 1 FROM applied WHERE applied.received = facts.received)
                    ORDER BY received LIMIT :limit""",  # noqa: S608 - constants alone
                {"after": after, "limit": _CHUNK},
            )
            for row in rows:
                yield PendingFact(*self._fact(row))
            if len(rows) < _CHUNK:
                return
            after = rows[-1][0]

    def answer(self, origin: Origin) -> tuple[bytes, ...] | None:
        """The events that the fact of `origin` caused; None where it is not stored or not applied yet."""
        found = self._rows(
            """SELECT applied.received, first_seq, events FROM applied JOIN facts USING (received)
                WHERE device = :device AND boot = :boot AND number = :number""",
            origin._asdict(),
        )
        if not found:
            return None
        received, first_seq, count = found[0]
        return self._events_of(((received, first_seq, count),))[received]

    def told(self, origin: Origin) -> Fact | None:
        """The fact of `origin` as it was received; None where it is not stored. Needs the key."""
        query = f"SELECT {_FACT} FROM facts WHERE device = :device AND boot = :boot AND number = :number"  # noqa: S608 - constants
        found = self._rows(query, origin._asdict())
        return self._fact(found[0])[2] if found else None

    def events_after(self, seq: int, limit: int) -> list[tuple[int, bytes]]:
        """Up to `limit` events with a higher seq, in order, as their JSON."""
        query = "SELECT seq, received, body, checksum FROM events WHERE seq > :seq ORDER BY seq LIMIT :limit"
        return [(row[0], self._event(row)) for row in self._rows(query, {"seq": seq, "limit": limit})]

    def last_seq(self) -> int:
        """The seq of the last event; 0 before the first."""
        return self.highest().seq

    def last_round(self) -> int:
        """The number of the last round that was opened; 0 before the first."""
        query = "SELECT max(round) FROM events WHERE name = 'round_opened'"
        return int(self._rows(query, {})[0][0] or 0)

    def round_facts(self, number: int) -> Iterator[StoredFact]:
        """What was applied since the end of the round before, up to the end of round `number`, in order.

        Nothing where that round was never opened. Without the key sealed facts have no body.
        """
        opened = self._place_of(number, "name = 'round_opened'")
        if opened is None:
            return
        ended_before = self._place_of(number - 1, _ENDS)
        ended = self._place_of(number, _ENDS)
        opened_next = self._place_of(number + 1, "name = 'round_opened'")
        if opened_next is None:
            ended = None
        elif ended is None:
            ended = opened_next - 1
        after = ended_before if ended_before is not None else opened - 1 if number > 1 else 0
        for row, events in self._applied_between(after, ended):
            yield self._stored(row, events)

    def _place_of(self, round_number: int, which: str) -> int | None:
        """The last application that caused such an event of that round."""
        query = f"""SELECT max(place) FROM applied WHERE received IN
            (SELECT received FROM events WHERE round = :round AND {which} AND {schema.ROUND_MARKS})"""  # noqa: S608 - constants
        place: int | None = self._rows(query, {"round": round_number})[0][0]
        return place

    def _applied_between(self, after: int, last: int | None) -> Iterator[tuple[tuple[Any, ...], tuple[bytes, ...]]]:
        while True:
            rows = self._rows(
                f"""SELECT {_FACT}, place, first_seq, events FROM applied JOIN facts USING (received)
                    WHERE place > :after AND place <= :last ORDER BY place LIMIT :limit""",  # noqa: S608 - constants alone
                {"after": after, "last": 2**62 if last is None else last, "limit": _CHUNK},
            )
            events = self._events_of([(row[0], row[-2], row[-1]) for row in rows])
            for row in rows:
                yield row, events[row[0]]
            if len(rows) < _CHUNK:
                return
            after = rows[-1][-3]

    def _events_of(self, spans: Sequence[tuple[int, int, int]]) -> dict[int, tuple[bytes, ...]]:
        """The events by `received`, for successive (received, first seq, number of events)."""
        told: dict[int, list[bytes]] = {received: [] for received, _, _ in spans}
        if spans:
            first, last = spans[0][1], spans[-1][1] + spans[-1][2] - 1
            query = "SELECT seq, received, body, checksum FROM events WHERE seq BETWEEN :first AND :last ORDER BY seq"
            for row in self._rows(query, {"first": first, "last": last}):
                if row[1] not in told:
                    raise self._damaged(f"event {row[0]} belongs to no fact of its time")
                told[row[1]].append(self._event(row))
        for received, _, count in spans:
            if len(told[received]) != count:
                raise self._damaged(f"fact {received} has {len(told[received])} of its {count} events")
        return {received: tuple(bodies) for received, bodies in told.items()}

    def _event(self, row: tuple[Any, ...]) -> bytes:
        seq, received, body, check = row
        if checksum((seq, received), body) != check:
            raise self._damaged(f"event {seq} is not what was written")
        return bytes(body)

    def _fact(self, row: tuple[Any, ...]) -> tuple[int, Origin, Fact]:
        stored = self._stored(row, ())
        if stored.body is None:
            raise WrongKey(f"fact {stored.received} of the journal {self._path} is sealed: its key is needed")
        try:
            return stored.received, stored.origin, read_fact(stored.body)
        except BadFact as error:
            raise self._damaged(f"fact {stored.received} cannot be read") from error

    def _stored(self, row: tuple[Any, ...], events: tuple[bytes, ...]) -> StoredFact:
        received, device, boot, number, source, name, at_ms, wall_ms, stored, key_id, check, actor = row[:12]
        origin = Origin(device, boot, number)
        if checksum((received, *origin, actor), stored) != check:
            raise self._damaged(f"fact {received} is not what was written")
        body: bytes | None = stored
        if key_id is not None:
            body = None if self._seal is None else self._seal.open(origin, stored)
            if body is None and self._seal is not None:
                if key_id == self._seal.key_id:
                    raise self._damaged(f"fact {received} is not what was sealed")
                raise WrongKey(
                    f"fact {received} of the journal {self._path} is sealed with the key {key_id}, not with "
                    f"{self._seal.key_id}: bring back the right key file"
                )
        return StoredFact(received, origin, actor, source, name, at_ms, wall_ms, body, events)

    def _rows(self, query: str, values: Mapping[str, int | str]) -> list[tuple[Any, ...]]:
        try:
            with self._turn:
                return self._connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise schema.failure(error, self._path) from error

    def _damaged(self, what: str) -> JournalDamaged:
        return JournalDamaged(
            f"the journal {self._path} is damaged ({what}): keep the file, move it away, and settle the round that was "
            "open by hand"
        )
