"""The bytes of STATE, FACT, GAP, ACK and DURABLE (drivers/tdp/spec.md sections 5.5 to 5.9)."""

import pytest

from drivers.commands import Outcome
from drivers.facts import CutCard, GroupTaken
from drivers.tdp.codec.enums import StateFlag
from drivers.tdp.codec.fact_codec import FactCode, UnknownFactCode
from drivers.tdp.codec.fact_messages import Ack, Durable, FactMessage, Gap, State
from drivers.tdp.codec.fields import BadMessage, FieldReader

CLOCK = bytes(range(1, 9))
CLOCK_MS = 0x0807060504030201


def test_state() -> None:
    flags = StateFlag.LOCKED | StateFlag.JAMMED | StateFlag.TRAY_FILLED
    state = State(clock_ms=CLOCK_MS, flags=flags, last_command=0x02_01, last_outcome=Outcome.REFUSED)
    assert state.to_bytes() == CLOCK + b"\x25\x00" + b"\x01\x02" + bytes(6) + b"\x04"
    assert State.read(FieldReader(state.to_bytes())) == state


def test_a_state_before_the_first_command() -> None:
    state = State(clock_ms=CLOCK_MS, flags=0)
    assert state.to_bytes() == CLOCK + bytes(11)
    assert State.read(FieldReader(state.to_bytes())).last_outcome is None


def test_an_outcome_that_no_command_has_is_refused() -> None:
    with pytest.raises(BadMessage, match="no such outcome: 5"):
        State.read(FieldReader(CLOCK + bytes(10) + b"\x05"))


def test_fact() -> None:
    message = FactMessage.of(0x04030201, GroupTaken(at_ms=CLOCK_MS, group=7))
    assert message.to_bytes() == b"\x01\x02\x03\x04" + CLOCK + b"\x03" + b"\x07\x00\x00\x00"
    assert FactMessage.read(FieldReader(message.to_bytes())) == message
    assert message.fact() == (GroupTaken(at_ms=CLOCK_MS, group=7), 0)


def test_number_and_clock_of_a_fact_are_read_though_nobody_knows_it() -> None:
    message = FactMessage.read(FieldReader(b"\x01\x00\x00\x00" + CLOCK + b"\xee" + b"anything"))
    assert (message.number, message.clock_ms, message.fields) == (1, CLOCK_MS, b"anything")
    with pytest.raises(UnknownFactCode):
        message.fact()


def test_bytes_behind_the_known_fields_of_a_fact_are_counted() -> None:
    message = FactMessage(number=1, clock_ms=5, code=FactCode.CUT_CARD, fields=b"abc")
    assert message.fact() == (CutCard(at_ms=5), 3)


def test_gap_durable_and_ack() -> None:
    assert Gap(next_number=0x04030201).to_bytes() == Durable(number=0x04030201).to_bytes() == b"\x01\x02\x03\x04"
    assert Gap.read(FieldReader(b"\x01\x02\x03\x04")) == Gap(next_number=0x04030201)
    assert Durable.read(FieldReader(b"\x01\x02\x03\x04")) == Durable(number=0x04030201)
    assert Ack().to_bytes() == b""
    assert Ack.read(FieldReader(b"")) == Ack()


def test_what_the_device_says_in_order_is_sequenced() -> None:
    assert (State.SEQUENCED, FactMessage.SEQUENCED, Gap.SEQUENCED) == (True, True, True)
    assert (Ack.SEQUENCED, Durable.SEQUENCED) == (False, False)
