"""Questions and commands to the shoe, one at a time and each sent once (drivers/angel_eye/spec.md section 4).

Answers carry no name: one that comes late would be taken for the answer to whatever was sent next. So after a question
that got none, nothing is sent for a while, and what comes then counts for nothing.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

from drivers.angel_eye.telegrams import Answer, Bcc, command_bytes
from drivers.commands import Command, CommandKind, Outcome
from drivers.driver import CommandReport

ANSWER_MS: Final = 1000
QUIET_MS: Final = 1000
CONFIRM_MS: Final = 3000
"""How long after its acknowledgement a lock may take to tell its new state."""
MOST_WAITING: Final = 16

_COMMANDS: Final = {
    CommandKind.LOCK: ("LK", 2),
    CommandKind.UNLOCK: ("LK", 1),
    CommandKind.REPORT_STATE: ("GP", 0),
}
_WANTED: Final = {CommandKind.LOCK: True, CommandKind.UNLOCK: False}
_QUESTION: Final = ("GP", 0)


@dataclass(frozen=True, slots=True)
class Answered:
    """A question sent at `sent_ms`, or a command, was answered."""

    accepted: bool
    code: int | None
    sent_ms: int
    reports: tuple[CommandReport, ...] = ()


@dataclass(frozen=True, slots=True)
class _UnderWay:
    command: Command | None
    sent_ms: int


class CommandQueue:
    """The shoe's commands, one after the other; each waits for its answer."""

    def __init__(self, bcc: Bcc) -> None:
        self._bcc = bcc
        self._waiting: deque[Command] = deque()
        self._asking = False
        self._under_way: _UnderWay | None = None
        self._confirming: tuple[Command, int] | None = None
        self._quiet_until_ms = 0
        self._quiet = False
        self._locked: bool | None = None

    @property
    def wake_at_ms(self) -> int | None:
        """When the command under way is given up, or the next question is due; None for never."""
        times = []
        if self._under_way is not None:
            times.append(self._under_way.sent_ms + ANSWER_MS)
        elif self._quiet:
            times.append(self._quiet_until_ms)
        if self._confirming is not None:
            times.append(self._confirming[1])
        return min(times, default=None)

    def ask(self) -> None:
        """Put the question how the shoe is, once no command can go."""
        self._asking = True

    def put(self, command: Command) -> CommandReport | None:
        """Takes the command in, or says at once why it is refused."""
        if command.kind not in _COMMANDS:
            return CommandReport(command.id, Outcome.REFUSED, f"a shoe knows no command {command.kind.value}")
        if len(self._waiting) >= MOST_WAITING:
            return CommandReport(command.id, Outcome.REFUSED, f"{MOST_WAITING} commands wait for the shoe already")
        self._waiting.append(command)
        return None

    def next(self, now_ms: int) -> bytes:
        """What goes on the wire now; empty where nothing may."""
        if self._under_way is not None or self._quiet:
            return b""
        command = None
        if self._waiting and self._confirming is None:
            command = self._waiting.popleft()
        elif self._asking:
            self._asking = False
        else:
            return b""
        self._under_way = _UnderWay(command, now_ms)
        kind, number = _QUESTION if command is None else _COMMANDS[command.kind]
        return command_bytes(kind, number, self._bcc)

    def answered(self, answer: Answer, now_ms: int) -> Answered | None:
        """What an answer brings; None where nothing was asked."""
        under_way, self._under_way = self._under_way, None
        if under_way is None:
            return None
        command = under_way.command
        reports: tuple[CommandReport, ...] = ()
        if command is not None:
            if not answer.accepted:
                code = "without a code" if answer.code is None else f"code {chr(answer.code)}"
                reports = (CommandReport(command.id, Outcome.REFUSED, f"the shoe refused it ({code})"),)
            elif _WANTED.get(command.kind, self._locked) == self._locked:
                reports = _outcomes(command, Outcome.ACCEPTED, Outcome.FINISHED)
            else:
                self._confirming = (command, now_ms + CONFIRM_MS)
                reports = _outcomes(command, Outcome.ACCEPTED)
        return Answered(answer.accepted, answer.code, under_way.sent_ms, reports)

    def lock_state(self, *, locked: bool) -> tuple[CommandReport, ...]:
        """The shoe has told whether it is locked."""
        self._locked = locked
        if self._confirming is None or _WANTED[self._confirming[0].kind] != locked:
            return ()
        command, self._confirming = self._confirming[0], None
        return _outcomes(command, Outcome.FINISHED)

    def tick(self, now_ms: int) -> tuple[CommandReport, ...]:
        """What has waited too long."""
        reports: list[CommandReport] = []
        under_way = self._under_way
        if under_way is not None and under_way.sent_ms + ANSWER_MS <= now_ms:
            self._under_way = None
            self._quiet, self._quiet_until_ms = True, now_ms + QUIET_MS
            if under_way.command is not None:
                reports.append(_unknown(under_way.command, "the shoe did not answer the command"))
        elif self._quiet and self._quiet_until_ms <= now_ms:
            self._quiet = False
        if self._confirming is not None and self._confirming[1] <= now_ms:
            reports.append(_unknown(self._confirming[0], "the shoe accepted the command but told of no new state"))
            self._confirming = None
        return tuple(reports)

    def close(self) -> tuple[CommandReport, ...]:
        """The link is gone: what is known of every command that was not over."""
        sent = [] if self._confirming is None else [self._confirming[0]]
        if self._under_way is not None and self._under_way.command is not None:
            sent.append(self._under_way.command)
        unsent = [
            CommandReport(one.id, Outcome.REFUSED, "the link was lost before it was sent") for one in self._waiting
        ]
        self._waiting.clear()
        self._under_way = self._confirming = None
        return (*(_unknown(command, "the link was lost") for command in sent), *unsent)


def _outcomes(command: Command, *outcomes: Outcome) -> tuple[CommandReport, ...]:
    return tuple(CommandReport(command.id, outcome) for outcome in outcomes)


def _unknown(command: Command, reason: str) -> CommandReport:
    return CommandReport(command.id, Outcome.UNKNOWN, reason)
