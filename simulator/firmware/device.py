"""The device's end of the Table Device Protocol, written from its specification: bytes and time in, bytes out.

`now_ms` is the world's clock; the device's own, which goes over the wire, is ahead of it by an offset of its own.
Numbers in brackets are sections of drivers/tdp/spec.md.
"""

import enum
import os
from collections import Counter, deque
from collections.abc import Iterable
from typing import Final

import msgspec

from drivers.facts import DeviceFact
from drivers.framing import DELIMITER, FrameDecoder, encode_frame
from drivers.sequence import NUMBER_BITS, seq_add, seq_diff
from drivers.tdp.codec.command_messages import Alive, CommandMessage, OutcomeMessage, Ping
from drivers.tdp.codec.enums import MessageType
from drivers.tdp.codec.fact_messages import Ack, Durable, FactMessage, Gap, State
from drivers.tdp.codec.fields import BadMessage
from drivers.tdp.codec.header import MAJOR, Header, session_id
from drivers.tdp.codec.messages import DeviceMessage, Message, UnknownMessageType, read_message, wire_frame
from drivers.tdp.codec.pairing_messages import PairCommit, PairConfirm, PairReveal, PairStop
from drivers.tdp.codec.session_messages import Hello, HelloAnswer, Start, Started
from simulator.firmware.commands import Commands
from simulator.firmware.device_auth import DeviceAuth, UntrustedError
from simulator.firmware.identity import CAPABILITIES, FIRMWARE_VERSION, KIND_CODES, VENDOR, Identity
from simulator.firmware.motors import Motors
from simulator.firmware.pairing import PairingQueue
from simulator.firmware.ring import Ring
from simulator.firmware.window import UnderWay, Window

HEARTBEAT_MS: Final = 500
SILENCE_MS: Final = 3000


class SessionState(enum.Enum):
    """(8.3)"""

    SILENT = "silent"
    GREETED = "greeted"
    STARTED = "started"


class Firmware:
    """`patient`: commands that arrive wait until `take_up_commands` is called, as a slow machine's would.

    `guard` holds the key it was paired with; without one it was never paired.
    """

    def __init__(
        self, identity: Identity, motors: Motors, guard: DeviceAuth | None = None, *, patient: bool = False
    ) -> None:
        self.identity: Final = identity
        self.ring: Final = Ring(identity.ring_size, identity.first_number)
        self.counters: Final[Counter[str]] = Counter()
        self.guard: Final = guard or DeviceAuth(os.urandom)
        self.pairing: Final = PairingQueue(self.guard)
        self._patient = patient
        self._decoder = FrameDecoder()
        self._state = SessionState.SILENT
        self._nonce = b""
        self._nonce_before = b""
        self._session = 0
        self._window = Window(identity.first_sequence, 0, self.guard.frame_bytes, identity.baud)
        self._sessions = 0
        self._common_major = False
        self._first_sequence = identity.first_sequence
        self._waiting: deque[Started | State | OutcomeMessage] = deque()
        self._next_fact = identity.first_number
        self._host_sequence = 0
        self._heard_ms = 0
        self._sent_ms = 0
        self._commands = Commands(motors, self.counters)
        self._out = bytearray()

    @property
    def state(self) -> SessionState:
        """Where its session is."""
        return self._state

    @property
    def unacknowledged(self) -> int:
        """Facts that the host has not said to be durable."""
        return len(self.ring)

    @property
    def pending_commands(self) -> int:
        """Commands that have arrived and wait for `take_up_commands`."""
        return self._commands.pending

    @property
    def quiet(self) -> bool:
        """Nothing is under way to the host, nor waits for its turn."""
        return not (len(self._window) or self._waiting or self.ring.get(self._next_fact))

    @property
    def wake_at_ms(self) -> int | None:
        """When `tick` has something to do next."""
        times = [time for time in (self._commands.wake_at_ms, self.pairing.until_ms) if time is not None]
        if self._state is not SessionState.SILENT:
            times.append(self._heard_ms + SILENCE_MS)
            if self._state is SessionState.STARTED:
                times.append(self._sent_ms + HEARTBEAT_MS)
            again = self._window.wake_at_ms
            if again is not None:
                times.append(again)
        return min(times, default=None)

    def clock_ms(self, now_ms: int) -> int:
        """The device's own clock, when the world's says `now_ms`."""
        return now_ms + self.identity.clock_offset_ms

    def plugged_in(self) -> None:
        """A new cable is a new byte stream: half a frame of the old one is worth nothing (2.4)."""
        self._decoder = FrameDecoder()

    def report(self, fact: DeviceFact, now_ms: int) -> bytes:
        """Something happened: it is numbered and kept, and sent when its turn comes (4.4)."""
        self.ring.add(self.clock_ms(now_ms), fact)
        return self._flush(now_ms)

    def receive(self, data: bytes, now_ms: int) -> bytes:
        """Bytes came from the host, cut anywhere; what the device sends at once."""
        for body in self._decoder.feed(data):
            self._frame(body, now_ms)
        if not self._patient:
            self._take_up(now_ms)
        return self._flush(now_ms)

    def take_up_commands(self, now_ms: int) -> bytes:
        """Let the machine do what has been waiting."""
        self._take_up(now_ms)
        return self._flush(now_ms)

    def tell(self, message: DeviceMessage | None, now_ms: int) -> bytes:
        """What a person's act at the device has it say (9.4)."""
        if message is not None and self._state is not SessionState.SILENT:
            self._say(message)
        return self._flush(now_ms)

    def tick(self, now_ms: int) -> bytes:
        """The time is now `now_ms`; what the device sends by then."""
        self._out[:0] = self.tell(self.pairing.tick(now_ms), now_ms)
        self._tell(self._commands.tick(now_ms))
        if self._state is not SessionState.SILENT:
            if now_ms - self._heard_ms >= SILENCE_MS or self._window.stuck(now_ms):
                self.counters["sessions_ended"] += 1
                self._end_session()
            else:
                for message in self._window.due_again(now_ms):
                    self._put(message)
        out = self._flush(now_ms)
        if not out and self._state is SessionState.STARTED and now_ms - self._sent_ms >= HEARTBEAT_MS:
            self._say(Alive(ping=0, clock_ms=self.clock_ms(now_ms), next_number=self.ring.next_number))
            out = self._flush(now_ms)
        return out

    def _frame(self, body: bytes, now_ms: int) -> None:
        """One good frame, judged in the order of 3.1."""
        try:
            header = Header.from_bytes(body)
        except BadMessage:
            self.counters["short_bodies"] += 1
            return
        hello = header.message_type == MessageType.HELLO
        for dropped, reason in (
            (header.to_host, "own_echo"),
            (header.major != MAJOR and not hello, "other_major"),
            (not hello and self._state is SessionState.SILENT, "before_hello"),
            (header.session != (0 if hello else self._session), "other_session"),
            (hello and header.authenticated, "authenticated"),
        ):
            if dropped:
                self.counters[reason] += 1
                return
        try:
            message, rest = read_message(header, body if hello else self.guard.open(header, body))
        except UntrustedError as untrusted:
            self.counters[str(untrusted)] += 1
            return
        except UnknownMessageType:
            self.counters["unknown_types"] += 1
            return
        except BadMessage:
            self.counters["bad_messages"] += 1
            return
        self.counters["longer_messages"] += bool(rest)
        if isinstance(message, Hello):
            self._hello(message, now_ms)
            return
        self._heard_ms = now_ms
        self._host_sequence = header.sequence
        if not isinstance(message, Start):
            self._window.acknowledge(header.acknowledgement, now_ms)
        self._take(message, now_ms)

    def _hello(self, hello: Hello, now_ms: int) -> None:
        """(4.2) Another nonce makes another session; the same one is answered again, the one before has come late."""
        if hello.nonce == self._nonce_before:
            self.counters["late_hellos"] += 1
            return
        if self._state is SessionState.SILENT or hello.nonce != self._nonce:
            self._end_session()
            self._state = SessionState.GREETED
            if hello.nonce != self._nonce:
                self._nonce_before = self._nonce
            self._nonce = hello.nonce
            self._session = session_id(hello.nonce, self.identity.boot)
            self.guard.new_session(hello.key_id, hello.nonce, self.identity.boot)
            # A session's first sequence differs from the last one's, and every run passes the wrap.
            self._first_sequence = (self.identity.first_sequence + self._sessions) & 0xFFFF
            self._sessions += 1
            self._window = Window(self._first_sequence, now_ms, self.guard.frame_bytes, self.identity.baud)
            self._commands.session_begins()
            self._host_sequence = 0
        self._heard_ms = now_ms
        answer = HelloAnswer(
            nonce=hello.nonce,
            attempt=hello.attempt,
            boot=self.identity.boot,
            clock_ms=self.clock_ms(now_ms),
            kind=KIND_CODES[self.identity.kind],
            capabilities=CAPABILITIES[self.identity.kind] | self.guard.capabilities,
            decks=self.identity.decks,
            ring_size=self.identity.ring_size,
            first_sequence=self._first_sequence,
            key_id=self.guard.session_key_id,
            device_nonce=self.guard.device_nonce,
            firmware_hash=self.identity.firmware_hash,
            vendor=VENDOR,
            model=self.identity.model,
            serial_number=self.identity.serial_number,
            firmware_version=FIRMWARE_VERSION,
        )
        self._out += DELIMITER
        self._common_major = hello.lowest_major <= MAJOR <= hello.highest_major
        self._say(answer, session=0)

    def _take(self, message: Message, now_ms: int) -> None:
        match message:
            case Start():
                self._start(message, now_ms)
            case Ping(id=ping, durable=durable):
                if durable is not None and self._state is SessionState.STARTED:
                    self._durable(durable)
                self._say(Alive(ping=ping, clock_ms=self.clock_ms(now_ms), next_number=self.ring.next_number))
            case Durable(number=number) if self._state is SessionState.STARTED:
                self._durable(number)
            case CommandMessage() if self._state is SessionState.STARTED:
                self._commands.put(message)
            case Ack():
                pass
            case PairCommit() | PairReveal() | PairConfirm() | PairStop() if self.guard.seal is None:
                if self._state is SessionState.GREETED and (answer := self.pairing.take(message)) is not None:
                    self._say(answer)
            case _:
                self.counters["out_of_state"] += 1

    def _start(self, start: Start, now_ms: int) -> None:
        """(4.3) Only the first START of a session does anything."""
        if self._state is not SessionState.GREETED or not self._common_major or self.guard.refuses:
            return
        gap = False
        first = self.ring.oldest
        if start.resume is not None:
            boot, number = start.resume
            following = seq_add(number, 1, NUMBER_BITS)
            self._durable(number if boot == self.identity.boot else None)
            gap = boot != self.identity.boot or not self.ring.holds_from(following)
            first = self.ring.oldest if gap else following
        self._state = SessionState.STARTED
        self._next_fact = first
        self._waiting.append(Started(gap=gap, first_number=first))
        self._waiting.append(self._commands.state(self.clock_ms(now_ms)))

    def _durable(self, number: int | None) -> None:
        if number is not None:
            self.ring.durable(number)

    def _take_up(self, now_ms: int) -> None:
        self._tell(self._commands.take_up(now_ms, self.clock_ms(now_ms)))

    def _tell(self, told: Iterable[State | OutcomeMessage]) -> None:
        if self._state is SessionState.STARTED:
            self._waiting.extend(told)

    def _end_session(self) -> None:
        """(8.3) What was under way is forgotten; the ring stays."""
        self._state = SessionState.SILENT
        self._waiting.clear()
        self._commands.session_ends()
        self.pairing.session_over()

    def _flush(self, now_ms: int) -> bytes:
        """Fill the window with what has its turn, and give out all that is to be sent."""
        while self._state is SessionState.STARTED and not self._window.full:
            message = self._next_message()
            if message is None:
                break
            self._put(self._window.add(message.TYPE, message.to_bytes(), now_ms))
        out, self._out = bytes(self._out), bytearray()
        if out:
            self._sent_ms = now_ms
        return out

    def _next_message(self) -> DeviceMessage | None:
        if self._waiting:
            return self._waiting.popleft()
        if seq_diff(self._next_fact, self.ring.oldest, NUMBER_BITS) < 0:
            self._next_fact = self.ring.oldest
            return Gap(next_number=self._next_fact)
        kept = self.ring.get(self._next_fact)
        if kept is None:
            return None
        self._next_fact = seq_add(self._next_fact, 1, NUMBER_BITS)
        return FactMessage.of(kept.number, msgspec.structs.replace(kept.fact, at_ms=kept.clock_ms))

    def _put(self, message: UnderWay) -> None:
        header = Header(
            to_host=True,
            message_type=message.kind,
            session=self._session,
            sequence=message.sequence,
            acknowledgement=self._host_sequence,
            authenticated=self.guard.seal is not None,
        )
        body = header.to_bytes() + message.payload
        self._out += encode_frame(body if self.guard.seal is None else self.guard.seal(body))

    def _say(self, message: DeviceMessage, session: int | None = None) -> None:
        self._out += wire_frame(
            message,
            session=self._session if session is None else session,
            sequence=self._window.next_sequence,
            acknowledgement=self._host_sequence,
            seal=self.guard.seal,
        )
