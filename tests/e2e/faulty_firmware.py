"""Devices that break the protocol, each in one point: what the bench suite is there to find."""

import dataclasses
from collections import deque
from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from drivers.commands import Outcome
from drivers.facts import CardDrawn, DeviceFact
from drivers.sequence import NUMBER_BITS, seq_add, seq_diff
from drivers.tdp.codec.command_messages import Alive, OutcomeMessage
from drivers.tdp.codec.enums import MessageType
from drivers.tdp.codec.fact_messages import State
from drivers.tdp.codec.header import HEADER_SIZE, Header
from drivers.tdp.codec.messages import DeviceMessage, wire_frame
from drivers.tdp.codec.session_messages import Hello, Start
from simulator.firmware.device import Firmware
from simulator.firmware.device_auth import DeviceAuth
from simulator.firmware.identity import Identity
from simulator.firmware.motors import Motors
from simulator.firmware.window import UnderWay


def with_header(body: bytes, header: Header) -> bytes:
    return header.to_bytes() + body[HEADER_SIZE:]


class SendsBack(Firmware):
    def receive(self, data: bytes, now_ms: int) -> bytes:
        return data + super().receive(data, now_ms)


class TakesOldSessions(Firmware):
    def _frame(self, body: bytes, now_ms: int) -> None:
        header = Header.from_bytes(body)
        if header.message_type != MessageType.HELLO:
            body = with_header(body, replace(header, session=self._session))
        super()._frame(body, now_ms)


class TakesItsEcho(Firmware):
    def _frame(self, body: bytes, now_ms: int) -> None:
        super()._frame(with_header(body, replace(Header.from_bytes(body), to_host=False)), now_ms)


class DoesCommandsAgain(Firmware):
    def _frame(self, body: bytes, now_ms: int) -> None:
        self._commands.session_begins()
        super()._frame(body, now_ms)


class GivesUpAtJunk(Firmware):
    def receive(self, data: bytes, now_ms: int) -> bytes:
        before = sum(self._decoder.counters.values())
        answer = super().receive(data, now_ms)
        if before and sum(self._decoder.counters.values()) > before:
            self._end_session()
        return answer


class GivesUpAtNews(Firmware):
    def _frame(self, body: bytes, now_ms: int) -> None:
        before = self.counters["unknown_types"]
        super()._frame(body, now_ms)
        if self.counters["unknown_types"] > before:
            self._end_session()


class BeginsAnewAtEveryHello(Firmware):
    def _hello(self, hello: Hello, now_ms: int) -> None:
        self._nonce = b""
        super()._hello(hello, now_ms)


class StartsNothing(Firmware):
    def _start(self, start: Start, now_ms: int) -> None:
        pass


class AlwaysTellsAGap(Firmware):
    def _start(self, start: Start, now_ms: int) -> None:
        super()._start(Start(resume=(bytes(8), 0)), now_ms)


class NeverTellsAGap(Firmware):
    def _start(self, start: Start, now_ms: int) -> None:
        super()._start(Start(resume=None), now_ms)


class HasNoHeartbeat(Firmware):
    def _say(self, message: DeviceMessage, session: int | None = None) -> None:
        if not (isinstance(message, Alive) and message.ping == 0):
            super()._say(message, session)


class StartsInAnyMajor(Firmware):
    def _hello(self, hello: Hello, now_ms: int) -> None:
        super()._hello(hello, now_ms)
        self._common_major = True


class RefusesWithoutReason(Firmware):
    def _tell(self, told: Iterable[State | OutcomeMessage]) -> None:
        super()._tell(
            dataclasses.replace(said, reason="") if isinstance(said, OutcomeMessage) else said for said in told
        )


class NeverSaysStarted(Firmware):
    def _tell(self, told: Iterable[State | OutcomeMessage]) -> None:
        super()._tell(
            said for said in told if not (isinstance(said, OutcomeMessage) and said.outcome is Outcome.STARTED)
        )


class ClockBack(Firmware):
    def clock_ms(self, now_ms: int) -> int:
        return self.identity.clock_offset_ms + 10**9 - now_ms


class CutsItsOutcomes(Firmware):
    """The frame is good, the outcome in it is cut short."""

    def _put(self, message: UnderWay) -> None:
        cut = message.payload[:-1] if message.kind == MessageType.OUTCOME else message.payload
        super()._put(UnderWay(message.sequence, message.kind, cut, message.sent_ms))


class SpeaksAnotherMajor(Firmware):
    """Its answers to PING say so, and nothing else."""

    def _say(self, message: DeviceMessage, session: int | None = None) -> None:
        if not isinstance(message, Alive):
            super()._say(message, session)
            return
        own = self._session if session is None else session
        self._out += wire_frame(message, session=own, sequence=0, acknowledgement=0, major=2)
        super()._say(message, session)


class AnswersLate(Firmware):
    LATE_MS = 1100

    def __init__(self, identity: Identity, motors: Motors, guard: DeviceAuth | None = None) -> None:
        super().__init__(identity, motors, guard)
        self._late: deque[tuple[int, bytes]] = deque()

    @property
    def wake_at_ms(self) -> int | None:
        times = [time for time in (super().wake_at_ms, *(due for due, _ in self._late)) if time is not None]
        return min(times, default=None)

    def receive(self, data: bytes, now_ms: int) -> bytes:
        self._late.append((now_ms + self.LATE_MS, data))
        return b""

    def tick(self, now_ms: int) -> bytes:
        out = b""
        while self._late and self._late[0][0] <= now_ms:
            out += super().receive(self._late.popleft()[1], now_ms)
        return out + super().tick(now_ms)


class DoublesFacts(Firmware):
    def report(self, fact: DeviceFact, now_ms: int) -> bytes:
        return super().report(fact, now_ms) + super().report(fact, now_ms)


class DoublesDraws(Firmware):
    """The fourth card is told twice."""

    def report(self, fact: DeviceFact, now_ms: int) -> bytes:
        again = isinstance(fact, CardDrawn) and fact.draw == 4
        return super().report(fact, now_ms) + (super().report(fact, now_ms) if again else b"")


class StartsAnew(Firmware):
    """In the middle of a round, as after a loss of power: at its fourth fact."""

    def report(self, fact: DeviceFact, now_ms: int) -> bytes:
        if seq_diff(self.ring.next_number, self.identity.first_number, NUMBER_BITS) == 3:
            self._end_session()
            self.identity = dataclasses.replace(self.identity, boot=b"anew    ")  # type: ignore[misc]
        return super().report(fact, now_ms)


class LosesFacts(Firmware):
    """Every other one."""

    def __init__(self, identity: Identity, motors: Motors, guard: DeviceAuth | None = None) -> None:
        super().__init__(identity, motors, guard)
        self._happened = 0

    def report(self, fact: DeviceFact, now_ms: int) -> bytes:
        self._happened += 1
        return super().report(fact, now_ms) if self._happened % 2 else b""


class NumbersWithHoles(Firmware):
    def report(self, fact: DeviceFact, now_ms: int) -> bytes:
        self.ring.next_number = self._next_fact = seq_add(self.ring.next_number, 1, NUMBER_BITS)
        return super().report(fact, now_ms)


class ForgetsItsRing(Firmware):
    def _end_session(self) -> None:
        super()._end_session()
        self.ring.durable(seq_add(self.ring.next_number, -1, NUMBER_BITS))


class ChangesItsMind(Firmware):
    """What is sent again is not what was sent first."""

    def _put(self, message: UnderWay) -> None:
        payload = message.payload
        if message.repeated:
            payload = payload[:4] + bytes((payload[4] ^ 1,)) + payload[5:]
        super()._put(UnderWay(message.sequence, message.kind, payload, message.sent_ms))


class NeverSendsAgain(Firmware):
    def _put(self, message: UnderWay) -> None:
        if not message.repeated:
            super()._put(message)


class KeepsItsBootId(Firmware):
    def __init__(self, identity: Identity, motors: Motors, guard: DeviceAuth | None = None) -> None:
        super().__init__(dataclasses.replace(identity, boot=b"for ever"), motors, guard)


class Keyless(Firmware):
    """Paired, and talks to anybody."""

    def _start(self, start: Start, now_ms: int) -> None:
        key, self.guard.key = self.guard.key, None
        super()._start(start, now_ms)
        self.guard.key = key


class TakesReplays(Firmware):
    """Paired, and looks at no counter."""

    def _frame(self, body: bytes, now_ms: int) -> None:
        self.guard._received = 0
        super()._frame(body, now_ms)


FAULTS_AT_SIGHT: Final[dict[type[Firmware], str]] = {
    StartsNothing: "began no session",
    SendsBack: "sent HELLO with the direction of the host's frames",
    SpeaksAnotherMajor: "of major 2 in a session of major 1",
}
"""Each with what is said of it before the first test."""

FAULTS_OF_PAIRED: Final[dict[type[Firmware], str]] = {
    Keyless: "test_without_its_key_it_starts_nothing",
    TakesReplays: "test_what_was_not_made_with_its_key_does_nothing",
}

FAULTS: Final[dict[type[Firmware], str]] = {
    TakesOldSessions: "test_frames_of_an_old_session_do_nothing",
    TakesItsEcho: "test_its_own_echo_is_dropped",
    DoesCommandsAgain: "test_a_command_is_never_done_twice",
    GivesUpAtJunk: "test_junk_on_the_line_costs_itself_alone",
    GivesUpAtNews: "test_what_a_newer_minor_adds_is_passed_over",
    BeginsAnewAtEveryHello: "test_a_repeated_hello_is_answered_the_same",
    AlwaysTellsAGap: "test_it_resumes_without_a_gap_where_nothing_is_lost",
    NeverTellsAGap: "test_it_tells_a_gap_where_another_life_is_resumed",
    HasNoHeartbeat: "test_it_speaks_between_hello_and_the_end_of_its_session_alone",
    StartsInAnyMajor: "test_another_major_is_answered_and_not_talked",
    RefusesWithoutReason: "test_an_unknown_command_is_refused_with_a_reason",
    NeverSaysStarted: "test_a_command_is_accepted_started_and_finished",
    ClockBack: "test_it_answers_every_ping",
    AnswersLate: "test_it_answers_every_ping",
    CutsItsOutcomes: "test_an_unknown_command_is_refused_with_a_reason",
}
"""Each with the check that has to fail for it."""

FAULTS_BY_HAND: Final[dict[type[Firmware], str]] = {
    DoublesFacts: "test_facts_are_numbered_without_holes_and_timed_in_order",
    LosesFacts: "test_facts_are_numbered_without_holes_and_timed_in_order",
    NumbersWithHoles: "test_facts_are_numbered_without_holes_and_timed_in_order",
    ForgetsItsRing: "test_facts_that_are_not_durable_come_again_after_a_reconnection",
    ChangesItsMind: "test_what_is_not_acknowledged_is_sent_again",
    NeverSendsAgain: "test_what_is_not_acknowledged_is_sent_again",
    KeepsItsBootId: "test_a_new_life_has_a_new_boot_id",
}
"""The same for checks in which somebody has to do something."""
