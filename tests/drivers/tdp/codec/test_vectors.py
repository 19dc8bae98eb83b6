"""The specification's own vectors: what it says in hex is what the code reads and writes."""

from collections.abc import Callable

import pytest

from drivers.commands import Command, CommandKind, Outcome
from drivers.driver import CommandReport, DeviceKind, Heard, LinkUp, NumberedFact, Report, Resume, Step
from drivers.facts import GroupReady, ShuffleCompleted
from drivers.framing import FrameDecoder
from drivers.tdp.codec.enums import MessageType
from drivers.tdp.codec.fact_codec import FactCode
from drivers.tdp.codec.fact_messages import FactMessage
from drivers.tdp.codec.header import Header
from drivers.tdp.codec.messages import Message, read_message, wire_frame
from drivers.tdp.host.driver import TdpDriver
from simulator.firmware.device import Firmware
from simulator.firmware.identity import Identity
from tests.drivers.tdp.vectors import BadVector, GoodVector, bad_vectors, described, good_vectors, transcript
from tests.drivers.tdp.wire import Machine

NONCE = bytes.fromhex("0102030405060708")
BOOT = "b007000000000001"
RESUME = Resume(BOOT, 0xFFFF_FFFE)


def read(wire: bytes) -> tuple[Header, Message]:
    (body,) = FrameDecoder().feed(b"\x00" + wire)
    header = Header.from_bytes(body)
    message, extra = read_message(header, body)
    assert extra == 0
    return header, message


@pytest.mark.parametrize("vector", good_vectors(), ids=lambda vector: vector.name)
def test_good_frames_are_read_and_written(vector: GoodVector) -> None:
    header, message = read(vector.wire)
    assert described(message) == vector.message
    assert header == Header(
        to_host=header.to_host,
        message_type=message.TYPE,
        session=vector.session,
        sequence=vector.sequence,
        acknowledgement=vector.acknowledgement,
    )
    again = wire_frame(
        message, session=vector.session, sequence=vector.sequence, acknowledgement=vector.acknowledgement
    )
    assert again == vector.wire


def test_every_message_and_every_fact_has_a_vector() -> None:
    messages = [read(vector.wire)[1] for vector in good_vectors()]
    assert {message.TYPE for message in messages} == set(MessageType)
    assert {message.code for message in messages if isinstance(message, FactMessage)} == set(FactCode)


@pytest.mark.parametrize("vector", bad_vectors(), ids=lambda vector: vector.name)
def test_bad_frames_are_counted_and_are_nothing(vector: BadVector) -> None:
    driver = TdpDriver(DeviceKind.SHUFFLER, None)
    hello, answer = transcript()[0], transcript()[1]
    assert driver.opened(nonce=NONCE, key=None, resume=None, now_ms=0).to_send == hello.wire
    driver.receive(answer.wire, 4)
    before = driver.counters.get(vector.why, 0)
    assert driver.receive(vector.wire, 5).reports == ()
    assert driver.counters[vector.why] == before + 1


def test_the_transcript_is_what_the_host_says() -> None:
    driver = TdpDriver(DeviceKind.SHUFFLER, None)
    acts: dict[int, Callable[[], Step]] = {
        0: lambda: driver.opened(nonce=NONCE, key=None, resume=RESUME, now_ms=0),
        20: lambda: driver.durable(0xFFFF_FFFF, 20),
        120: lambda: driver.ask(120),
        160: lambda: driver.durable(0, 160),
        400: lambda: driver.send(Command(id=42, kind=CommandKind.STOP), 400),
        620: lambda: driver.tick(620),
    }
    reports: list[Report] = []
    unread = b""
    for line in transcript():
        step = Step()
        if line.to_host:
            assert unread == b""
            step = driver.receive(line.wire, line.at_ms)
        elif unread == b"":
            step = acts[line.at_ms]()
        unread += step.to_send
        reports += step.reports
        if not line.to_host:
            assert unread == line.wire, f"at {line.at_ms} ms"
            unread = b""
    assert isinstance(reports[0], LinkUp)
    assert not reports[0].gap
    numbers = [report.number for report in reports if isinstance(report, NumberedFact)]
    assert numbers == [0xFFFF_FFFF, 0]
    first_heard = next(at for at, report in enumerate(reports) if isinstance(report, Heard))
    assert isinstance(reports[first_heard - 1], NumberedFact)
    assert [report.outcome for report in reports if isinstance(report, CommandReport)] == [
        Outcome.ACCEPTED,
        Outcome.STARTED,
        Outcome.FINISHED,
    ]


def test_the_transcript_is_what_a_device_says() -> None:
    """Each burst is 2 ms under way. Who it says it is, in HELLO_ANSWER, is another device's affair."""
    identity = Identity(
        DeviceKind.SHUFFLER,
        "A-0017",
        bytes.fromhex("B007000000000001"),
        1,
        clock_offset_ms=1_000_000,
        first_number=0xFFFF_FFFF,
        first_sequence=0xFFFE,
    )
    firmware = Firmware(identity, Machine())
    firmware.report(ShuffleCompleted(at_ms=0, cards=52, mode="shuffle"), -500)
    said: dict[int, list[bytes]] = {}
    for now_ms in range(640):
        out = b"".join(
            firmware.receive(line.wire, now_ms)
            for line in transcript()
            if not line.to_host and line.at_ms + 2 == now_ms
        )
        if now_ms == 100:
            firmware.report(GroupReady(at_ms=0, group=1, cards=3), now_ms)  # lost on the wire
        frames = [frame for frame in (out + firmware.tick(now_ms)).split(b"\x00") if frame]
        if frames:
            said[now_ms + 2] = frames
    lines = [line for line in transcript() if line.to_host]
    assert list(said) == [line.at_ms for line in lines]
    for line in lines[1:]:
        assert said[line.at_ms] == [frame for frame in line.wire.split(b"\x00") if frame], f"at {line.at_ms} ms"
