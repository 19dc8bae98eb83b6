"""Everything between what devices and people say and `Bridge.apply`: no waiting, no clock, no storage of its own.

    intake.report(...), intake.request(...)    as often as there is something to hand in
    batch = intake.advance(now_ms)              applies what has come to its turn
    ask batch.ask at once; commit batch.writes in one transaction; then, and only then, do batch.after in order

The core has moved on before the commit. Where a commit fails, intake and core are thrown away and built anew from
the journal (`replay` and `resume`); nothing of such a batch was acknowledged, answered or published.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import msgspec

from drivers.commands import Command, Outcome
from drivers.driver import CommandReport, DeviceKind, Heard, LinkDown, LinkUp, NumberedFact, Report, Resume
from drivers.facts import Fact
from drivers.sequence import NUMBER_BITS, seq_diff
from firmware_bridge.core.events import CommandWanted, Event
from firmware_bridge.core.facts import CommandOutcome, DeviceBack, DeviceLost, Started, TimePassed
from firmware_bridge.daemon.ordering import BRIDGE, NOT_DEVICES, OPERATOR, Order, Waiting
from firmware_bridge.journal.rows import Apply, EncodedEvent, Origin, Receive, Write, encoded


class Core(Protocol):
    """The core's door, `firmware_bridge.core.bridge.Bridge`."""

    def apply(self, fact: Fact) -> tuple[Event, ...]:
        """The events that follow from the fact."""

    def deadline_ms(self) -> int | None:
        """When the next of the table's time limits runs out."""
        ...


@dataclass(frozen=True, slots=True)
class Acknowledge:
    """Every fact of the device, of its boot `boot`, up to `number` is durable."""

    device: str
    number: int
    boot: str


@dataclass(frozen=True, slots=True)
class Publish:
    """`events` are durable: anyone may see them now."""

    events: tuple[EncodedEvent, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """The request's fact, stamped `at_ms` on arrival, has been applied and caused `events`."""

    request: str
    at_ms: int
    events: tuple[EncodedEvent, ...]


@dataclass(frozen=True, slots=True)
class SendCommand:
    """The core wants a command sent to this device."""

    device: str
    command: Command


@dataclass(frozen=True, slots=True)
class BarrierReached:
    """All that was received before the barrier `token` was asked for has been applied: `applied` facts in the life of
    the journal, and `seq` is the last event.
    """

    token: str
    applied: int
    seq: int


After: TypeAlias = Acknowledge | Publish | Answer | SendCommand | BarrierReached


@dataclass(frozen=True, slots=True)
class Batch:
    """`ask`: devices to ask for a sign of life, at once. `writes`: one transaction. `after`: once that is durable."""

    ask: tuple[str, ...]
    writes: tuple[Write, ...]
    after: tuple[After, ...]


@dataclass(slots=True)
class _Open:
    """The batch that is being put together."""

    writes: list[Write] = field(default_factory=list)
    after: list[After] = field(default_factory=list)
    acknowledge: dict[str, None] = field(default_factory=dict)


class Intake:
    """`devices`: the configured ones, by name. `run` is unique to this run: it names the shell's own facts."""

    def __init__(self, core: Core, devices: Mapping[str, DeviceKind], run: str) -> None:
        self._core = core
        self._devices = dict(devices)
        self._run = run
        self._order = Order(devices)
        self._batch = _Open()
        self._last: dict[str, Resume] = {}
        self._up: dict[str, None] = {}
        self._commands: dict[int, str] = {}
        self._requests: set[str] = set()
        self._barriers: list[tuple[str, int]] = []
        self._received = 0
        self._applied = 0
        self._seq = 0
        self._own = 0
        self._last_at_ms = 0
        self._told_limit_ms: int | None = None

    # Building from the journal

    def replay(self, received: int, origin: Origin, fact: Fact) -> tuple[Event, ...]:
        """Apply once more what an earlier run applied, in its order; answers what it causes now."""
        self._note(received, origin)
        return self._into_core(origin, fact)

    def resume(self, received: int, origin: Origin, fact: Fact, now_ms: int) -> None:
        """Take in what an earlier run received and did not apply; after the last `replay`, in order of receipt."""
        self._note(received, origin)
        self._wait(Waiting(received, origin, fact, now_ms))

    def start(self, started: Started, now_ms: int, why: str = "the daemon was started anew") -> None:
        """The first fact of this run. No device is connected, no command under way, whatever the journal says."""
        self._order.start(now_ms)
        self._at_once(msgspec.structs.replace(started, at_ms=now_ms), now_ms)
        for device in tuple(self._up):
            reason = why if device in self._devices else "it is no longer configured"
            self._at_once(DeviceLost(at_ms=now_ms, device=device, reason=reason), now_ms)
        for command_id, device in tuple(self._commands.items()):
            self._outcome(device, command_id, Outcome.UNKNOWN, why, now_ms)

    # Handing in

    def report(self, device: str, report: Report, now_ms: int) -> None:
        """What the connection of `device`, a configured one, has told."""
        match report:
            case Heard():
                self._order.heard(device, report, now_ms)
            case NumberedFact():
                self._numbered(device, report, now_ms)
            case LinkUp(claims=claims, gap=gap):
                self._apply_due(now_ms)
                self._order.link_up(device, now_ms)
                self._at_once(DeviceBack(at_ms=now_ms, device=device, gap=gap, claims=claims), now_ms)
            case LinkDown(reason=reason):
                if self._order.live(device):
                    self._link_down(device, reason, now_ms)
            case CommandReport(command_id=command_id, outcome=outcome, reason=reason):
                if self._commands.get(command_id) == device:
                    self._outcome(device, command_id, outcome, reason, now_ms)

    def request(self, request: str, actor: str, fact: Fact, now_ms: int) -> None:
        """What `actor` tells, under an id that is asked once in the life of a journal; an `Answer` follows.

        Nothing happens while a request of that id waits: its `Answer` will serve both.
        """
        if request not in self._requests:
            stamped = msgspec.structs.replace(fact, at_ms=now_ms)
            self._wait(self._write_down(Origin(OPERATOR, request, 0), stamped, now_ms, actor))

    def barrier(self, token: str) -> None:
        """A `BarrierReached` follows once everything received so far has been applied."""
        self._barriers.append((token, self._received))

    # Going on

    def advance(self, now_ms: int) -> Batch:
        """Apply what has come to its turn; answers the batch that all calls since the last `advance` have made."""
        self._apply_due(now_ms)
        self._reach_barriers()
        done, self._batch = self._batch, _Open()
        newest = [(device, self._last[device]) for device in done.acknowledge]
        acknowledge = [Acknowledge(device, last.number, last.boot) for device, last in newest]
        return Batch(
            ask=self._order.to_ask(self._limit_ms, now_ms),
            writes=tuple(done.writes),
            after=(*acknowledge, *done.after),
        )

    def wake_at_ms(self, now_ms: int) -> int | None:
        """When `advance` should be called next though nothing is handed in; None: there is nothing to wait for."""
        return self._order.wake_at_ms(self._limit_ms, now_ms)

    @property
    def last(self) -> Mapping[str, Resume]:
        """The last fact received of each device."""
        return self._last

    @property
    def waiting(self) -> int:
        """How many facts are received and not yet applied."""
        return len(self._order.waiting)

    @property
    def lost(self) -> tuple[str, ...]:
        """The configured devices that are not connected; what the others tell waits for them."""
        return self._order.lost

    @property
    def applied(self) -> int:
        """How many facts the core has been given in the life of the journal."""
        return self._applied

    def _numbered(self, device: str, report: NumberedFact, now_ms: int) -> None:
        self._batch.acknowledge[device] = None
        last = self._last.get(device)
        known = None if last is None or last.boot != report.boot else last.number
        if known is not None and seq_diff(report.number, known, NUMBER_BITS) <= 0:
            return
        at_ms = self._order.stamp(device, report.fact.at_ms, now_ms)
        fact = msgspec.structs.replace(report.fact, at_ms=at_ms)
        self._wait(self._write_down(Origin(device, report.boot, report.number), fact, now_ms))

    def _link_down(self, device: str, reason: str, now_ms: int) -> None:
        self._apply_due(now_ms)
        self._order.link_down(device, now_ms)
        self._batch.acknowledge.pop(device, None)
        self._batch.after = [
            one for one in self._batch.after if not (isinstance(one, SendCommand) and one.device == device)
        ]
        self._at_once(DeviceLost(at_ms=now_ms, device=device, reason=reason), now_ms)
        for command_id, commanded in tuple(self._commands.items()):
            if commanded == device:
                self._outcome(device, command_id, Outcome.UNKNOWN, reason, now_ms)

    def _outcome(self, device: str, command_id: int, outcome: Outcome, reason: str | None, now_ms: int) -> None:
        told = CommandOutcome(at_ms=now_ms, device=device, command_id=command_id, outcome=outcome, reason=reason)
        self._wait(self._write_down(self._own_origin(), told, now_ms))

    def _own_origin(self) -> Origin:
        self._own += 1
        return Origin(BRIDGE, self._run, self._own)

    def _at_once(self, fact: Fact, now_ms: int) -> None:
        """What the shell itself knows of its links and its start does not wait for anybody."""
        self._apply(self._write_down(self._own_origin(), fact, now_ms), now_ms)

    def _write_down(self, origin: Origin, fact: Fact, now_ms: int, actor: str | None = None) -> Waiting:
        received = self._received + 1
        self._note(received, origin)
        self._batch.writes.append(Receive(received, origin, fact, now_ms, actor))
        return Waiting(received, origin, fact, now_ms)

    def _note(self, received: int, origin: Origin) -> None:
        # Facts of several devices are applied in another order than they came, those of one device never are.
        if origin.device not in NOT_DEVICES:
            self._last[origin.device] = Resume(boot=origin.boot, number=origin.number)
        self._received = max(self._received, received)

    def _wait(self, waiting: Waiting) -> None:
        if waiting.origin.device == OPERATOR:
            self._requests.add(waiting.origin.boot)
        self._order.add(waiting)
        fact = waiting.fact
        if isinstance(fact, CommandOutcome) and fact.outcome.is_final:
            self._commands.pop(fact.command_id, None)

    def _apply_due(self, now_ms: int) -> None:
        while True:
            waiting = self._order.take(now_ms)
            if waiting is not None:
                self._apply(waiting, now_ms)
                continue
            limit_ms = self._limit_ms
            if limit_ms is None or limit_ms > now_ms or not self._order.passed(limit_ms, now_ms):
                return
            self._at_once(TimePassed(at_ms=limit_ms), now_ms)

    def _apply(self, waiting: Waiting, now_ms: int) -> None:
        events = self._into_core(waiting.origin, waiting.fact)
        caused = encoded(events)
        self._batch.writes.append(Apply(waiting.received, caused))
        if caused:
            self._batch.after.append(Publish(caused))
        if waiting.origin.device == OPERATOR:
            self._batch.after.append(Answer(waiting.origin.boot, waiting.fact.at_ms, caused))
        for event in events:
            if isinstance(event, CommandWanted):
                self._command(event, now_ms)

    def _into_core(self, origin: Origin, fact: Fact) -> tuple[Event, ...]:
        self._last_at_ms = max(self._last_at_ms, fact.at_ms)
        limit_ms = self._core.deadline_ms()
        events = self._core.apply(msgspec.structs.replace(fact, at_ms=self._last_at_ms))
        self._applied += 1
        self._seq += len(events)
        if isinstance(fact, TimePassed):
            # A limit that stands after the core was told of it is not told again.
            self._told_limit_ms = limit_ms
        if origin.device == OPERATOR:
            self._requests.discard(origin.boot)
        self._follow(fact, events)
        return events

    def _follow(self, fact: Fact, events: tuple[Event, ...]) -> None:
        match fact:
            case DeviceBack(device=device):
                self._up[device] = None
            case DeviceLost(device=device):
                self._up.pop(device, None)
            case CommandOutcome(command_id=command_id, outcome=outcome) if outcome.is_final:
                self._commands.pop(command_id, None)
        for event in events:
            if isinstance(event, CommandWanted):
                self._commands[event.command_id] = self._named(event.device)

    def _named(self, kind: str) -> str:
        """The core knows devices by their kind; each kind is there once at most."""
        return next((name for name, known in self._devices.items() if known.value == kind), kind)

    def _command(self, wanted: CommandWanted, now_ms: int) -> None:
        device = self._commands[wanted.command_id]
        if self._order.live(device):
            command = Command(id=wanted.command_id, kind=wanted.command)
            self._batch.after.append(SendCommand(device, command))
        else:
            self._outcome(device, wanted.command_id, Outcome.UNKNOWN, f"no {wanted.device} is connected", now_ms)

    @property
    def _limit_ms(self) -> int | None:
        limit_ms = self._core.deadline_ms()
        return None if limit_ms == self._told_limit_ms else limit_ms

    def _reach_barriers(self) -> None:
        if self._barriers:
            oldest = min((one.received for one in self._order.waiting), default=self._received + 1)
            reached = [token for token, mark in self._barriers if mark < oldest]
            self._barriers = [(token, mark) for token, mark in self._barriers if mark >= oldest]
            self._batch.after.extend(BarrierReached(token, self._applied, self._seq) for token in reached)
