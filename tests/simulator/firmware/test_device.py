"""The device's end of the protocol, against the words of its specification; a host is played by hand here."""

from collections.abc import Callable

import pytest

from drivers.cards import Card
from drivers.commands import CommandKind, Outcome
from drivers.driver import DeviceKind
from drivers.facts import CardDrawn
from drivers.framing import FrameDecoder
from drivers.sequence import seq_add
from drivers.tdp.codec.command_messages import Alive, CommandMessage, OutcomeMessage, Ping
from drivers.tdp.codec.enums import COMMAND_CODES, StateFlag
from drivers.tdp.codec.fact_messages import Ack, Durable, FactMessage, Gap, State
from drivers.tdp.codec.header import MAJOR, Header, session_id
from drivers.tdp.codec.messages import Message, read_message, wire_frame
from drivers.tdp.codec.session_messages import Hello, HelloAnswer, Start, Started
from simulator.firmware.device import Firmware, SessionState
from simulator.firmware.identity import Identity
from simulator.firmware.motors import Motion

NONCE = b"nonce--1"
BOOT = b"boot---1"


class Machine:
    def __init__(self) -> None:
        self.done: list[CommandKind] = []
        self.takes_ms = 0

    def state(self) -> StateFlag:
        return StateFlag.LOCKED

    def take_up(self, command: CommandKind) -> Motion | None:
        self.done.append(command)
        return Motion(self.takes_ms, lambda: None) if self.takes_ms else None


class Host:
    """Just enough of a host to read what the device sends."""

    def __init__(self, device: Firmware, nonce: bytes = NONCE) -> None:
        self.device = device
        self.nonce = nonce
        self.decoder = FrameDecoder()
        self.now_ms = 1000
        self.expected: int | None = None
        self.session = session_id(nonce, BOOT)

    def read(self, data: bytes) -> list[Message]:
        messages = []
        for body in self.decoder.feed(data):
            header = Header.from_bytes(body)
            message, _ = read_message(header, body)
            if isinstance(message, HelloAnswer):
                self.expected = message.first_sequence
            elif message.SEQUENCED and header.sequence == self.expected:
                self.expected = seq_add(header.sequence, 1, 16)
            messages.append(message)
        return messages

    def say(self, message: Message, session: int | None = None, major: int = MAJOR) -> list[Message]:
        hello = isinstance(message, Hello)
        frame = wire_frame(
            message,
            session=(0 if hello else self.session) if session is None else session,
            sequence=0,
            acknowledgement=self.expected or 0,
            major=major,
        )
        return self.read(self.device.receive(b"\x00" + frame, self.now_ms))

    def start(self, resume: tuple[bytes, int] | None = None) -> list[Message]:
        self.say(Hello(nonce=self.nonce))
        return self.say(Start(resume=resume))

    def tick(self, after_ms: int) -> list[Message]:
        self.now_ms += after_ms
        return self.read(self.device.tick(self.now_ms))

    def draw(self, count: int = 1) -> list[Message]:
        seen: list[Message] = []
        for number in range(count):
            fact = CardDrawn(at_ms=0, draw=number, card=Card.ACE_OF_SPADES, face="down")
            seen += self.read(self.device.report(fact, self.now_ms))
        return seen


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def make(machine: Machine) -> Callable[[int], Firmware]:
    def made(ring_size: int = 16) -> Firmware:
        return Firmware(Identity(DeviceKind.SHOE, "SIM-1", BOOT, 1, 10**6, ring_size), machine)

    return made


@pytest.fixture
def host(make: Callable[[int], Firmware]) -> Host:
    return Host(make(16))


def numbers(messages: list[Message]) -> list[int]:
    return [message.number for message in messages if isinstance(message, FactMessage)]


def test_it_says_nothing_before_hello(host: Host) -> None:
    assert host.draw(3) == []
    assert host.tick(5000) == []
    assert host.say(Ping(id=1)) == []
    assert host.device.receive(b"AT\r\n\x00junk\x00", 0) == b""


def test_f31_a_hello_of_the_session_before_has_come_late(host: Host) -> None:
    host.say(Hello(nonce=b"nonce--0", attempt=0))
    host.say(Hello(nonce=NONCE, attempt=0))
    host.say(Start(resume=None))
    assert host.say(Hello(nonce=b"nonce--0", attempt=1)) == []
    assert host.device.state is SessionState.STARTED
    assert host.device.counters["late_hellos"] == 1
    assert [type(message) for message in host.say(Hello(nonce=NONCE, attempt=1))] == [HelloAnswer]


def test_hello_is_answered_each_time_with_the_same_first_sequence(host: Host) -> None:
    first = host.say(Hello(nonce=NONCE))
    second = host.say(Hello(nonce=NONCE, attempt=1))
    assert isinstance(first[0], HelloAnswer)
    assert isinstance(second[0], HelloAnswer)
    assert first[0].first_sequence == second[0].first_sequence
    assert second[0].attempt == 1
    assert first[0].clock_ms == host.now_ms + 10**6


def test_start_makes_it_tell_started_state_and_the_ring(host: Host) -> None:
    host.draw(2)
    told = host.start()
    assert [type(message) for message in told] == [Started, State, FactMessage, FactMessage]
    assert isinstance(told[0], Started)
    assert told[0].first_number == host.device.identity.first_number
    assert not told[0].gap
    assert host.say(Start(resume=None)) == []


def test_f29_sequences_and_numbers_go_over_the_wrap_in_every_run(host: Host) -> None:
    host.start()
    before = host.expected
    seen: list[int] = []
    for _ in range(30):
        seen += numbers(host.draw())
        host.say(Ack())
        host.say(Durable(number=seen[-1]))
    assert len(seen) == 30
    assert seen[0] > seen[-1] == seq_add(seen[0], 29, 32)
    assert before is not None
    assert host.expected is not None
    assert before > host.expected
    assert host.device.unacknowledged == 0


def test_no_more_than_eight_messages_are_under_way(host: Host) -> None:
    host.start()
    host.say(Ack())
    assert len(host.draw(12)) == 8
    assert len(host.say(Ack())) == 4


def test_what_is_not_acknowledged_is_sent_again_in_order_ever_more_slowly(host: Host) -> None:
    host.start()
    host.say(Ack())
    first = host.draw(3)
    assert host.tick(20) == []
    assert host.tick(250) == first
    assert host.tick(50) == []
    assert host.tick(450) == first
    host.expected = seq_add(host.device.identity.first_sequence, 3, 16)
    assert host.say(Ack()) == []
    assert host.tick(1000) == first[1:]


@pytest.mark.parametrize(
    ("boot", "ahead", "gap", "first"),
    [(BOOT, 1, False, 2), (BOOT, 3, False, 4), (b"another1", 1, True, 0), (BOOT, 7, True, 2)],
)
def test_it_resumes_as_the_table_of_4_3_says(host: Host, boot: bytes, ahead: int, first: int, *, gap: bool) -> None:
    host.draw(4)
    base = host.device.identity.first_number
    host.start()
    host.say(Durable(number=seq_add(base, 1, 32)))
    again = Host(host.device, b"nonce--2")
    told = again.start((boot, seq_add(base, ahead, 32)))
    assert isinstance(told[0], Started)
    assert told[0].gap is gap
    assert told[0].first_number == seq_add(base, first or 2, 32)
    assert numbers(told) == [seq_add(base, n, 32) for n in range(first or 2, 4)]


def test_a_ring_that_runs_over_is_a_gap_at_resume(make: Callable[[int], Firmware]) -> None:
    host = Host(make(4))
    host.draw(9)
    base = host.device.identity.first_number
    told = host.start((BOOT, seq_add(base, 1, 32)))
    assert isinstance(told[0], Started)
    assert told[0].gap
    assert numbers(told) == [seq_add(base, n, 32) for n in range(5, 9)]


def test_a_ring_that_runs_over_in_a_session_says_gap(make: Callable[[int], Firmware]) -> None:
    host = Host(make(4))
    host.start()
    host.say(Ack())
    host.draw(14)
    told = host.say(Ack())
    base = host.device.identity.first_number
    assert told[0] == Gap(next_number=seq_add(base, 10, 32))
    assert numbers(told) == [seq_add(base, n, 32) for n in range(10, 14)]


def test_ping_is_answered_also_before_start_and_carries_what_is_durable_after_it(host: Host) -> None:
    host.draw(2)
    host.say(Hello(nonce=NONCE))
    base = host.device.identity.first_number
    assert host.say(Ping(id=5)) == [Alive(ping=5, clock_ms=host.now_ms + 10**6, next_number=seq_add(base, 2, 32))]
    host.say(Ping(id=6, durable=base))
    assert host.device.unacknowledged == 2
    host.say(Start(resume=None))
    host.say(Ping(id=7, durable=base))
    assert host.device.unacknowledged == 1


def test_it_gives_a_sign_of_life_and_gives_up_on_a_silent_host(host: Host) -> None:
    host.start()
    host.say(Ack())
    assert [type(message) for message in host.tick(500)] == [Alive]
    for _ in range(5):
        host.tick(500)
    assert host.device.state is SessionState.SILENT
    assert host.tick(10_000) == []


def test_a_command_is_taken_up_once(host: Host, machine: Machine) -> None:
    host.start()
    lock = CommandMessage(id=7, command=COMMAND_CODES[CommandKind.LOCK])
    told = host.say(lock)
    assert [m.outcome for m in told if isinstance(m, OutcomeMessage)] == [
        Outcome.ACCEPTED,
        Outcome.STARTED,
        Outcome.FINISHED,
    ]
    host.say(lock)
    host.say(CommandMessage(id=6, command=COMMAND_CODES[CommandKind.UNLOCK]))
    assert machine.done == [CommandKind.LOCK]
    refused = host.say(CommandMessage(id=8, command=99))
    assert [m.outcome for m in refused if isinstance(m, OutcomeMessage)] == [Outcome.REFUSED]


def test_a_motion_that_outlives_its_session_ends_in_the_next(host: Host, machine: Machine) -> None:
    machine.takes_ms = 400
    host.start()
    host.say(Ack())
    told = host.say(CommandMessage(id=1, command=COMMAND_CODES[CommandKind.SHUFFLE]))
    assert [m.outcome for m in told if isinstance(m, OutcomeMessage)] == [Outcome.ACCEPTED, Outcome.STARTED]
    again = Host(host.device, b"nonce--2")
    state = again.start()[1]
    assert isinstance(state, State)
    assert (state.last_command, state.last_outcome) == (1, Outcome.STARTED)
    again.say(Ack())
    assert [m.outcome for m in again.tick(400) if isinstance(m, OutcomeMessage)] == [Outcome.FINISHED]


def test_report_state_tells_the_state_before_its_end(host: Host) -> None:
    host.start()
    host.say(Ack())
    told = host.say(CommandMessage(id=1, command=COMMAND_CODES[CommandKind.REPORT_STATE]))
    assert [type(message) for message in told] == [OutcomeMessage, OutcomeMessage, State, OutcomeMessage]


def test_frames_of_others_do_nothing_and_are_counted(host: Host) -> None:
    host.start()
    lock = CommandMessage(id=1, command=COMMAND_CODES[CommandKind.LOCK])
    assert host.say(lock, session=host.session ^ 1) == []
    assert host.say(lock, major=2) == []
    assert host.say(Alive(ping=1, clock_ms=1, next_number=1)) == []
    assert host.device.counters["other_session"] == 1
    assert host.device.counters["other_major"] == 1
    assert host.device.counters["own_echo"] == 1


def test_a_host_of_another_major_is_answered_but_not_started(host: Host) -> None:
    answer = host.say(Hello(nonce=NONCE, lowest_major=2, highest_major=3), major=2)
    assert isinstance(answer[0], HelloAnswer)
    assert (answer[0].lowest_major, answer[0].highest_major) == (1, 1)
    assert host.say(Start(resume=None)) == []


def test_a_new_session_forgets_messages_and_keeps_facts(host: Host) -> None:
    host.start()
    first = numbers(host.draw(3))
    again = Host(host.device, b"nonce--2")
    assert numbers(again.start()) == first
    assert host.say(Ack()) == []
