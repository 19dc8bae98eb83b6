"""Devices that break the protocol, each in one point: what the bench suite is there to find."""

from typing import Final

from msgspec.structs import replace

from drivers.commands import Outcome
from drivers.tdp.codes import MessageType
from drivers.tdp.header import HEADER_SIZE, Header
from drivers.tdp.messages import Alive, CommandMessage, DeviceMessage, Hello, Start
from simulator.firmware.device import Firmware


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
        self._highest_command = 0
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
    def _tell_outcome(self, command: CommandMessage, outcome: Outcome, reason: str = "") -> None:
        super()._tell_outcome(command, outcome)


class NeverSaysStarted(Firmware):
    def _tell_outcome(self, command: CommandMessage, outcome: Outcome, reason: str = "") -> None:
        if outcome is not Outcome.STARTED:
            super()._tell_outcome(command, outcome, reason)


class ClockBack(Firmware):
    def clock_ms(self, now_ms: int) -> int:
        return self.identity.clock_offset_ms + 10**9 - now_ms


FAULTS: Final[dict[type[Firmware], str]] = {
    SendsBack: "test_it_speaks_between_hello_and_the_end_of_its_session_alone",
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
}
"""Each with the check that has to fail for it."""
