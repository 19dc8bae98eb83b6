"""The guide to a driver, taken out of its paper: held to the contract of drivers, and to what its machine does."""

import re
import sys
import tomllib
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
from pytest_mock import MockerFixture

from drivers import plugins
from drivers.cards import FULL_DECK
from drivers.commands import Command, CommandKind, Outcome
from drivers.driver import (
    CommandReport,
    DeviceKind,
    Driver,
    Heard,
    LinkDown,
    LinkUp,
    NumberedFact,
    Report,
    Resume,
    Step,
)
from drivers.errors import DriverNameError
from drivers.facts import CardDrawn, DeviceFact, GroupReady, GroupTaken
from drivers.plugins import make_driver
from drivers.transports.ports import SerialPort, parse_port
from firmware_bridge.config import DeviceConfig
from tests.contract.bench import Shoe
from tests.contract.driver_contract import HEAVIEST, DriverContract, Quirks, weight

PAPER = (Path(__file__).parents[2] / "drivers/README.md").read_text()
GUIDE = PAPER.split("## A driver from the data sheet to the contract suite\n")[1].split("\n## ")[0]
NAME = "reshuffled"
NONCE = b"nonce--1"
OK = b":OK#D736D92D\n"
GROUP_2 = b":G2,3#868984DE\n"
TAKEN_2 = b":T2#57D9DB2F\n"
QUESTION = b":IN#F1068A24\n"
UNREAD = len(FULL_DECK)


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


class OfGuide(InspectLoader):
    def get_source(self, fullname: str) -> str:
        (block,) = blocks("python")
        return block


def loaded() -> ModuleType:
    loader = OfGuide()
    module = module_from_spec(ModuleSpec(f"drivers.{NAME}", loader))
    loader.exec_module(module)
    return module


GUIDED = loaded()


def new_driver() -> Driver:
    driver: Driver = GUIDED.ReShuffledDriver(DeviceKind.SHUFFLER, None)
    return driver


class Told:
    """A driver that is opened, and everything that it says."""

    def __init__(self) -> None:
        self.driver = new_driver()
        self.reports: list[Report] = []
        self.sent = b""
        self.take(self.driver.opened(nonce=NONCE, key=None, resume=None, now_ms=0))

    def take(self, step: Step) -> None:
        self.reports += step.reports
        self.sent += step.to_send

    def hear(self, data: bytes, now_ms: int, *, by_byte: bool = False) -> None:
        for piece in [bytes((byte,)) for byte in data] if by_byte else [data]:
            self.take(self.driver.receive(piece, now_ms))

    @property
    def facts(self) -> list[DeviceFact]:
        return [report.fact for report in self.reports if isinstance(report, NumberedFact)]


def up() -> Told:
    told = Told()
    told.hear(OK, 10)
    assert isinstance(told.reports[0], LinkUp)
    return told


def test_lines_are_written_as_the_machine_reads_them() -> None:
    assert GUIDED.line(b"OK") == OK
    assert Told().sent == QUESTION


@pytest.mark.parametrize("by_byte", [False, True], ids=["at once", "one byte at a time"])
def test_reports_become_facts(by_byte: bool) -> None:  # noqa: FBT001
    told = Told()
    told.hear(b"\n" + OK + b"\x00\xff K" + GROUP_2 + b"\r" + TAKEN_2, 20, by_byte=by_byte)
    assert told.facts == [GroupReady(at_ms=20, group=2, cards=3), GroupTaken(at_ms=20, group=2)]
    assert [report.number for report in told.reports if isinstance(report, NumberedFact)] == [1, 2]


def test_bytes_that_trail_an_ok_on_its_own_line_hurt_nothing() -> None:
    told = Told()
    told.hear(OK[:-1] + b"\x00\x00\r\n", 20)
    assert isinstance(told.reports[0], LinkUp)


def test_a_damaged_line_is_a_gap_in_a_session_and_nothing_before() -> None:
    told = Told()
    told.hear(b":G2,3#868984DF\n", 5)
    assert told.reports == []
    told.hear(OK, 10)
    told.hear(b":G2,3#868984DF\n" + GROUP_2, 20)
    up, heard, down = told.reports
    assert isinstance(up, LinkUp)
    assert up.gap
    assert heard == Heard(10)
    assert isinstance(down, LinkDown)
    assert not down.final
    assert told.driver.wake_at_ms is None


@pytest.mark.parametrize("endless", [b"x", b":", b":x#"])
def test_a_line_that_never_ends_is_not_kept(endless: bytes) -> None:
    told = up()
    told.hear(b":", 20)
    for _ in range(HEAVIEST // 10):
        told.hear(endless * 10, 20)
    assert weight(told.driver) < HEAVIEST // 10
    told.hear(GROUP_2, 30, by_byte=True)
    assert told.facts == [GroupReady(at_ms=30, group=2, cards=3)]


def test_an_answer_that_is_late_vouches_for_the_first_question_alone() -> None:
    told = up()
    told.take(told.driver.tick(1_000))
    told.take(told.driver.tick(2_000))
    told.hear(OK, 2_500)
    assert told.reports[-1] == Heard(1_000, asked_at_ms=1_000)
    told.hear(OK, 2_600)
    assert told.reports[-1] == Heard(1_000, asked_at_ms=1_000)


def test_who_asks_while_a_question_is_out_is_answered_by_the_next() -> None:
    told = up()
    told.take(told.driver.tick(1_000))
    told.take(told.driver.ask(1_001))
    assert told.sent == QUESTION * 2
    told.hear(OK, 1_005)
    assert told.sent == QUESTION * 3
    told.hear(OK, 1_009)
    assert told.reports[-1] == Heard(1_005, asked_at_ms=1_005)


def test_commands_are_refused_at_once_and_a_key_for_good() -> None:
    told = up()
    told.take(told.driver.send(Command(id=7, kind=CommandKind.STOP), 20))
    report = told.reports[-1]
    assert isinstance(report, CommandReport)
    assert (report.command_id, report.outcome) == (7, Outcome.REFUSED)
    (down,) = new_driver().opened(nonce=NONCE, key=bytes(32), resume=None, now_ms=0).reports
    assert isinstance(down, LinkDown)
    assert down.final


def test_it_is_found_by_the_name_that_the_guide_gives_it(mocker: MockerFixture) -> None:
    package, configuration = (tomllib.loads(block) for block in blocks("toml"))
    ((group, offered),) = package["project"]["entry-points"].items()
    points = tuple(EntryPoint(name, value, group) for name, value in offered.items())

    def entry_points(*, group: str, name: str | None = None) -> tuple[EntryPoint, ...]:
        return tuple(point for point in points if point.group == group and name in (None, point.name))

    mocker.patch.object(plugins, "entry_points", entry_points)
    mocker.patch.dict(sys.modules, {NAME: GUIDED})
    device = msgspec.convert(configuration["device"][0], DeviceConfig)
    assert parse_port(device.port) == SerialPort("/dev/ttyUSB0", baud=57_600)
    assert type(make_driver(device.driver, device.kind, device.serial_number)) is GUIDED.ReShuffledDriver
    for kind, serial_number in ((DeviceKind.SHOE, None), (DeviceKind.SHUFFLER, "S-1")):
        with pytest.raises(DriverNameError, match="correct its device"):
            make_driver(device.driver, kind, serial_number)


class Shuffler:
    """The machine's end, which tells the contract's draws as groups: the draw's number, and the card as a count."""

    wake_at_ms = None

    def __init__(self) -> None:
        self._heard = b""

    def draw(self, drawn: CardDrawn, now_ms: int) -> bytes:
        cards = UNREAD if drawn.card is None else drawn.card.index
        told: bytes = GUIDED.line(b"G%d,%d" % (drawn.draw, cards))
        return told

    def receive(self, data: bytes, now_ms: int) -> bytes:
        *lines, self._heard = (self._heard + data).split(b"\n")
        return b"".join(OK + b"\x00K" for line in lines if line.endswith(QUESTION[:-1]))

    def tick(self, now_ms: int) -> bytes:
        return b""

    def plugged_in(self) -> bytes:
        self._heard = b""
        return b"\n"


class GroupsAsDraws:
    """The guide's driver, its groups told as the contract's draws again."""

    def __init__(self) -> None:
        self.guided = new_driver()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.guided, name)

    def opened(self, *, nonce: bytes, key: bytes | None, resume: Resume | None, now_ms: int) -> Step:
        return self.guided.opened(nonce=nonce, key=key, resume=resume, now_ms=now_ms)

    def receive(self, data: bytes, now_ms: int) -> Step:
        step = self.guided.receive(data, now_ms)
        return Step(tuple(drawn(report) for report in step.reports), step.to_send)


# What a driver holds is weighed by the contract where its class is one of the drivers'.
GroupsAsDraws.__module__ = GUIDED.__name__


def drawn(report: Report) -> Report:
    if not isinstance(report, NumberedFact) or not isinstance(report.fact, GroupReady):
        return report
    fact = report.fact
    card = None if fact.cards == UNREAD else FULL_DECK[fact.cards]
    return NumberedFact(
        report.boot, report.number, CardDrawn(at_ms=fact.at_ms, draw=fact.group, card=card, face="down")
    )


class TestGuide(DriverContract):
    quirks = Quirks(repairs=False, sessions=False, remembers=False, locks=Outcome.REFUSED)

    def new_shoe(self) -> Shoe:
        return Shuffler()

    def new_driver(self) -> Driver:
        driver: Any = GroupsAsDraws()
        wrapped: Driver = driver
        return wrapped

    def opens_a_session(self, piece: bytes) -> bool:
        return b"OK" in piece
