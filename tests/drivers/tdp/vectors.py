"""The vectors of drivers/tdp/spec.md section 10, read out of its fenced blocks, and messages as the JSON they use.

`python -m tests.drivers.tdp.vectors` writes them all to drivers/tdp/vectors.json.
"""

import enum
import json
import re
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from drivers.facts import DeviceFact
from drivers.tdp.codec.fact_messages import FactMessage
from drivers.tdp.codec.messages import Message


@dataclass(frozen=True)
class GoodVector:
    """A frame and what it says; `message` is the JSON of `described`, `counter` that of its trailer if it has one."""

    name: str
    session: int
    sequence: int
    acknowledgement: int
    message: dict[str, Any]
    wire: bytes
    counter: int | None = None


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


_HEADING = re.compile(
    r"(.+): session ([0-9A-F]{8}) sequence ([0-9A-F]{4}) acknowledgement ([0-9A-F]{4})(?: counter (\d+))?"
)


@cache
def block(name: str) -> tuple[str, ...]:
    text = (files("drivers.tdp") / "spec.md").read_text()
    found = re.search(rf"^```{name}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert found is not None, name
    return tuple(line for line in found[1].splitlines() if line and not line.startswith("#"))


def good_vectors(name: str = "tdp-good") -> list[GoodVector]:
    lines = block(name)
    vectors = []
    for at in range(0, len(lines), 3):
        head, said, wire = lines[at : at + 3]
        match = _HEADING.fullmatch(head)
        assert match is not None, head
        session, sequence, acknowledgement = (int(match[group], 16) for group in (2, 3, 4))
        counter = int(match[5]) if match[5] is not None else None
        frame = bytes.fromhex(wire)
        vectors.append(GoodVector(match[1], session, sequence, acknowledgement, json.loads(said), frame, counter))
    return vectors


def bad_vectors(name: str = "tdp-bad") -> list[BadVector]:
    vectors = []
    lines = block(name)
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


@dataclass(frozen=True)
class KeyVectors:
    """Section 10.4."""

    host_private: bytes
    host_public: bytes
    device_private: bytes
    device_public: bytes
    commitment: bytes
    shared_secret: bytes
    pairing_key: bytes
    confirm_host: bytes
    confirm_device: bytes
    nonce: bytes
    device_nonce: bytes
    boot: bytes
    host_session_key: bytes
    device_session_key: bytes
    fingerprint: str
    key_id: int


def key_vectors() -> KeyVectors:
    said = dict(line.split(": ") for line in block("tdp-keys"))
    fingerprint, key_id = said.pop("fingerprint"), int(said.pop("key_id"), 16)
    return KeyVectors(
        fingerprint=fingerprint, key_id=key_id, **{name: bytes.fromhex(value) for name, value in said.items()}
    )


def as_json() -> str:
    """Every vector of the specification as one JSON document; bytes in hex."""
    keys = {each.name: _plain(getattr(key_vectors(), each.name)) for each in fields(KeyVectors)}
    document = {
        "protocol": "TDP 1.0",
        "good": [_good(vector) for vector in good_vectors()],
        "bad": [_bad(vector) for vector in bad_vectors()],
        "session": [
            {"at_ms": line.at_ms, "to": "host" if line.to_host else "device", "wire": _plain(line.wire)}
            for line in transcript()
        ],
        "keys": keys,
        "authenticated": [_good(vector) for vector in good_vectors("tdp-authenticated")],
        "authenticated_bad": [_bad(vector) for vector in bad_vectors("tdp-authenticated-bad")],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _good(vector: GoodVector) -> dict[str, Any]:
    return {each.name: _plain(getattr(vector, each.name)) for each in fields(vector)}


def _bad(vector: BadVector) -> dict[str, Any]:
    return {"name": vector.name, "counted_as": vector.why, "wire": _plain(vector.wire)}


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


if __name__ == "__main__":
    Path("drivers/tdp/vectors.json").write_text(as_json(), encoding="utf-8")
