"""Header, messages and facts as bytes and back."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.framing import MAX_DECODED, FrameDecoder
from drivers.tdp.codec.command_messages import Ping
from drivers.tdp.codec.fact_codec import UnknownFactCode
from drivers.tdp.codec.fact_messages import FactMessage
from drivers.tdp.codec.fields import BadMessage
from drivers.tdp.codec.header import HEADER_SIZE, Header
from drivers.tdp.codec.messages import (
    DEVICE_MESSAGES,
    HOST_MESSAGES,
    Message,
    UnknownMessageType,
    read_message,
    wire_frame,
)
from drivers.tdp.codec.session_messages import HelloAnswer
from tests.drivers.tdp.strategies import MESSAGES, U16, U32


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


def test_unknown_types_and_codes_have_errors_of_their_own() -> None:
    header = Header(to_host=True, message_type=0x55, session=1)
    with pytest.raises(UnknownMessageType, match="0x55"):
        read_message(header, header.to_bytes())
    hosts = Header(to_host=True, message_type=Ping.TYPE, session=1)
    with pytest.raises(UnknownMessageType):
        read_message(hosts, hosts.to_bytes() + Ping(id=1).to_bytes())
    with pytest.raises(UnknownFactCode):
        FactMessage(number=1, clock_ms=1, code=0x3F, fields=b"").fact()


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
