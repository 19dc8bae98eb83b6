"""The specification suffices: a device written from it alone works with the real driver the first time."""

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from drivers import facts
from drivers.commands import Command, CommandKind, Outcome
from drivers.driver import CommandReport, DeviceKind, Heard, LinkDown, LinkUp, NumberedFact, Report, Resume, Step
from drivers.framing import FrameDecoder, encode_frame
from drivers.tdp.host.driver import TdpDriver
from tests.drivers.tdp.stranger import device
from tests.drivers.tdp.stranger.device import Shuffler
from tests.drivers.tdp.vectors import bad_vectors, good_vectors

BOOT = b"stranger"


def test_it_was_written_from_the_text_alone() -> None:
    source = Path(device.__file__).read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 250
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name in [node.module] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names]:
                assert name in sys.stdlib_module_names
                assert name not in ("zlib", "binascii")


@pytest.mark.parametrize("size", [*range(11, 20), *range(240, 270), *range(495, 509)])
def test_its_frames_are_those_of_the_project(size: int) -> None:
    for fill in (lambda at: at % 256, lambda at: at % 255 + 1, lambda _: 0, lambda _: 1):
        body = bytes(fill(at) for at in range(size))
        stuffed = device.stuff(body + device.crc32(body).to_bytes(4, "little"))
        assert stuffed + b"\x00" == encode_frame(body)
        assert device.unstuff(stuffed) == body + device.crc32(body).to_bytes(4, "little")


class Bench:
    """The stranger's device and a host on a wire that loses, doubles and cuts; the host commits every fact at once."""

    def __init__(self, *, number: int = 1, loss: float = 0.0, seed: int = 1) -> None:
        self.random = Random(seed)
        self.loss = loss
        self.device = Shuffler(BOOT, number)
        self.now_ms = 1000
        self.reports: list[Report] = []
        self.resume: Resume | None = None
        self.made: list[int] = []
        self.connect()

    def connect(self) -> None:
        self.driver = TdpDriver(DeviceKind.SHUFFLER, "S-1")
        nonce = self.random.randbytes(8)
        self.host(self.driver.opened(nonce=nonce, key=None, resume=self.resume, now_ms=self.now_ms))

    def host(self, step: Step) -> None:
        self.reports += step.reports
        self._carry(step.to_send, lambda data: self.from_device(self.device.receive(data, self.clock)))
        for report in step.reports:
            if isinstance(report, NumberedFact):
                self.resume = Resume(report.boot, report.number)
                self.host(self.driver.durable(report.number, self.now_ms))

    def from_device(self, data: bytes) -> None:
        self._carry(data, lambda piece: self.host(self.driver.receive(piece, self.now_ms)))

    def _carry(self, data: bytes, to: Callable[[bytes], None]) -> None:
        if data and self.random.random() >= self.loss:
            cut = self.random.randrange(len(data))
            to(data[:cut])
            to(data[cut:])

    @property
    def clock(self) -> int:
        return self.now_ms + 77_000

    def happens(self) -> None:
        self.made.append(len(self.made) + 1)
        fields = self.made[-1].to_bytes(4, "little") + b"\x03\x00"
        self.from_device(self.device.happens(device.GROUP_READY, fields, self.clock))

    def run(self, ms: int) -> None:
        for _ in range(0, ms, 10):
            self.now_ms += 10
            self.host(self.driver.tick(self.now_ms))
            self.from_device(self.device.tick(self.clock))

    def groups(self) -> list[int]:
        told = [report.fact for report in self.reports if isinstance(report, NumberedFact)]
        return [fact.group for fact in told if isinstance(fact, facts.GroupReady)]

    def ups(self) -> list[LinkUp]:
        return [report for report in self.reports if isinstance(report, LinkUp)]


def test_it_works_the_first_time() -> None:
    bench = Bench()
    assert isinstance(bench.reports[0], LinkUp)
    assert bench.ups()[0].claims.vendor == "Stranger"
    for _ in range(20):
        bench.happens()
        bench.run(50)
    assert bench.groups() == bench.made
    bench.run(5000)
    assert not any(isinstance(report, LinkDown) for report in bench.reports)
    assert any(isinstance(report, Heard) for report in bench.reports)
    assert bench.device.ring == {}


def test_a_command_has_its_outcomes() -> None:
    bench = Bench()
    for command_id, kind in ((1, CommandKind.DISPENSE_GROUP), (2, CommandKind.STOP), (3, CommandKind.SHUFFLE)):
        bench.host(bench.driver.send(Command(id=command_id, kind=kind), bench.now_ms))
        bench.run(20)
    told = [(report.command_id, report.outcome) for report in bench.reports if isinstance(report, CommandReport)]
    done = [Outcome.ACCEPTED, Outcome.STARTED, Outcome.FINISHED]
    assert told == [*((1, each) for each in done), *((2, each) for each in done), (3, Outcome.REFUSED)]
    assert bench.groups() == [1]


@pytest.mark.parametrize("number", [1, 2**32 - 3])
def test_after_a_pulled_cable_it_goes_on_where_the_host_was(number: int) -> None:
    bench = Bench(number=number)
    bench.happens()
    bench.loss = 1.0
    for _ in range(3):
        bench.happens()
    bench.run(300)
    bench.loss = 0.0
    bench.connect()
    bench.run(100)
    bench.happens()
    assert [up.gap for up in bench.ups()] == [False, False]
    assert bench.groups() == bench.made


def test_what_its_ring_no_longer_holds_is_a_gap() -> None:
    bench = Bench()
    bench.happens()
    bench.loss = 1.0
    for _ in range(device.RING + 5):
        bench.happens()
    bench.loss = 0.0
    bench.connect()
    bench.run(4000)
    assert [up.gap for up in bench.ups()] == [False, True]
    assert bench.groups() == [1, *bench.made[-device.RING :]]


@pytest.mark.parametrize("seed", range(6))
def test_nothing_is_lost_or_doubled_on_a_bad_wire(seed: int) -> None:
    bench = Bench(loss=0.15, seed=seed, number=2**32 - 10)
    for _ in range(60):
        bench.happens()
        bench.run(40)
        if bench.reports and isinstance(bench.reports[-1], LinkDown):
            bench.connect()
    bench.loss = 0.0
    bench.connect()
    bench.run(3000)
    assert bench.groups() == bench.made


def test_no_vector_and_no_junk_disturbs_it() -> None:
    random = Random(4)
    junk = [vector.wire for vector in good_vectors()] + [vector.wire for vector in bad_vectors()]
    stranger = Shuffler(BOOT)
    for _ in range(3000):
        piece = random.choice(junk) if random.random() < 0.5 else random.randbytes(random.randrange(700))
        FrameDecoder().feed(stranger.receive(piece, 1000))
        assert len(stranger.window) <= device.WINDOW
        assert len(stranger.frame or b"") <= device.LONGEST + 1
    stranger.tick(10_000)
    bench = Bench()
    bench.device = stranger
    bench.connect()
    bench.run(2000)
    assert len(bench.ups()) == 2
