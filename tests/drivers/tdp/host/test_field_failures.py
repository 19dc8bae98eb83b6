"""What links to devices suffer from in the field, and that the host's end of TDP does not."""

from collections.abc import Iterator

from drivers import facts
from drivers.commands import Command, CommandKind
from drivers.driver import Heard, LinkDown
from drivers.framing import FrameDecoder
from drivers.tdp.codec.command_messages import Alive, CommandMessage, Ping
from drivers.tdp.codec.header import MAJOR, Header
from drivers.tdp.codec.messages import read_message, wire_frame
from drivers.tdp.codec.session_messages import HelloAnswer
from tests.drivers.tdp.device import ModelDevice
from tests.drivers.tdp.link import Faults, Link, group, up


def said(link: Link) -> Iterator[object]:
    """Every message of the host's on this link so far."""
    decoder = FrameDecoder()
    for burst in link.sent_by_host:
        for body in decoder.feed(burst):
            yield read_message(Header.from_bytes(body), body)[0]


def test_f29_sequences_and_fact_numbers_go_round_without_a_loss_or_a_repeat() -> None:
    device = ModelDevice(first_sequence=0xFFF0, next_number=0xFFFF_FFE0)
    link = up(Link(device))
    link.faults = Faults(late=0.5, double=0.3)
    for number in range(1, 100):
        link.to_host(device.happens(group(number), link.now_ms))
        link.run(10)
    link.faults = Faults()
    link.run(2000)
    assert [fact.number for fact in link.facts()] == [(0xFFFF_FFE0 + step) % 2**32 for step in range(99)]
    assert link.downs() == []
    assert link.driver.counters.get("durable_out_of_place", 0) == 0
    assert not device.ring


def test_f30_two_equal_facts_are_two_and_one_sent_twice_is_one() -> None:
    link = up(Link(ModelDevice(), faults=Faults()))
    link.faults = Faults(double=1.0)
    for _ in range(2):
        link.to_host(link.device.happens(lambda _: facts.BoxedCard(at_ms=5_000_000), link.now_ms))
        link.run(50)
    assert [type(fact.fact) for fact in link.facts()] == [facts.BoxedCard, facts.BoxedCard]
    assert link.facts()[0].number != link.facts()[1].number
    link.send(Command(id=1, kind=CommandKind.STOP))
    link.run(50)
    assert len(link.outcomes()) == 3


def test_f32_a_late_answer_is_the_answer_to_its_own_question() -> None:
    link = up(Link(ModelDevice()))
    link.faults = Faults(loss=1.0)
    asked_at_ms = link.now_ms
    link.ask()
    link.run(40)
    link.ask()
    first, second = [message.id for message in said(link) if isinstance(message, Ping)][-2:]
    device = link.device
    before = len(link.heard())

    def answer(ping: int) -> None:
        alive = Alive(ping=ping, clock_ms=link.now_ms + device.clock_ahead_ms, next_number=device.next_number)
        link.faults = Faults()
        frame = wire_frame(alive, session=device.session, sequence=device.sequence, acknowledgement=0)
        link.to_host(b"\x00" + frame)
        link.faults = Faults(loss=1.0)
        link.run(5)

    answer(first)
    answer(first)
    answer(second + 1)
    heard = [report for report in link.heard()[before:] if isinstance(report, Heard)]
    assert [report.asked_at_ms for report in heard] == [asked_at_ms]
    assert link.driver.counters["unasked_answers"] == 2


def test_f33_the_waiting_time_is_learned_from_the_line() -> None:
    link = Link(ModelDevice(), delay_ms=320)
    link.run(8000)
    link.send(Command(id=1, kind=CommandKind.STOP))
    link.run(3000)
    assert len([message for message in said(link) if isinstance(message, CommandMessage)]) == 1
    assert len(link.outcomes()) == 3


class NewerMinor(ModelDevice):
    """Speaks a minor version that this host does not know, fields at the end included."""

    def receive(self, data: bytes, now_ms: int) -> bytes:
        out = b""
        for body in FrameDecoder().feed(b"\x00" + super().receive(data, now_ms)):
            message, _ = read_message(Header.from_bytes(body), body)
            if not isinstance(message, HelloAnswer):
                out += wire_again(body)
                continue
            newer = HelloAnswer(**{name: getattr(message, name) for name in HelloAnswer.__slots__} | {"minor": 9})
            out += b"\x00" + wire_frame(newer, session=0, sequence=0, acknowledgement=0, minor=9)
        return out


def wire_again(body: bytes) -> bytes:
    header = Header.from_bytes(body)
    message, _ = read_message(header, body)
    return b"\x00" + wire_frame(
        message,
        session=header.session,
        sequence=header.sequence,
        acknowledgement=header.acknowledgement,
        minor=9,
    )


def test_f34_a_newer_minor_is_talked_to_and_a_newer_major_is_told() -> None:
    link = up(Link(NewerMinor()))
    link.to_host(link.device.happens(group(1), link.now_ms))
    link.run(50)
    assert link.ups()[0].claims.protocol == "TDP 1.9"
    assert len(link.facts()) == 1
    major = Link(ModelDevice(lowest_major=MAJOR + 1, highest_major=MAJOR + 1, header_major=MAJOR + 1))
    major.run(50)
    (down,) = major.reports
    assert isinstance(down, LinkDown)
    assert down.final
    assert "speaks TDP 2.0, this host speaks TDP 1.0: update the older of the two." in down.reason
