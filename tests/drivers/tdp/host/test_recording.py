"""Recorded bytes of a TDP device, without a session."""

import dataclasses
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.cards import Card
from drivers.facts import CardDrawn, DeviceFact, GroupTaken
from drivers.framing import encode_frame
from drivers.tdp.codec.command_messages import Alive
from drivers.tdp.codec.enums import Capability, KindCode
from drivers.tdp.codec.fact_messages import FactMessage, Gap
from drivers.tdp.codec.header import Header, session_id
from drivers.tdp.codec.messages import Message, wire_frame
from drivers.tdp.codec.session_messages import Hello, HelloAnswer, Started
from drivers.tdp.host.auth import TRAILER_SIZE
from drivers.tdp.host.recording import MOST_BOOTS, MOST_EARLY, TdpRecording
from tests.drivers.tdp.device import ModelDevice
from tests.drivers.tdp.link import Link

SESSION = session_id(b"nonce---", b"boot---1")


def frame(message: Message, session: int = SESSION) -> bytes:
    return wire_frame(message, session=session, sequence=0, acknowledgement=0)


def fact(number: int, session: int = SESSION) -> bytes:
    drawn = CardDrawn(at_ms=1000 + number % 1000, draw=number % 1000, card=Card("Ah"), face="down")
    return frame(FactMessage.of(number, drawn), session)


def draws(*pieces: bytes) -> tuple[list[int], dict[str, int]]:
    recording = TdpRecording()
    facts: list[DeviceFact] = [fact for piece in pieces for fact in recording.feed(piece)]
    facts += recording.end()
    return [fact.draw for fact in facts if isinstance(fact, CardDrawn)], recording.counters


def test_facts_are_told_with_the_clock_of_the_device() -> None:
    recording = TdpRecording()
    (told,) = recording.feed(fact(7))
    assert told == CardDrawn(at_ms=1007, draw=7, card=Card("Ah"), face="down")
    assert recording.end() == []
    assert recording.counters == {"frames": 1}


def test_what_came_out_of_order_is_put_in_order_and_repeats_are_dropped() -> None:
    told, counters = draws(fact(1), fact(3), fact(4), fact(3), fact(2), fact(2), fact(5))
    assert told == [1, 2, 3, 4, 5]
    assert counters["repeated_facts"] == 2


def test_a_fact_that_never_comes_holds_the_others_for_a_while() -> None:
    told, counters = draws(fact(1), *(fact(number) for number in range(3, 3 + MOST_EARLY + 1)))
    assert told == [1, *range(3, 3 + MOST_EARLY + 1)]
    assert counters["missing_facts"] == 1
    assert draws(fact(1), fact(4))[0] == [1, 4]


def test_numbers_wrap() -> None:
    told, _ = draws(*(fact((2**32 - 3 + step) % 2**32) for step in (0, 2, 1, 4, 3, 5)))
    assert told == [(2**32 - 3 + step) % 2**32 % 1000 for step in range(6)]


def test_a_fact_that_a_new_session_sends_again_is_one_fact() -> None:
    answer = HelloAnswer(
        nonce=b"nonce---",
        attempt=0,
        boot=b"boot---1",
        clock_ms=0,
        kind=KindCode.SHOE,
        capabilities=Capability.READS_CARDS,
        decks=1,
        ring_size=64,
        first_sequence=0,
        firmware_hash=bytes(32),
        vendor="v",
        model="m",
        serial_number="s",
        firmware_version="1",
    )
    again = dataclasses.replace(answer, nonce=b"another-")
    later = session_id(b"another-", b"boot---1")
    wire = [frame(answer, 0), fact(1), fact(2), frame(again, 0), frame(Started(gap=False, first_number=2), later)]
    assert draws(*wire, fact(2, later), fact(3, later))[0] == [1, 2, 3]
    stranger = session_id(b"another-", b"boot---2")
    assert draws(*wire[:3], fact(2, stranger))[0] == [1, 2, 2]


def test_a_gap_goes_on_where_the_device_says() -> None:
    assert draws(fact(1), frame(Gap(next_number=9)), fact(9))[0] == [1, 9]


def test_frames_of_the_host_and_other_messages_are_passed_over() -> None:
    hello = frame(Hello(nonce=b"nonce---", attempt=0), 0)
    told, counters = draws(hello, b"\x00", fact(1), frame(Alive(ping=0, clock_ms=1, next_number=2)), b"\x05\x00")
    assert told == [1]
    assert counters["frames_of_the_host"] == 1
    assert counters["frames"] == 2


def test_authenticated_frames_are_read() -> None:
    drawn = FactMessage.of(1, CardDrawn(at_ms=0, draw=1, card=None, face="up"))
    header = Header(to_host=True, message_type=drawn.TYPE, session=SESSION, authenticated=True)
    assert draws(encode_frame(header.to_bytes() + drawn.to_bytes() + bytes(TRAILER_SIZE)))[0] == [1]


@pytest.mark.parametrize("by_byte", [True, False])
def test_what_a_device_said_on_the_wire(by_byte: bool) -> None:  # noqa: FBT001
    device = ModelDevice()
    link = Link(device, seed=3)
    heard = bytearray()
    receive = link.driver.receive

    def listen(data: bytes, now_ms: int) -> object:
        heard.extend(data)
        return receive(data, now_ms)

    link.driver.receive = listen  # type: ignore[method-assign,assignment]
    link.run(200)
    link.to_host(device.happens(lambda at_ms: GroupTaken(at_ms=at_ms, group=1), link.now_ms))
    link.run(200)
    assert len(link.facts()) > 0
    recording = TdpRecording()
    pieces = [bytes((byte,)) for byte in heard] if by_byte else [bytes(heard)]
    facts = [told for piece in pieces for told in recording.feed(piece)]
    assert len(facts) == len(link.facts())


@given(
    st.lists(st.one_of(st.binary(max_size=80), st.integers(0, 2**32 - 1).map(fact)), max_size=30), st.integers(0, 99)
)
def test_any_bytes_are_read_without_a_word(pieces: list[bytes], seed: int) -> None:
    recording = TdpRecording()
    chance = Random(seed)
    for piece in pieces:
        recording.feed(piece)
        recording.feed(fact(chance.randrange(2**32), chance.randrange(1, 2**32)))
        assert len(recording._boots) <= MOST_BOOTS
        assert all(len(facts.early) <= MOST_EARLY for facts in recording._boots.values())
    recording.end()
