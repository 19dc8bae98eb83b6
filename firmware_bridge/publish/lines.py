"""Events as their consumers read them."""

from functools import reduce
from operator import or_
from typing import Final

import msgspec

from firmware_bridge.events import Event

_DECODER: Final[msgspec.json.Decoder[Event]] = msgspec.json.Decoder(reduce(or_, Event.__subclasses__()))


class UnknownEvent(Event, frozen=True, kw_only=True):
    """An event of a newer version: its name is all that can be shown of it."""

    name: str


class _Head(msgspec.Struct):
    event: str
    seq: int
    round: int = 0
    at_ms: int = 0


_HEAD: Final = msgspec.json.Decoder(_Head)


class BadLine(ValueError):
    """Not an event's JSON."""


def read_event(line: bytes | str) -> Event:
    """One line of the feed. Raises BadLine."""
    try:
        head = _HEAD.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadLine(f"not an event: {error}") from error
    try:
        return _DECODER.decode(line)
    except msgspec.ValidationError:
        return UnknownEvent(seq=head.seq, round=head.round, at_ms=head.at_ms, name=head.event)
