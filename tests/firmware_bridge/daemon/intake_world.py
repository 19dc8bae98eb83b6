"""A world for the intake alone: devices with clocks that err and wires that delay, a journal that survives a crash."""

import heapq
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import msgspec

from drivers.commands import CommandKind
from drivers.driver import DeviceKind, Heard, LinkDown, LinkUp, NumberedFact, Report, Resume
from drivers.facts import CutCard, DoorClosed, Fact, Jammed, SeatCount
from firmware_bridge.core.events import CommandWanted, DealOver, Event
from firmware_bridge.core.facts import Started, TimePassed
from firmware_bridge.daemon.intake import Acknowledge, Answer, Batch, Intake
from firmware_bridge.journal.rows import Apply, Origin, Receive, Write
from tests.firmware_bridge.devices.ends.claims import CLAIMS

RESEND_MS = 25
DEVICES = {"shoe": DeviceKind.SHOE, "shuffler": DeviceKind.SHUFFLER, "layout": DeviceKind.LAYOUT}


class RecordingCore:
    """Tells one event a fact; `jammed` wants the shoe locked. Time must never run backwards."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self.limit_ms: int | None = None
        self._seq = 0

    def apply(self, fact: Fact) -> tuple[Event, ...]:
        assert not self.facts or fact.at_ms >= self.facts[-1].at_ms
        self.facts.append(fact)
        if isinstance(fact, TimePassed):
            self.limit_ms = None
        self._seq += 1
        told: tuple[Event, ...] = (DealOver(seq=self._seq, at_ms=fact.at_ms),)
        if isinstance(fact, Jammed):
            self._seq += 1
            wanted = CommandWanted(
                seq=self._seq, at_ms=fact.at_ms, device="shoe", command_id=self._seq, command=CommandKind.LOCK
            )
            told = (*told, wanted)
        return told

    def deadline_ms(self) -> int | None:
        return self.limit_ms


@dataclass
class MemoryJournal:
    received: dict[int, tuple[Origin, Fact]] = field(default_factory=dict)
    applied: list[tuple[int, tuple[Event, ...]]] = field(default_factory=list)

    def commit(self, writes: tuple[Write, ...]) -> None:
        for write in writes:
            if isinstance(write, Receive):
                assert write.received == len(self.received) + 1
                assert write.origin not in {origin for origin, _ in self.received.values()}
                self.received[write.received] = (write.origin, write.fact)
            else:
                assert isinstance(write, Apply)
                assert write.received in self.received
                assert write.received not in {received for received, _ in self.applied}
                self.applied.append((write.received, tuple(one.event for one in write.events)))

    def rebuild(self, run: str, now_ms: int) -> tuple[Intake, RecordingCore]:
        core = RecordingCore()
        intake = Intake(core, DEVICES, run)
        for received, events in self.applied:
            assert intake.replay(received, *self.received[received]) == events
        done = {received for received, _ in self.applied}
        for received, (origin, fact) in self.received.items():
            if received not in done:
                intake.resume(received, origin, fact, now_ms)
        raw = msgspec.Raw(b"{}")
        intake.start(Started(at_ms=now_ms, version="1", house=raw, table=raw), now_ms)
        return intake, core

    def applied_facts(self) -> list[tuple[Origin, Fact]]:
        return [self.received[received] for received, _ in self.applied]

    def marks(self) -> list[int]:
        """The marks of all devices' facts, in order of application."""
        return [mark_of(fact) for origin, fact in self.applied_facts() if origin.device in DEVICES]

    def last(self, device: str) -> Resume | None:
        found = [origin for origin, _ in self.received.values() if origin.device == device]
        return Resume(boot=found[-1].boot, number=found[-1].number) if found else None


def device_fact(device: str, at_ms: int, mark: int) -> CutCard | DoorClosed | SeatCount:
    """A fact that can be told from all others by its mark, whatever becomes of its time."""
    return SeatCount(at_ms=at_ms, seat=mark, cards=DEVICE_NAMES.index(device))


def mark_of(fact: Fact) -> int:
    assert isinstance(fact, SeatCount)
    assert isinstance(fact.seat, int)
    return fact.seat


DEVICE_NAMES = list(DEVICES)


class Crash(Exception):
    pass


@dataclass
class Machine:
    """One device: its clock is read `errors_ms` off, its wire carries in order, each message `delays_ms` late.

    What it resends after a reconnection takes RESEND_MS a fact, so that it is behind for long.
    """

    name: str
    world: "World"
    errors_ms: Iterator[int]
    delays_ms: Iterator[int]
    ring: list[NumberedFact] = field(default_factory=list)
    connection: int = 0
    connected: bool = False
    sent_until_ms: int = 0

    def mapped(self, at_ms: int) -> int:
        return at_ms + next(self.errors_ms)

    def happen(self, mark: int) -> None:
        fact = device_fact(self.name, self.mapped(self.world.now_ms), mark)
        numbered = NumberedFact(boot="boot", number=(2**32 - 2 + len(self.ring)) % 2**32, fact=fact)
        self.ring.append(numbered)
        if self.connected:
            self.send(numbered)

    def send(self, report: Report) -> None:
        self.sent_until_ms = max(self.sent_until_ms, self.world.now_ms + next(self.delays_ms))
        connection = self.connection
        self.world.at(
            self.sent_until_ms, lambda: self.world.report(self.name, report) if connection == self.connection else None
        )

    def beat(self) -> None:
        if self.connected:
            self.send(Heard(at_ms=self.mapped(self.world.now_ms)))

    def asked(self) -> None:
        asked_at_ms, connection = self.world.now_ms, self.connection

        def answer() -> None:
            if connection == self.connection and self.connected:
                self.send(Heard(at_ms=self.mapped(self.world.now_ms), asked_at_ms=asked_at_ms))

        self.world.at(self.world.now_ms + next(self.delays_ms), answer)

    def connect(self) -> None:
        if self.connected:
            return
        self.connection += 1
        self.connected = True
        resume = self.world.journal.last(self.name)
        self.world.report(self.name, LinkUp(claims=CLAIMS, boot="boot", gap=False))
        numbers = [numbered.number for numbered in self.ring]
        first = 0 if resume is None else numbers.index(resume.number) + 1
        # Some that the host has already are sent again: their acknowledgement was lost.
        for numbered in self.ring[max(0, first - 3) :]:
            self.sent_until_ms = max(self.sent_until_ms, self.world.now_ms) + RESEND_MS
            self.send(numbered)

    def lose(self) -> None:
        if self.connected:
            self.cut()
            self.world.report(self.name, LinkDown(reason="the cable was pulled"))

    def cut(self) -> None:
        self.connection += 1
        self.connected = False


class World:
    """`crash_at`: the effects, counted over the whole run, before which the daemon is killed."""

    def __init__(self, errors_ms: list[int], delays_ms: list[int], crash_at: frozenset[int] = frozenset()) -> None:
        self.now_ms = 1000
        self.journal = MemoryJournal()
        errors, delays = itertools.cycle(errors_ms), itertools.cycle(delays_ms)
        self.machines = {name: Machine(name, self, errors, delays) for name in DEVICES}
        self.answers: list[str] = []
        self._queue: list[tuple[int, int, Callable[[], None]]] = []
        self._count = itertools.count()
        self._effects = itertools.count()
        self._crash_at = crash_at
        self._runs = itertools.count(1)
        self._start()

    def at(self, at_ms: int, call: Callable[[], None]) -> None:
        heapq.heappush(self._queue, (at_ms, next(self._count), call))

    def run(self) -> None:
        while self._queue:
            self.now_ms, _, call = heapq.heappop(self._queue)
            self._guarded(call)

    def report(self, device: str, report: Report) -> None:
        self.intake.report(device, report, self.now_ms)
        self._advance()

    def request(self, request: str, fact: Fact) -> None:
        self.intake.request(request, "dealer", fact, self.now_ms)
        self._advance()

    def _start(self) -> None:
        self.intake, self.core = self.journal.rebuild(f"run {next(self._runs)}", self.now_ms)
        self._guarded(self._advance)

    def _guarded(self, call: Callable[[], None]) -> None:
        try:
            call()
        except Crash:
            for machine in self.machines.values():
                machine.cut()
                self.at(self.now_ms + 40, machine.connect)
            self._start()

    def _advance(self) -> None:
        batch = self.intake.advance(self.now_ms)
        for device in batch.ask:
            self.machines[device].asked()
        self._commit(batch)
        wake_ms = self.intake.wake_at_ms(self.now_ms)
        if wake_ms is not None:
            assert wake_ms > self.now_ms
            self.at(wake_ms, self._advance)

    def _commit(self, batch: Batch) -> None:
        self._effect()
        self.journal.commit(batch.writes)
        for after in batch.after:
            self._effect()
            if isinstance(after, Acknowledge):
                last = self.journal.last(after.device)
                assert last is not None
                assert last.number == after.number
            elif isinstance(after, Answer):
                self.answers.append(after.request)
        self._effect()

    def _effect(self) -> None:
        if next(self._effects) in self._crash_at:
            raise Crash


UP = LinkUp(claims=CLAIMS, boot="b", gap=False)


class IntakeRun:
    """An intake with its devices connected and heard at `now_ms` = 1000, and turns that are always committed."""

    def __init__(self) -> None:
        self.journal = MemoryJournal()
        self.intake, self.core = self.journal.rebuild("run", 1000)
        for device in DEVICES:
            self.intake.report(device, UP, 1000)
            self.intake.report(device, Heard(at_ms=1000, asked_at_ms=1000), 1000)
        self.advance(1000)
        self.applied_before = len(self.core.facts)

    def advance(self, now_ms: int) -> Batch:
        batch = self.intake.advance(now_ms)
        self.journal.commit(batch.writes)
        return batch

    def tell(self, device: str, number: int, at_ms: int, now_ms: int, fact: Fact | None = None) -> None:
        told = device_fact(device, at_ms, number) if fact is None else fact
        self.intake.report(device, NumberedFact(boot="b", number=number, fact=told), now_ms)  # type: ignore[arg-type]

    @property
    def applied(self) -> list[Fact]:
        return self.core.facts[self.applied_before :]
