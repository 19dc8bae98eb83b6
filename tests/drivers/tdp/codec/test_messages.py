"""Header, messages and facts as bytes and back."""

from contextlib import suppress
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers import facts
from drivers.cards import Card
from drivers.commands import CommandKind, Outcome
from drivers.driver import DeviceKind
from drivers.facts import DeviceFact
from drivers.framing import MAX_DECODED, FrameDecoder
from drivers.tdp.codec.command_messages import OutcomeMessage, Ping
from drivers.tdp.codec.enums import COMMAND_CODES, OUTCOME_CODES, KindCode
from drivers.tdp.codec.fact_codec import FactCode, UnknownFactCode
from drivers.tdp.codec.fact_messages import FactMessage, State
from drivers.tdp.codec.fields import BadMessage
from drivers.tdp.codec.header import HEADER_SIZE, Header, session_id
from drivers.tdp.codec.messages import (
    DEVICE_MESSAGES,
    HOST_MESSAGES,
    Message,
    UnknownMessageType,
    read_message,
    wire_frame,
)
from drivers.tdp.codec.session_messages import HelloAnswer
from tests.drivers.tdp.strategies import FACTS, MESSAGES, U16, U32


def header_of(message: Message) -> Header:
    return Header(to_host=message.TYPE in DEVICE_MESSAGES, message_type=message.TYPE, session=1)


def read_whole(header: Header, body: bytes) -> None:
    message, _ = read_message(header, body)
    if isinstance(message, FactMessage):
        message.fact()


@given(message=MESSAGES, session=U32, sequence=U16, acknowledgement=U16)
def test_every_message_comes_back_from_its_frame(
    message: Message, session: int, sequence: int, acknowledgement: int
) -> None:
    frame = wire_frame(message, session=session, sequence=sequence, acknowledgement=acknowledgement)
    (body,) = FrameDecoder().feed(b"\x00" + frame)
    header = Header.from_bytes(body)
    assert (header.session, header.sequence, header.acknowledgement) == (session, sequence, acknowledgement)
    assert header.to_host is (message.TYPE not in HOST_MESSAGES)
    assert read_message(header, body) == (message, 0)


@given(number=U32, fact=FACTS)
def test_every_fact_comes_back(number: int, fact: DeviceFact) -> None:
    message = FactMessage.of(number, fact)
    assert message.fact() == (fact, 0)
    assert message.clock_ms == fact.at_ms


def test_every_device_fact_command_outcome_and_kind_has_a_code() -> None:
    names = {str(known.__struct_config__.tag).upper() for known in get_args(DeviceFact)}
    assert names == {code.name for code in FactCode}
    assert set(COMMAND_CODES) == set(CommandKind)
    assert set(OUTCOME_CODES) == set(Outcome) - {Outcome.UNKNOWN}
    assert {code.name.lower() for code in KindCode} == {kind.value for kind in DeviceKind}


@given(message=MESSAGES, more=st.binary(min_size=1, max_size=20))
def test_a_longer_message_of_a_newer_minor_is_read_as_far_as_it_is_known(message: Message, more: bytes) -> None:
    header = header_of(message)
    found, extra = read_message(header, header.to_bytes() + message.to_bytes() + more)
    if isinstance(message, FactMessage):
        assert isinstance(found, FactMessage)
        assert found.fact() == (message.fact()[0], len(more))
    else:
        assert (found, extra) == (message, len(more))


@given(message=MESSAGES, data=st.data())
def test_a_message_cut_short_is_refused(message: Message, data: st.DataObject) -> None:
    payload = message.to_bytes()
    if not payload:
        return
    keep = data.draw(st.integers(0, len(payload) - 1))
    header = header_of(message)
    with pytest.raises(BadMessage):
        read_whole(header, header.to_bytes() + payload[:keep])


@given(body=st.binary(max_size=300))
def test_no_bytes_crash_the_reading(body: bytes) -> None:
    with suppress(BadMessage):
        read_whole(Header.from_bytes(body), body)


@given(code=st.integers(0, 255), clock_ms=U32, fields=st.binary(max_size=12))
def test_fields_of_a_fact_are_read_whole_or_refused(code: int, clock_ms: int, fields: bytes) -> None:
    message = FactMessage(number=0, clock_ms=clock_ms, code=code, fields=fields)
    try:
        fact, extra = message.fact()
    except BadMessage:
        return
    written = FactMessage.of(0, fact)
    assert written.code == code
    assert written.fields == fields[: len(fields) - extra]


def test_unknown_types_and_codes_have_errors_of_their_own() -> None:
    header = Header(to_host=True, message_type=0x55, session=1)
    with pytest.raises(UnknownMessageType, match="0x55"):
        read_message(header, header.to_bytes())
    hosts = Header(to_host=True, message_type=Ping.TYPE, session=1)
    with pytest.raises(UnknownMessageType):
        read_message(hosts, hosts.to_bytes() + Ping(id=1).to_bytes())
    with pytest.raises(UnknownFactCode):
        FactMessage(number=1, clock_ms=1, code=0x3F, fields=b"").fact()


@pytest.mark.parametrize(
    ("code", "fields", "words"),
    [
        (FactCode.STUB_COUNTED, (10_001).to_bytes(2, "little"), "10001"),
        (FactCode.SHUFFLE_COMPLETED, b"\x34\x00\x02\x00", "mode"),
        (FactCode.SHUFFLE_COMPLETED, b"\x34\x00\x00\x21" + b"a" * 33, "at most 32"),
        (FactCode.SHUFFLE_COMPLETED, b"\x34\x00\x00\x01\xff", "UTF-8"),
        (FactCode.CARD_DRAWN, b"\x01\x00\x00\x00\x34\x00", "no such card"),
        (FactCode.CARD_DRAWN, b"\x01\x00\x00\x00\x00\x02", "face"),
    ],
)
def test_values_outside_the_tables_are_refused(code: int, fields: bytes, words: str) -> None:
    with pytest.raises(BadMessage, match=words):
        FactMessage(number=1, clock_ms=1, code=code, fields=fields).fact()


def test_a_face_down_card_is_in_no_error_s_text() -> None:
    with pytest.raises(BadMessage) as error:
        FactMessage(number=1, clock_ms=1, code=FactCode.CARD_DRAWN, fields=b"\x01\x00\x00\x00\x2a\x07").fact()
    assert str(Card("Qh")) not in str(error.value)
    assert "42" not in str(error.value)


@pytest.mark.parametrize(
    "fact",
    [
        facts.SeatCount(at_ms=1, seat=256, cards=1),
        facts.SeatCount(at_ms=1, seat=0, cards=1),
        facts.SeatCount(at_ms=1, seat=1, cards=10_001),
        facts.GroupTaken(at_ms=1, group=2**32),
        facts.ShuffleCompleted(at_ms=1, cards=52, mode="shuffle", deck=""),
        facts.ShuffleCompleted(at_ms=1, cards=52, mode="shuffle", deck="é" * 17),
    ],
)
def test_a_fact_without_room_on_the_wire_is_refused(fact: DeviceFact) -> None:
    with pytest.raises(ValueError, match=r"outside|longer|fit|empty"):
        FactMessage.of(1, fact)


def test_outcomes_of_messages_are_the_device_s_own() -> None:
    for payload in (OutcomeMessage(id=1, outcome=Outcome.REFUSED).to_bytes(), State(clock_ms=0, flags=0).to_bytes()):
        assert payload
    header = Header(to_host=True, message_type=OutcomeMessage.TYPE, session=1)
    with pytest.raises(BadMessage, match="no such outcome: 5"):
        read_message(header, header.to_bytes() + bytes(8) + b"\x05\x00")


def test_the_longest_message_has_room_for_the_trailer() -> None:
    name = "n" * 32
    answer = HelloAnswer(
        nonce=bytes(8),
        attempt=0,
        boot=bytes(8),
        clock_ms=0,
        kind=1,
        capabilities=0,
        decks=0,
        ring_size=0,
        first_sequence=0,
        vendor=name,
        model=name,
        serial_number=name,
        firmware_version=name,
    )
    trailer, crc = 28, 4
    assert HEADER_SIZE + len(answer.to_bytes()) + trailer + crc <= MAX_DECODED


def test_session_ids_differ_by_nonce_and_boot_and_are_never_zero() -> None:
    assert session_id(bytes(7) + b"\x01", bytes(8)) != session_id(bytes(7) + b"\x02", bytes(8))
    assert session_id(bytes(8), bytes(7) + b"\x01") != session_id(bytes(8), bytes(7) + b"\x02")
    assert session_id(bytes.fromhex("0102030405060708"), bytes.fromhex("b007000000000001")) == 0x1BC9F895
