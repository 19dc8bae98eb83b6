"""A driver and a model device on a wire that loses, doubles, damages, delays and cuts; virtual time, one seed."""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from drivers import facts
from drivers.commands import Command
from drivers.driver import CommandReport, DeviceKind, Heard, LinkDown, LinkUp, NumberedFact, Report, Resume, Step
from drivers.facts import DeviceFact
from drivers.tdp.host.driver import TdpDriver
from tests.drivers.tdp.device import ModelDevice


@dataclass(frozen=True)
class Faults:
    """How likely each fault is for each burst on the wire, each way."""

    loss: float = 0.0
    double: float = 0.0
    flip: float = 0.0
    junk: float = 0.0
    late: float = 0.0
    by_byte: bool = False


@dataclass
class Link:
    """Runs both ends from `now_ms` on. The host commits every fact at once and resumes after the last one."""

    device: ModelDevice
    seed: int = 1
    faults: Faults = field(default_factory=Faults)
    kind: DeviceKind = DeviceKind.SHUFFLER
    serial_number: str | None = None
    delay_ms: int = 3
    now_ms: int = 1000
    acknowledges: bool = True

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.queue: list[tuple[int, int, bool, int, bytes]] = []
        self.order = 0
        self.connection = 0
        self.reports: list[Report] = []
        self.resume: Resume | None = None
        self.sent_by_host: list[bytes] = []
        self.connect()

    def connect(self) -> None:
        self.connection += 1
        self.driver = TdpDriver(self.kind, self.serial_number)
        nonce = self.random.randbytes(8)
        self._host(self.driver.opened(nonce=nonce, key=None, resume=self.resume, now_ms=self.now_ms))

    def run(self, ms: int) -> None:
        for _ in range(ms):
            self.now_ms += 1
            while self.queue and self.queue[0][0] <= self.now_ms:
                _, _, to_host, connection, data = heapq.heappop(self.queue)
                if to_host and connection == self.connection:
                    self._host(self.driver.receive(data, self.now_ms))
                elif not to_host:
                    self.to_host(self.device.receive(data, self.now_ms))
            wake_at_ms = self.driver.wake_at_ms
            if wake_at_ms is not None and wake_at_ms <= self.now_ms:
                self._host(self.driver.tick(self.now_ms))
            self.to_host(self.device.tick(self.now_ms))

    def to_host(self, data: bytes) -> None:
        self._carry(data, to_host=True)

    def send(self, command: Command) -> None:
        self._host(self.driver.send(command, self.now_ms))

    def ask(self) -> None:
        self._host(self.driver.ask(self.now_ms))

    def facts(self) -> list[NumberedFact]:
        return [report for report in self.reports if isinstance(report, NumberedFact)]

    def ups(self) -> list[LinkUp]:
        return [report for report in self.reports if isinstance(report, LinkUp)]

    def downs(self) -> list[LinkDown]:
        return [report for report in self.reports if isinstance(report, LinkDown)]

    def heard(self) -> list[Heard]:
        return [report for report in self.reports if isinstance(report, Heard)]

    def outcomes(self) -> list[CommandReport]:
        return [report for report in self.reports if isinstance(report, CommandReport)]

    def _host(self, step: Step) -> None:
        self.reports += step.reports
        self.sent_by_host.append(step.to_send)
        self._carry(step.to_send, to_host=False)
        for report in step.reports:
            if isinstance(report, NumberedFact):
                self.resume = Resume(report.boot, report.number)
                if self.acknowledges:
                    self._carry(self.driver.durable(report.number, self.now_ms).to_send, to_host=False)

    def _carry(self, data: bytes, *, to_host: bool) -> None:
        if not data:
            return
        chance, faults = self.random.random, self.faults
        if chance() < faults.loss:
            return
        for _ in range(2 if chance() < faults.double else 1):
            carried = bytearray(data)
            if chance() < faults.flip:
                carried[self.random.randrange(len(carried))] ^= 1 << self.random.randrange(8)
            if chance() < faults.junk:
                carried += self.random.randbytes(5)
            delay_ms = self.delay_ms + (self.random.randrange(80) if chance() < faults.late else 0)
            pieces = [bytes(carried)]
            if faults.by_byte:
                pieces = [bytes(carried[at : at + 1]) for at in range(len(carried))]
            for piece in pieces:
                self.order += 1
                entry = (self.now_ms + delay_ms, self.order, to_host, self.connection, piece)
                heapq.heappush(self.queue, entry)


def group(number: int) -> Callable[[int], DeviceFact]:
    return lambda clock_ms: facts.GroupReady(at_ms=clock_ms, group=number, cards=3)


def up(link: Link) -> Link:
    link.run(100)
    assert [type(report) for report in link.reports[:1]] == [LinkUp]
    return link
