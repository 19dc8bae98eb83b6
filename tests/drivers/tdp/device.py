"""A minimal TDP device, written from drivers/tdp/spec.md; shares frames and messages with the host, nothing else."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from drivers.commands import Outcome
from drivers.facts import DeviceFact
from drivers.framing import FrameDecoder
from drivers.sequence import seq_add, seq_diff
from drivers.tdp.codec.command_messages import Alive, CommandMessage, OutcomeMessage, Ping
from drivers.tdp.codec.fact_messages import Durable, FactMessage, Gap, State
from drivers.tdp.codec.header import MAJOR, WINDOW, Header, session_id
from drivers.tdp.codec.messages import DeviceMessage, read_message, wire_frame
from drivers.tdp.codec.session_messages import Hello, HelloAnswer, Start, Started

HEARTBEAT_MS = 500
SILENCE_MS = 3000
RETRANSMISSION_MS = 250


@dataclass(slots=True)
class UnderWay:
    sequence: int
    message: DeviceMessage


@dataclass
class ModelDevice:
    """`clock_ahead_ms`: device clock minus the table's. Commands are accepted, started and finished at once."""

    kind: int = 1
    boot: bytes = bytes.fromhex("b007b007b0070001")
    serial_number: str = "SN-1"
    first_sequence: int = 0xFFFC
    next_number: int = 0xFFFF_FFF0
    ring_size: int = 256
    clock_ahead_ms: int = 5_000_000
    capabilities: int = 0
    lowest_major: int = MAJOR
    highest_major: int = MAJOR
    header_major: int = MAJOR
    firmware_hash: bytes = bytes(range(32))
    command_outcomes: tuple[Outcome, ...] = (Outcome.ACCEPTED, Outcome.STARTED, Outcome.FINISHED)
    commands: list[tuple[int, int]] = field(default_factory=list)
    made: list[tuple[int, DeviceFact]] = field(default_factory=list)
    ring: deque[FactMessage] = field(default_factory=deque)
    sessions: int = 0

    def __post_init__(self) -> None:
        self.decoder = FrameDecoder()
        self.nonce: bytes | None = None
        self.nonce_before: bytes | None = None
        self.session = 0
        self.started = False
        self.last_command = 0
        self._forget_session()

    def _forget_session(self) -> None:
        self.started = False
        self.sequence = self.first_sequence
        self.window: list[UnderWay] = []
        self.backlog: deque[DeviceMessage] = deque()
        self.unsent_number = self.next_number
        self.retransmit_at_ms = 0
        self.wait_ms = RETRANSMISSION_MS
        self.last_sent_ms = 0
        self.last_heard_ms = 0
        self.highest_command = 0
        self.gap_due = False

    def happens(self, make: Callable[[int], DeviceFact], now_ms: int) -> bytes:
        """A fact: `make` gets the device's clock. The bytes that follow at once."""
        fact = make(now_ms + self.clock_ahead_ms)
        if len(self.ring) == self.ring_size:
            lost = self.ring.popleft()
            if lost.number == self.unsent_number:
                self.unsent_number = seq_add(lost.number, 1, 32)
                self.gap_due = True
        self.ring.append(FactMessage.of(self.next_number, fact))
        self.made.append((self.next_number, fact))
        self.next_number = seq_add(self.next_number, 1, 32)
        return self._fill_window(now_ms)

    def receive(self, data: bytes, now_ms: int) -> bytes:
        return b"".join(self._frame(body, now_ms) for body in self.decoder.feed(data))

    def tick(self, now_ms: int) -> bytes:
        if self.nonce is None:
            return b""
        if now_ms - self.last_heard_ms >= SILENCE_MS:
            self.nonce = None
            self._forget_session()
            return b""
        out = b""
        if self.window and now_ms >= self.retransmit_at_ms:
            out += b"\x00" + b"".join(self._encode(sent.message, sent.sequence) for sent in self.window)
            self.wait_ms = min(2 * self.wait_ms, 1000)
            self.retransmit_at_ms = now_ms + self.wait_ms
            self.last_sent_ms = now_ms
        if self.started and now_ms - self.last_sent_ms >= HEARTBEAT_MS:
            out += self._alive(0, now_ms)
        return out

    def _frame(self, body: bytes, now_ms: int) -> bytes:
        header = Header.from_bytes(body)
        if header.to_host:
            return b""
        message, _ = read_message(header, body)
        if isinstance(message, Hello):
            return self._hello(message, now_ms)
        if self.nonce is None or header.session != self.session:
            return b""
        self.last_heard_ms = now_ms
        out = b""
        if self.started:
            self._acknowledged(header.acknowledgement, now_ms)
        match message:
            case Start() if not self.started:
                self._start(message, now_ms)
            case Durable():
                self._durable(message.number)
            case Ping():
                if message.durable is not None:
                    self._durable(message.durable)
                out = self._alive(message.id, now_ms)
            case CommandMessage() if self.started and message.id > self.highest_command:
                self.highest_command = self.last_command = message.id
                self.commands.append((message.id, message.command))
                self.backlog += [OutcomeMessage(id=message.id, outcome=outcome) for outcome in self.command_outcomes]
        return out + self._fill_window(now_ms)

    def _hello(self, hello: Hello, now_ms: int) -> bytes:
        if hello.nonce == self.nonce_before:
            return b""
        if hello.nonce != self.nonce:
            self._forget_session()
            self.nonce_before, self.nonce = self.nonce, hello.nonce
            self.session = session_id(hello.nonce, self.boot)
            self.sessions += 1
        self.last_heard_ms = now_ms
        answer = HelloAnswer(
            nonce=hello.nonce,
            attempt=hello.attempt,
            boot=self.boot,
            clock_ms=now_ms + self.clock_ahead_ms,
            kind=self.kind,
            lowest_major=self.lowest_major,
            highest_major=self.highest_major,
            capabilities=self.capabilities,
            decks=1,
            ring_size=self.ring_size,
            first_sequence=self.first_sequence,
            firmware_hash=self.firmware_hash,
            vendor="Model",
            model="M1",
            serial_number=self.serial_number,
            firmware_version="1.2.3",
        )
        return b"\x00" + wire_frame(answer, session=0, sequence=0, acknowledgement=0, major=self.header_major)

    def _start(self, start: Start, now_ms: int) -> None:
        oldest = self.ring[0].number if self.ring else self.next_number
        gap = False
        if start.resume is not None and start.resume[0] == self.boot:
            self._durable(start.resume[1])
            wanted = seq_add(start.resume[1], 1, 32)
            oldest = self.ring[0].number if self.ring else self.next_number
            gap = wanted != oldest
        elif start.resume is not None:
            gap = True
        self.started = True
        self.unsent_number = oldest
        self.backlog += [Started(gap=gap, first_number=oldest), State(clock_ms=now_ms + self.clock_ahead_ms, flags=0)]

    def _durable(self, number: int) -> None:
        if not self.ring or seq_diff(number, self.next_number, 32) >= 0:
            return
        while self.ring and seq_diff(self.ring[0].number, number, 32) <= 0:
            self.ring.popleft()

    def _acknowledged(self, expected: int, now_ms: int) -> None:
        done = [sent for sent in self.window if seq_diff(sent.sequence, expected, 16) < 0]
        if not done or seq_diff(expected, self.sequence, 16) > 0:
            return
        self.window = self.window[len(done) :]
        self.wait_ms = RETRANSMISSION_MS
        self.retransmit_at_ms = now_ms + self.wait_ms

    def _fill_window(self, now_ms: int) -> bytes:
        out = b""
        while self.started and len(self.window) < WINDOW and (message := self._next_message()) is not None:
            if not self.window:
                self.retransmit_at_ms = now_ms + self.wait_ms
            self.window.append(UnderWay(self.sequence, message))
            out += self._encode(message, self.sequence)
            self.sequence = seq_add(self.sequence, 1, 16)
            self.last_sent_ms = now_ms
        return b"\x00" + out if out else b""

    def _next_message(self) -> DeviceMessage | None:
        if self.backlog:
            return self.backlog.popleft()
        if self.gap_due:
            self.gap_due = False
            return Gap(next_number=self.unsent_number)
        for fact in self.ring:
            if fact.number == self.unsent_number:
                self.unsent_number = seq_add(fact.number, 1, 32)
                return fact
        return None

    def _alive(self, ping: int, now_ms: int) -> bytes:
        self.last_sent_ms = now_ms
        alive = Alive(ping=ping, clock_ms=now_ms + self.clock_ahead_ms, next_number=self.next_number)
        return b"\x00" + self._encode(alive, self.sequence)

    def _encode(self, message: DeviceMessage, sequence: int) -> bytes:
        return wire_frame(message, session=self.session, sequence=sequence, acknowledgement=0, major=self.header_major)
