"""Commands under way: sent once or repeated, and what became of each (drivers/tdp/spec.md sections 7.3 and 8.2)."""

from collections import deque
from dataclasses import dataclass
from typing import Final

from drivers.commands import Command, Outcome
from drivers.driver import CommandReport
from drivers.tdp.codec.command_messages import CommandMessage, OutcomeMessage
from drivers.tdp.codec.enums import COMMAND_CODES
from drivers.tdp.host.rtt import backed_off

MOST_UNDER_WAY: Final = 16
MOST_SENDINGS: Final = 5
MOVE_ANSWER_MS: Final = 2000
LARGEST_ID: Final = 2**64 - 1


@dataclass(slots=True)
class _Unanswered:
    """The one command under way that has no outcome yet."""

    command: Command
    due_ms: int
    wait_ms: int
    sendings: int = 1


class CommandQueue:
    """At most one command without an outcome is on the wire; the others wait their turn."""

    def __init__(self) -> None:
        self._waiting: deque[Command] = deque()
        self._unanswered: _Unanswered | None = None
        self._unfinished: set[int] = set()
        self._last_id = 0

    @property
    def wake_at_ms(self) -> int | None:
        """When the command under way must be sent again or given up; None where none is."""
        return None if self._unanswered is None else self._unanswered.due_ms

    def put(self, command: Command) -> CommandReport | None:
        """Takes the command in, or says at once why it is refused."""
        if not self._last_id < command.id <= LARGEST_ID:
            return _refused(command, f"its id is not above {self._last_id}, that of the command before it")
        if len(self._waiting) + len(self._unfinished) >= MOST_UNDER_WAY:
            return _refused(command, f"{MOST_UNDER_WAY} commands are under way at the device already")
        self._last_id = command.id
        self._waiting.append(command)
        return None

    def next(self, now_ms: int, timeout_ms: int) -> CommandMessage | None:
        """The next command to send, once the one before has an outcome."""
        if self._unanswered is not None or not self._waiting:
            return None
        command = self._waiting.popleft()
        wait_ms = MOVE_ANSWER_MS if command.kind.moves_cards else timeout_ms
        self._unanswered = _Unanswered(command, now_ms + wait_ms, wait_ms)
        return _message(command)

    def overdue(self, now_ms: int) -> CommandMessage | CommandReport | None:
        """What follows when the outcome is late: the command again, or the report that nobody knows; else None."""
        late = self._unanswered
        if late is None or late.due_ms > now_ms:
            return None
        if late.command.kind.moves_cards or late.sendings == MOST_SENDINGS:
            self._unanswered = None
            return CommandReport(late.command.id, Outcome.UNKNOWN, "the device did not answer the command")
        late.sendings += 1
        late.wait_ms = backed_off(late.wait_ms)
        late.due_ms = now_ms + late.wait_ms
        return _message(late.command)

    def outcome(self, message: OutcomeMessage) -> CommandReport:
        """The report of an outcome, of whichever session the command was."""
        if self._unanswered is not None and self._unanswered.command.id == message.id:
            self._unanswered = None
        if message.outcome.is_final:
            self._unfinished.discard(message.id)
        elif message.id <= self._last_id:
            self._unfinished.add(message.id)
        return CommandReport(message.id, message.outcome, message.reason or None)

    def close(self) -> list[CommandReport]:
        """The link is gone: what is known of every command that was not over."""
        reports = [CommandReport(known, Outcome.UNKNOWN, "the link was lost") for known in sorted(self._unfinished)]
        if self._unanswered is not None:
            reports.append(CommandReport(self._unanswered.command.id, Outcome.UNKNOWN, "the link was lost"))
        reports += [_refused(command, "the link was lost before it was sent") for command in self._waiting]
        self._unfinished.clear()
        self._unanswered = None
        self._waiting.clear()
        return reports


def _message(command: Command) -> CommandMessage:
    return CommandMessage(id=command.id, command=COMMAND_CODES[command.kind])


def _refused(command: Command, reason: str) -> CommandReport:
    return CommandReport(command.id, Outcome.REFUSED, reason)
