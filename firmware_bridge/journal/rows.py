"""What the journal takes and gives: facts with their origin, and what their application caused."""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import msgspec

from drivers.facts import Fact
from firmware_bridge.core.events import Event
from firmware_bridge.core.facts import UnknownFact, write_fact


class Origin(NamedTuple):
    """Occurs once in a journal. Devices: their name, boot id and number; operators: "operator", request id, 0;
    the shell: "bridge", its run id, a running number.
    """

    device: str
    boot: str
    number: int


@dataclass(frozen=True, slots=True)
class Receive:
    """A fact has arrived. `received` counts from 1 in the life of a journal; `received_at_ms` is table time.

    `actor`: who told it, where that is a person.
    """

    received: int
    origin: Origin
    fact: Fact
    received_at_ms: int
    actor: str | None = None


@dataclass(frozen=True, slots=True)
class EncodedEvent:
    """An event with its JSON, made once: journal, feed and answers take these bytes."""

    event: Event
    body: bytes


@dataclass(frozen=True, slots=True)
class Apply:
    """The fact `received` was applied and caused `events`; the order of these writes is the order of application."""

    received: int
    events: tuple[EncodedEvent, ...]


Write: TypeAlias = Receive | Apply


class Highest(NamedTuple):
    """The last of each count that is stored; 0 where there is none."""

    received: int
    applied: int
    seq: int


class PendingFact(NamedTuple):
    """Received, not yet applied."""

    received: int
    origin: Origin
    fact: Fact


class AppliedFact(NamedTuple):
    """`events` are the stored JSON bytes."""

    received: int
    origin: Origin
    fact: Fact
    events: tuple[bytes, ...]


class StoredFact(NamedTuple):
    """A fact as a reader without the key sees it: `body` is its JSON, None where that is sealed."""

    received: int
    origin: Origin
    actor: str | None
    source: str
    name: str
    at_ms: int
    wall_ms: int
    body: bytes | None
    events: tuple[bytes, ...]


class ClockState(NamedTuple):
    """Where the table's clock stood at the last row: at least `at_ms`, when the host's clock showed `monotonic_ms`
    (comparable within `host_boot` alone) and `wall_ms`.
    """

    at_ms: int
    host_boot: str
    monotonic_ms: int
    wall_ms: int


def fact_body(fact: Fact) -> bytes:
    """The JSON to store; `read_fact` gives an equal fact back, for a fact unknown to this version too."""
    if isinstance(fact, UnknownFact):
        return msgspec.json.encode({"fact": fact.name, "at_ms": fact.at_ms, "source": fact.source})
    return write_fact(fact)


def fact_source_and_name(fact: Fact) -> tuple[str, str]:
    """Source and name of the fact, of one that this version does not know too."""
    if isinstance(fact, UnknownFact):
        return fact.source, fact.name
    source: str = getattr(fact, "source")  # noqa: B009 - every known fact has one, the common base declares none
    return source, str(fact.__struct_config__.tag)


def event_body(event: Event) -> bytes:
    """The event's JSON as it is stored and published."""
    return msgspec.json.encode(event)


def encoded(events: Iterable[Event]) -> tuple[EncodedEvent, ...]:
    """The events with their JSON."""
    return tuple(EncodedEvent(event, event_body(event)) for event in events)


def checksum(key: tuple[int | str | None, ...], body: bytes) -> int:
    """Ties a stored body to its row's other columns, so that a flipped bit on the disk is seen when it is read."""
    return zlib.crc32(body, zlib.crc32(msgspec.json.encode(key)))
