"""The host's end of TDP as a driver: bytes and time in, reports and bytes out (drivers/tdp/spec.md)."""

from collections import Counter

from drivers.commands import Command, Outcome
from drivers.driver import (
    Alarm,
    CommandReport,
    DeviceKind,
    LinkDown,
    LinkUp,
    Report,
    Resume,
    Step,
)
from drivers.tdp.codec.command_messages import Alive, OutcomeMessage, Ping
from drivers.tdp.codec.enums import SEQUENCED_UNKNOWN, MessageType
from drivers.tdp.codec.fact_messages import Durable, FactMessage, Gap, State
from drivers.tdp.codec.fields import BadMessage
from drivers.tdp.codec.header import HEADER_SIZE, MAJOR, Header, session_id
from drivers.tdp.codec.messages import Message, UnknownMessageType, read_message
from drivers.tdp.codec.session_messages import Started
from drivers.tdp.host.auth import Distrust, NotTrusted
from drivers.tdp.host.command_queue import CommandQueue
from drivers.tdp.host.fact_order import FactOrder, FactsBroken
from drivers.tdp.host.handshake import Accepted, AnswerDropped, AnswerRefused, Handshake, no_session
from drivers.tdp.host.identity import claims_of
from drivers.tdp.host.outgoing import Outgoing
from drivers.tdp.host.rtt import Question, Questions, RoundTrips
from drivers.tdp.host.session import FLOWING, LINKED, SILENCE_MS, HostSession, SessionState, Timer, Trigger
from drivers.tdp.host.stream import Incoming


class TdpDriver:
    """Talks to one device of `kind`; `serial_number` None takes any. One object serves one connection."""

    def __init__(self, kind: DeviceKind, serial_number: str | None) -> None:
        self.state: State | None = None
        """What the device last said of itself; None before it did."""
        self._kind = kind
        self._counts: Counter[str] = Counter()
        self._incoming = Incoming()
        self._outgoing = Outgoing()
        self._session = HostSession()
        self._handshake = Handshake(kind, serial_number, self._counts)
        self._facts = FactOrder(kind, self._counts)
        self._command_queue = CommandQueue()
        self._trips = RoundTrips()
        self._questions = Questions()
        self._alarms: set[str] = set()
        self._reports: list[Report] = []

    @property
    def counters(self) -> dict[str, int]:
        """As every driver's: frames, session, facts and messages that could not be used."""
        return {**self._incoming.counters, **self._counts}

    @property
    def wake_at_ms(self) -> int | None:
        """When the next timer of session or commands runs out."""
        times = (self._session.wake_at_ms, self._command_queue.wake_at_ms)
        return min((time for time in times if time is not None), default=None)

    def opened(self, *, nonce: bytes, key: bytes | None, resume: Resume | None, now_ms: int) -> Step:
        """Begin with a HELLO."""
        self._handshake.begin(nonce, key, resume)
        self._session.fire(Trigger.OPENED, now_ms)
        return self.tick(now_ms)

    def receive(self, data: bytes, now_ms: int) -> Step:
        """Take the frames among the bytes; of other sessions and hosts they are counted and nothing else."""
        for body in self._incoming.bodies(data):
            if self._session.state is SessionState.CLOSED:
                break
            self._frame(body, now_ms)
        return self._step()

    def durable(self, number: int, now_ms: int) -> Step:
        """Send DURABLE for a number that was reported and is newer than the last."""
        if self._session.state not in FLOWING or not self._facts.has_passed(number):
            self._counts["durable_out_of_place"] += 1
        elif self._facts.committed(number):
            self._outgoing.put(Durable(number=number))
        return self._step()

    def ask(self, now_ms: int) -> Step:
        """Send a PING right away, where there is a session."""
        if self._session.state in LINKED:
            self._session.pinged(now_ms)
            self._ping(now_ms)
        return self._step()

    def send(self, command: Command, now_ms: int) -> Step:
        """Queue the command; refused where there is no session."""
        if self._session.state not in FLOWING:
            self._reports.append(CommandReport(command.id, Outcome.REFUSED, "there is no session with the device"))
            return self._step()
        refusal = self._command_queue.put(command)
        if refusal is not None:
            self._reports.append(refusal)
        self._send_commands(now_ms)
        return self._step()

    def tick(self, now_ms: int) -> Step:
        """Send what is due, and give up what has waited too long."""
        while (timer := self._session.take_due(now_ms)) is not None:
            self._timer(timer, now_ms)
        late = self._command_queue.overdue(now_ms)
        if isinstance(late, CommandReport):
            self._reports.append(late)
            self._send_commands(now_ms)
        elif late is not None:
            self._outgoing.put(late)
            self._counts["commands_sent_again"] += 1
        return self._step()

    def _timer(self, timer: Timer, now_ms: int) -> None:
        match timer:
            case Timer.HELLO:
                self._outgoing.put(self._handshake.hello(now_ms))
            case Timer.START:
                self._outgoing.put(self._handshake.start())
            case Timer.PING:
                self._ping(now_ms)
            case Timer.HANDSHAKE:
                answered, bytes_heard = self._handshake.answer is not None, self._incoming.bytes_heard
                why = no_session(self._kind, answered=answered, bytes_heard=bytes_heard, counts=self._counts)
                self._end(why, now_ms)
            case Timer.SILENCE:
                seconds = SILENCE_MS // 1000
                self._end(
                    f"The {self._kind.value} has said nothing for {seconds} s: check its cable and its power.", now_ms
                )

    def _ping(self, now_ms: int) -> None:
        ping = self._questions.ask(Question(now_ms, self._facts.next_number))
        self._outgoing.put(Ping(id=ping, durable=self._facts.durable))

    def _frame(self, body: bytes, now_ms: int) -> None:
        if len(body) < HEADER_SIZE:
            self._counts["frames_without_header"] += 1
            return
        header = Header.from_bytes(body)
        if not header.to_host:
            self._counts["own_echo"] += 1
            if self._incoming.reader is not None:
                self._alarm(f"This host's own frames come back on the line of the {self._kind.value}")
            return
        self._counts["frames_from_device"] += 1
        if header.message_type == MessageType.HELLO_ANSWER:
            self._hello_answer(header, body, now_ms)
            return
        if header.major != MAJOR:
            self._counts["other_version"] += 1
        elif self._session.state not in LINKED or header.session != self._outgoing.session_id:
            self._counts["other_session"] += 1
        elif (opened := self._opened(header, body, now_ms)) is not None:
            self._session_frame(header, opened, now_ms)

    def _hello_answer(self, header: Header, body: bytes, now_ms: int) -> None:
        if self._session.state is not SessionState.GREETING:
            own = body[HEADER_SIZE:].startswith(self._handshake.nonce)
            self._counts["repeated_hello_answers" if own else "other_session"] += 1
            return
        try:
            found = self._handshake.accept(header, body)
        except AnswerDropped as dropped:
            self._counts[dropped.reason] += 1
        except AnswerRefused as refused:
            self._end(str(refused), now_ms, final=True)
        else:
            self._accept(found, now_ms)

    def _accept(self, found: Accepted, now_ms: int) -> None:
        answer = found.answer
        self._count_extra(found.extra)
        self._measured(self._handshake.sent_ms(answer), now_ms, answer.clock_ms)
        self._incoming.begin(answer.first_sequence, found.reader)
        self._outgoing.begin(session_id(self._handshake.nonce, answer.boot), found.seal)
        self._session.fire(Trigger.ANSWERED, now_ms, self._trips.timeout_ms)
        while (timer := self._session.take_due(now_ms)) is not None:
            self._timer(timer, now_ms)

    def _opened(self, header: Header, body: bytes, now_ms: int) -> bytes | None:
        """Header and payload of a frame of this session that may be looked at; None otherwise (section 9.3)."""
        if self._incoming.reader is None:
            if header.authenticated:
                self._counts["unexpected_authentication"] += 1
                return None
            return body
        try:
            return self._incoming.reader.open(header, body)
        except NotTrusted as error:
            self._counts[error.why.value] += 1
            if error.why is Distrust.REPLAYED:
                self._alarm(f"An old frame came again on the line of the {self._kind.value}")
            else:
                self._end(
                    f"A frame that was not made by the {self._kind.value} came on its line ({error.why.value}): "
                    "check its cable, and that nothing is plugged in between.",
                    now_ms,
                )
            return None

    def _alarm(self, what: str) -> None:
        """Once for each thing that may be an attack."""
        if what not in self._alarms:
            self._alarms.add(what)
            self._reports.append(Alarm(f"{what}: check its cable, and that nothing is plugged in between."))

    def _session_frame(self, header: Header, body: bytes, now_ms: int) -> None:
        self._session.heard(now_ms)
        message: Message | None = None
        sequenced = header.message_type in SEQUENCED_UNKNOWN
        try:
            message, extra = read_message(header, body)
        except UnknownMessageType:
            self._counts["unknown_messages"] += 1
        except BadMessage:
            self._counts["bad_messages"] += 1
            return
        else:
            self._count_extra(extra)
            sequenced = message.SEQUENCED
        if sequenced:
            self._outgoing.acknowledge()
            for ready in self._incoming.messages.take(header.sequence, message):
                self._in_turn(ready, now_ms)
            self._report_heard(now_ms)
        elif isinstance(message, Alive):
            self._alive(message, now_ms)
        elif message is not None:
            self._counts["out_of_place"] += 1

    def _in_turn(self, message: Message | None, now_ms: int) -> None:
        state = self._session.state
        match message:
            case Started() if state is SessionState.STARTING:
                self._started(message, now_ms)
            case State() if state in FLOWING:
                self.state = message
                self._session.fire(Trigger.STATE_READ, now_ms)
                self._send_commands(now_ms)
            case FactMessage() if state in FLOWING:
                self._fact(message, now_ms)
            case Gap() if state in FLOWING:
                self._end(
                    f"Facts of the {self._kind.value} are lost: its memory ran over before they could be sent.", now_ms
                )
            case OutcomeMessage() if state in FLOWING:
                self._reports.append(self._command_queue.outcome(message))
                self._send_commands(now_ms)
            case None:
                pass  # of a newer minor version, counted already
            case _:
                self._counts["out_of_place"] += 1

    def _started(self, message: Started, now_ms: int) -> None:
        answer, resume = self._handshake.answer, self._handshake.resume
        if answer is None:
            return
        try:
            gap = self._facts.begin(answer.boot, message, resume)
        except FactsBroken as broken:
            self._end(str(broken), now_ms)
            return
        gap = gap or self._handshake.lost_history
        self._session.fire(Trigger.STARTED, now_ms)
        self._reports.append(LinkUp(claims=claims_of(answer), boot=answer.boot.hex(), gap=gap))

    def _fact(self, message: FactMessage, now_ms: int) -> None:
        try:
            fact = self._facts.take(message, now_ms)
        except FactsBroken as broken:
            self._end(str(broken), now_ms)
        else:
            if fact is not None:
                self._reports.append(fact)

    def _alive(self, message: Alive, now_ms: int) -> None:
        question = None
        if message.ping:
            question = self._questions.answered(message.ping)
            if question is None:
                self._counts["unasked_answers"] += 1
                return
            self._measured(question.at_ms, now_ms, message.clock_ms)
        try:
            self._facts.alive(message, question)
        except FactsBroken as broken:
            self._end(str(broken), now_ms)
        else:
            self._report_heard(now_ms)

    def _measured(self, sent_ms: int, now_ms: int, device_ms: int) -> None:
        self._trips.measured(now_ms - sent_ms)
        self._facts.clock.measured(sent_ms=sent_ms, arrived_ms=now_ms, device_ms=device_ms)

    def _report_heard(self, now_ms: int) -> None:
        if self._session.state in FLOWING:
            self._reports += self._facts.heard(now_ms)

    def _send_commands(self, now_ms: int) -> None:
        if self._session.state is SessionState.RUNNING:
            command = self._command_queue.next(now_ms, self._trips.timeout_ms)
            if command is not None:
                self._outgoing.put(command)

    def _count_extra(self, extra: int) -> None:
        if extra:
            self._counts["longer_messages"] += 1

    def _end(self, sentence: str, now_ms: int, *, final: bool = False) -> None:
        self._reports += self._command_queue.close()
        self._reports.append(LinkDown(sentence, final))
        self._session.fire(Trigger.ENDED, now_ms)
        self._outgoing.clear()

    def _step(self) -> Step:
        step = Step(tuple(self._reports), self._outgoing.frames(self._incoming.messages.expected))
        self._reports.clear()
        return step
