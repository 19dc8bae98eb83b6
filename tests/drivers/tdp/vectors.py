"""The vectors of drivers/tdp/spec.md section 10, read out of its fenced blocks, and messages as the JSON they use."""

import enum
import json
import re
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any

from drivers.facts import DeviceFact
from drivers.tdp.messages import FactMessage, Message


@dataclass(frozen=True)
class GoodVector:
    """A frame and what it says; `message` is the JSON of `described`."""

    name: str
    session: int
    sequence: int
    acknowledgement: int
    message: dict[str, Any]
    wire: bytes


@dataclass(frozen=True)
class BadVector:
    name: str
    why: str
    wire: bytes


@dataclass(frozen=True)
class Line:
    """One burst of the transcript; `to_host` or to the device, at the host's `at_ms`."""

    at_ms: int
    to_host: bool
    wire: bytes


@cache
def block(name: str) -> tuple[str, ...]:
    text = (files("drivers.tdp") / "spec.md").read_text()
    found = re.search(rf"^```{name}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert found is not None, name
    return tuple(line for line in found[1].splitlines() if line and not line.startswith("#"))


def good_vectors() -> list[GoodVector]:
    lines = block("tdp-good")
    vectors = []
    for at in range(0, len(lines), 3):
        head, said, wire = lines[at : at + 3]
        match = re.fullmatch(r"(.+): session ([0-9A-F]{8}) sequence ([0-9A-F]{4}) acknowledgement ([0-9A-F]{4})", head)
        assert match is not None, head
        session, sequence, acknowledgement = (int(match[group], 16) for group in (2, 3, 4))
        vectors.append(GoodVector(match[1], session, sequence, acknowledgement, json.loads(said), bytes.fromhex(wire)))
    return vectors


def bad_vectors() -> list[BadVector]:
    vectors = []
    lines = block("tdp-bad")
    for at in range(0, len(lines), 2):
        name, _, why = lines[at].partition(": ")
        vectors.append(BadVector(name, why, bytes.fromhex(lines[at + 1])))
    return vectors


def transcript() -> list[Line]:
    found = []
    for line in block("tdp-transcript"):
        at_ms, direction, wire = line.split(maxsplit=2)
        found.append(Line(int(at_ms), direction == "<", bytes.fromhex(wire)))
    return found


def described(message: Message) -> dict[str, Any]:
    """A message as plain JSON: bytes in hex, enums by value, a fact by its own fields."""
    said: dict[str, Any] = {"message": message.TYPE.name}
    for each in fields(message):
        value = getattr(message, each.name)
        if isinstance(message, FactMessage) and each.name in ("code", "fields"):
            continue
        said[each.name] = _plain(value)
    if isinstance(message, FactMessage):
        fact, _ = message.fact()
        said["fact"] = _fact(fact)
    return said


def _fact(fact: DeviceFact) -> dict[str, Any]:
    said: dict[str, Any] = {"fact": str(fact.__struct_config__.tag)}
    for name in fact.__struct_fields__:
        if name not in ("at_ms", "source"):
            said[name] = _plain(getattr(fact, name))
    return said


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex().upper()
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value
