"""The bytes of PING, ALIVE, COMMAND and OUTCOME (drivers/tdp/spec.md sections 5.10 to 5.13)."""

import pytest

from drivers.commands import CommandKind, Outcome
from drivers.tdp.codec.command_messages import Alive, CommandMessage, OutcomeMessage, Ping
from drivers.tdp.codec.enums import COMMAND_CODES
from drivers.tdp.codec.fields import BadMessage, FieldReader


@pytest.mark.parametrize(
    ("durable", "payload"),
    [
        (None, b"\x01\x02\x03\x04" + bytes(5)),
        (0, b"\x01\x02\x03\x04\x01" + bytes(4)),
        (9, b"\x01\x02\x03\x04\x01\x09\x00\x00\x00"),
    ],
)
def test_ping(durable: int | None, payload: bytes) -> None:
    ping = Ping(id=0x04030201, durable=durable)
    assert ping.to_bytes() == payload
    assert Ping.read(FieldReader(payload)) == ping


def test_a_durable_number_that_is_not_given_means_nothing() -> None:
    assert Ping.read(FieldReader(b"\x01\x00\x00\x00\xfe\x09\x00\x00\x00")).durable is None


def test_a_ping_s_and_a_command_s_id_is_never_0() -> None:
    with pytest.raises(BadMessage, match="a ping's id is never 0"):
        Ping.read(FieldReader(bytes(9)))
    with pytest.raises(BadMessage, match="a command's id is never 0"):
        CommandMessage.read(FieldReader(bytes(8) + b"\x03"))


def test_alive() -> None:
    alive = Alive(ping=0, clock_ms=0x0807060504030201, next_number=0x04030201)
    assert alive.to_bytes() == bytes(4) + bytes(range(1, 9)) + b"\x01\x02\x03\x04"
    assert Alive.read(FieldReader(alive.to_bytes())) == alive


def test_command() -> None:
    command = CommandMessage(id=2**64 - 1, command=COMMAND_CODES[CommandKind.LOCK])
    assert command.to_bytes() == b"\xff" * 8 + b"\x05"
    assert CommandMessage.read(FieldReader(command.to_bytes())) == command


def test_outcome() -> None:
    refused = OutcomeMessage(id=1, outcome=Outcome.REFUSED, reason="jammed")
    assert refused.to_bytes() == b"\x01" + bytes(7) + b"\x04" + b"\x06jammed"
    assert OutcomeMessage.read(FieldReader(refused.to_bytes())) == refused
    assert OutcomeMessage(id=1, outcome=Outcome.FINISHED).to_bytes()[-2:] == b"\x03\x00"


def test_a_reason_has_room_for_80_bytes() -> None:
    OutcomeMessage(id=1, outcome=Outcome.REFUSED, reason="x" * 80).to_bytes()
    with pytest.raises(ValueError, match="longer than 80 bytes"):
        OutcomeMessage(id=1, outcome=Outcome.REFUSED, reason="x" * 81).to_bytes()
    with pytest.raises(BadMessage, match="text of 81 bytes where at most 80"):
        OutcomeMessage.read(FieldReader(b"\x01" + bytes(7) + b"\x04\x51" + b"x" * 81))


def test_the_hosts_own_outcome_is_on_no_wire() -> None:
    with pytest.raises(KeyError):
        OutcomeMessage(id=1, outcome=Outcome.UNKNOWN).to_bytes()
