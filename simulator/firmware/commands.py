"""What a simulated device does with the commands that it is sent (drivers/tdp/spec.md section 7)."""

from collections import Counter, deque
from typing import Final, TypeAlias

from drivers.commands import CommandKind, Outcome
from drivers.tdp.codec.command_messages import CommandMessage, OutcomeMessage
from drivers.tdp.codec.enums import COMMANDS_BY_CODE
from drivers.tdp.codec.fact_messages import State
from simulator.firmware.motors import Motion, Motors, RefusedError

Told: TypeAlias = list[State | OutcomeMessage]


class Commands:
    """The commands of a device: each once, in order; one that cannot start now is refused (7.2, 7.3)."""

    def __init__(self, motors: Motors, counters: Counter[str]) -> None:
        self._motors: Final = motors
        self._counters: Final = counters
        self._waiting: deque[CommandMessage] = deque()
        self._motion: tuple[int, CommandMessage, Motion] | None = None
        self._highest = 0
        self._last = 0
        self._last_outcome: Outcome | None = None

    @property
    def pending(self) -> int:
        """Commands that have arrived and wait for `take_up`."""
        return len(self._waiting)

    @property
    def wake_at_ms(self) -> int | None:
        """When the motion under way is over."""
        return None if self._motion is None else self._motion[0]

    def session_begins(self) -> None:
        """A host numbers its commands anew in every session."""
        self._highest = 0

    def session_ends(self) -> None:
        """What has not been taken up is forgotten; what moves goes on moving."""
        self._waiting.clear()

    def put(self, command: CommandMessage) -> None:
        """A command has arrived; an old one again is counted and nothing else."""
        if command.id <= self._highest:
            self._counters["old_commands"] += 1
        else:
            self._highest = command.id
            self._waiting.append(command)

    def state(self, clock_ms: int) -> State:
        """The machine as it is now, on the device's clock."""
        return State(
            clock_ms=clock_ms,
            flags=self._motors.state(),
            last_command=self._last,
            last_outcome=self._last_outcome,
        )

    def take_up(self, now_ms: int, clock_ms: int) -> Told:
        """Begin with all that waits; what the host is told of it, in order."""
        told: Told = []
        while self._waiting:
            command = self._waiting.popleft()
            self._last = command.id
            kind = COMMANDS_BY_CODE.get(command.command)
            try:
                if kind is None:
                    raise RefusedError("unknown command")  # noqa: TRY301
                told += self._begin(command, kind, now_ms, clock_ms)
            except RefusedError as refused:
                told.append(self._outcome(command, Outcome.REFUSED, str(refused)))
        return told

    def tick(self, now_ms: int) -> Told:
        """The outcome of a motion that is over by now."""
        if self._motion is None or now_ms < self._motion[0]:
            return []
        _, command, motion = self._motion
        self._motion = None
        try:
            motion.end()
        except RefusedError as refused:
            return [self._outcome(command, Outcome.REFUSED, str(refused))]
        return [self._outcome(command, Outcome.FINISHED)]

    def _begin(self, command: CommandMessage, kind: CommandKind, now_ms: int, clock_ms: int) -> Told:
        asks = kind is CommandKind.REPORT_STATE
        motion = None if asks else self._motors.take_up(kind)
        told: Told = [self._outcome(command, Outcome.ACCEPTED), self._outcome(command, Outcome.STARTED)]
        if asks:
            told.append(self.state(clock_ms))
        if motion is None:
            told.append(self._outcome(command, Outcome.FINISHED))
        else:
            self._motion = (now_ms + motion.takes_ms, command, motion)
        return told

    def _outcome(self, command: CommandMessage, outcome: Outcome, reason: str = "") -> OutcomeMessage:
        self._last_outcome = outcome
        return OutcomeMessage(id=command.id, outcome=outcome, reason=reason)
