"""A host of TDP in the hands of a test: it says exactly what it is told to, and keeps everything that is answered.

Written beside the daemon's own driver, which hides what a firmware engineer has to see: single frames, their order,
and what is not answered.
"""

import asyncio
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Final, Self, TypeVar

from drivers.commands import Outcome
from drivers.errors import LinkError
from drivers.framing import DELIMITER, FrameDecoder, encode_frame
from drivers.sequence import NUMBER_BITS, SEQUENCE_BITS, seq_add
from drivers.tdp.codec.command_messages import Alive, CommandMessage, OutcomeMessage, Ping
from drivers.tdp.codec.enums import COMMANDS_BY_CODE, MessageType
from drivers.tdp.codec.fact_codec import UnknownFactCode
from drivers.tdp.codec.fact_messages import Ack, Durable, FactMessage, State
from drivers.tdp.codec.fields import BadMessage
from drivers.tdp.codec.header import HEADER_SIZE, MAJOR, MINOR, Header, session_id
from drivers.tdp.codec.messages import HostMessage, Message, read_message, wire_frame
from drivers.tdp.codec.session_messages import Hello, HelloAnswer, Start, Started
from drivers.tdp.host.auth import NotTrusted, Seal, SealReader, key_id, session_keys
from drivers.tdp.host.stream import SequencedReceiver
from drivers.transports.opening import open_transport
from drivers.transports.transport import Transport
from tests.hil.bench.devices import Device
from tests.hil.bench.frames import FrameLog, name_of
from tests.hil.bench.reported import in_words
from tests.hil.bench.waiting import BenchFaultError, Progress, said_by_itself, unseen, until

__tracebackhide__ = said_by_itself
ANSWER_S: Final = 10.0
AGAIN_S: Final = 1.0
PING_S: Final = 0.5
NONCE_BYTES: Final = 8
ENDS: Final = (Outcome.FINISHED, Outcome.REFUSED)

MessageT = TypeVar("MessageT", bound=Message)


class Wire:
    """One connection; use as an async context. `attentive`: it pings and acknowledges by itself, as a host has to.

    `messages`: all of the present session, the sequenced ones in their turn and once each. `raw`: every byte that came.
    `quickest_s`: the shortest time that the answer to a PING took. Frames that arrived whole and are not what the
    specification allows are noted in the log, whatever the test is about.
    """

    def __init__(self, device: Device, log: FrameLog) -> None:
        self.device: Final = device
        self.messages: list[Message] = []
        self.raw = bytearray()
        self.attentive = True
        self.nonce = b""
        self.session = 0
        self.answer: HelloAnswer | None = None
        self.repeated = 0
        self.quickest_s = float("inf")
        self._log = log
        self._connection = 0
        self._decoder = FrameDecoder()
        self._transport: Transport | None = None
        self._lost: LinkError | None = None
        self._stream: SequencedReceiver[Message] = SequencedReceiver(0)
        self._payloads: dict[int, bytes] = {}
        self._seal: Seal | None = None
        self._reader: SealReader | None = None
        self._sequence = secrets.randbelow(1 << SEQUENCE_BITS)
        self._acknowledged: int | None = None
        self._pings = 0
        self._commands = 0
        self._pinging: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._connection = self._log.opened(self.device.name)
        try:
            self._transport = await open_transport(self.device.port, self._arrived, self._gone)
        except LinkError as error:
            raise BenchFaultError(str(error)) from None
        self._pinging = asyncio.create_task(self._keep_alive())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Let the port go. May be called again."""
        if self._pinging is not None:
            self._pinging.cancel()
            with suppress(asyncio.CancelledError):
                await self._pinging
        if self._transport is not None:
            await self._transport.close()

    @property
    def lost(self) -> LinkError | None:
        return self._lost

    async def hello(self, *, lowest_major: int = MAJOR, highest_major: int = MAJOR) -> HelloAnswer:
        """A session of a new nonce; what was kept of an older one is forgotten."""
        self.nonce = secrets.token_bytes(NONCE_BYTES)
        self.session, self.answer, self._seal, self._reader = 0, None, None, None
        self.messages.clear()
        return await self.greet(lowest_major=lowest_major, highest_major=highest_major)

    async def greet(self, *, lowest_major: int = MAJOR, highest_major: int = MAJOR) -> HelloAnswer:
        """The present nonce, said until it is answered. Raises BenchFaultError."""
        self.answer = None
        for attempt in range(int(ANSWER_S / AGAIN_S)):
            named = 0 if self.device.key is None else key_id(self.device.key)
            hello = Hello(
                nonce=self.nonce,
                attempt=attempt,
                lowest_major=lowest_major,
                highest_major=highest_major,
                key_id=named,
            )
            self.write(DELIMITER + wire_frame(hello, session=0, sequence=0, acknowledgement=0))
            with suppress(BenchFaultError):
                await until(lambda: self.answer is not None or self._over is not None, "an answer", AGAIN_S)
            if self._over is not None:
                raise BenchFaultError(self._over)
            if self.answer is not None:
                return self.answer
        raise BenchFaultError(f"the {self.device.name} did not answer a HELLO for {ANSWER_S:.0f} s")

    async def start(self, resume: tuple[bytes, int] | None = None) -> tuple[Started, State]:
        """START until STARTED and STATE have come."""
        for _ in range(int(ANSWER_S / AGAIN_S)):
            self.send(Start(resume=resume))
            with suppress(BenchFaultError):
                await until(lambda: bool(self.of(State)) or self._over is not None, "STATE", AGAIN_S)
            if self._over is not None:
                raise BenchFaultError(self._over)
            if self.of(State):
                return self.of(Started)[0], self.of(State)[0]
        raise BenchFaultError(f"the {self.device.name} did not answer a START for {ANSWER_S:.0f} s")

    async def begin(self, resume: tuple[bytes, int] | None = None) -> tuple[HelloAnswer, Started, State]:
        """HELLO and START."""
        answer = await self.hello()
        started, state = await self.start(resume)
        return answer, started, state

    async def ping(self) -> Alive:
        """Ask for a sign of life, and wait for it: whatever was said before it has been looked at then."""
        self._pings += 1
        asked = self._pings
        asked_s = time.monotonic()
        self.send(Ping(id=asked))
        await self.wait(lambda: any(alive.ping == asked for alive in self.of(Alive)), f"the answer to PING {asked}")
        self.quickest_s = min(self.quickest_s, time.monotonic() - asked_s)
        return next(alive for alive in self.of(Alive) if alive.ping == asked)

    async def command(self, code: int) -> list[OutcomeMessage]:
        """Send it once, and wait for its end; its outcomes in order."""
        self._commands += 1
        command = self._commands
        self.send(CommandMessage(id=command, command=code))
        name = COMMANDS_BY_CODE[code].value if code in COMMANDS_BY_CODE else f"of the code {code}"
        await self.wait(lambda: self._ended(command), f'the end of the command "{name}", which has the id {command}')
        return self.outcomes(command)

    def outcomes(self, command: int) -> list[OutcomeMessage]:
        return [told for told in self.of(OutcomeMessage) if told.id == command]

    def _ended(self, command: int) -> bool:
        return any(told.outcome in ENDS for told in self.outcomes(command))

    def stop_acknowledging(self) -> None:
        """As if nothing sequenced had arrived from now on; it is a sign of life all the same."""
        self._acknowledged = self._stream.expected

    def acknowledge_again(self) -> None:
        self._acknowledged = None
        self.send(Ack())

    async def settle(self) -> None:
        """Every fact of the ring has come and is durable: nothing of this session comes again in another."""
        number = (await self.ping()).next_number
        self.durable(seq_add(number, -1, NUMBER_BITS))
        await self.ping()

    def durable(self, number: int) -> None:
        self.send(Durable(number=number))

    async def wait(
        self, ready: Callable[[], bool], what: str, within_s: float = ANSWER_S, progress: Progress = unseen
    ) -> None:
        """Raises BenchFaultError when the time is over, or the connection, or something forbidden has come."""
        whose = f"{what} (the {self.device.name})"
        await until(lambda: ready() or self._over is not None, whose, within_s, progress)
        if self._over is not None and not ready():
            raise BenchFaultError(f"waiting for {what}: {self._over}")

    @property
    def _over(self) -> str | None:
        """Why there is nothing more to be waited for: the test has failed."""
        if self._lost is not None:
            return str(self._lost)
        return self._log.objections[0] if self._log.objections else None

    async def listen(self, for_s: float) -> None:
        """Wait, so that what is not to come has time to come. Raises BenchFaultError where the line is dead."""
        await asyncio.sleep(for_s)
        if self._lost is not None:
            raise BenchFaultError(str(self._lost))

    def of(self, kind: type[MessageT]) -> list[MessageT]:
        """The messages of that type, in order."""
        return [message for message in self.messages if isinstance(message, kind)]

    @property
    def facts(self) -> list[FactMessage]:
        return self.of(FactMessage)

    def facts_in_words(self) -> list[str]:
        """As `facts`, without the cards."""
        words = []
        for message in self.facts:
            try:
                words.append(in_words(message.fact()[0]))
            except UnknownFactCode:
                words.append(f"a fact of the unknown code {message.code:#04x}")
        return words

    def send(self, message: HostMessage) -> None:
        """In the present session."""
        self.write(self.frame(message))

    def frame(self, message: HostMessage, more: bytes = b"") -> bytes:
        """What `send` would send, with `more` bytes behind the message's own fields."""
        return self.framed(message.TYPE, message.to_bytes() + more)

    def plain(self, message: HostMessage) -> bytes:
        """Its frame without a trailer, whatever the session is."""
        acknowledged = self._stream.expected if self._acknowledged is None else self._acknowledged
        return wire_frame(message, session=self.session, sequence=0, acknowledgement=acknowledged)

    def framed(self, kind: int, payload: bytes, *, to_host: bool = False) -> bytes:
        """A frame of the present session, of any type and content."""
        self._sequence = seq_add(self._sequence, 1, SEQUENCE_BITS)
        header = Header(
            to_host=to_host,
            message_type=kind,
            session=self.session,
            sequence=self._sequence,
            acknowledgement=self._stream.expected if self._acknowledged is None else self._acknowledged,
            authenticated=self._seal is not None,
        )
        body = header.to_bytes() + payload
        return encode_frame(body if self._seal is None else self._seal(body))

    def write(self, data: bytes) -> None:
        """Any bytes."""
        if self._transport is not None:
            self._log.note(self.device.name, self._connection, data, to_host=False)
            self._transport.write(data)

    def _gone(self, error: LinkError) -> None:
        self._lost = error

    def _arrived(self, data: bytes) -> None:
        self.raw += data
        self._log.note(self.device.name, self._connection, data, to_host=True)
        for body in self._decoder.feed(data):
            try:
                self._take(body)
            except (BadMessage, NotTrusted) as error:
                self._forbidden(f"{name_of(body)} cannot be taken: {error}")

    def _take(self, body: bytes) -> None:
        """(3.1) Raises BadMessage, NotTrusted."""
        header = Header.from_bytes(body)
        if not header.to_host:
            self._forbidden(f"{name_of(body)} with the direction of the host's frames (3.1), as an echo has it (4.1)")
        elif header.message_type == MessageType.HELLO_ANSWER:
            self._answered(header, body)
        elif header.session == self.session and self.session:
            self._of_session(header, body)

    def _of_session(self, header: Header, body: bytes) -> None:
        if header.major != MAJOR:
            self._forbidden(f"{name_of(body)} of major {header.major} in a session of major {MAJOR} (3.1)")
            return
        if header.authenticated and self._reader is None:
            self._forbidden(f"{name_of(body)} marked as authenticated in a session that is not (3.1)")
            return
        opened = body if self._reader is None else self._reader.open(header, body)
        message, rest = read_message(header, opened)
        if isinstance(message, FactMessage):
            with suppress(UnknownFactCode):
                fact, rest = message.fact()
                if fact.source != self.device.name:
                    self._forbidden(f"{name_of(body)}, which is a fact of a {fact.source} (6)")
        if rest and header.minor <= MINOR:
            self._forbidden(f"{name_of(body)} is {rest} bytes longer than it is in TDP {MAJOR}.{MINOR} (5)")
        if not message.SEQUENCED:
            self.messages.append(message)
            return
        if self._payloads.setdefault(header.sequence, opened[HEADER_SIZE:]) != opened[HEADER_SIZE:]:
            self._forbidden(f"{name_of(body)} is not what it was when that sequence was first sent (3.2)")
        before, ahead = self._stream.repeated, self._stream.too_far_ahead
        self.messages += self._stream.take(header.sequence, message)
        self.repeated += self._stream.repeated - before
        if self._stream.too_far_ahead > ahead:
            self._forbidden(f"{name_of(body)} is farther ahead than the window of 8 (3.2)")
        if self.attentive and self._acknowledged is None:
            self.send(Ack())

    def _answered(self, header: Header, body: bytes) -> None:
        answer, _ = read_message(header, body)
        if not isinstance(answer, HelloAnswer) or answer.nonce != self.nonce:
            return
        first = not self.session
        self.session = session_id(answer.nonce, answer.boot)
        if first:
            self._stream = SequencedReceiver(answer.first_sequence)
            self._payloads.clear()
            if self.device.key is not None:
                to_device, to_host = session_keys(
                    self.device.key, nonce=answer.nonce, device_nonce=answer.device_nonce, boot=answer.boot
                )
                self._seal, self._reader = Seal(to_device), SealReader(to_host)
        if self._reader is not None:
            self._reader.open(header, body)
        self.answer = answer

    def _forbidden(self, what: str) -> None:
        self._log.forbidden(self.device.name, what)

    async def _keep_alive(self) -> None:
        while True:
            await asyncio.sleep(PING_S)
            if self.attentive and self.session and self._lost is None:
                self._pings += 1
                self.send(Ping(id=self._pings))
