"""The bench suite (tests/hil) as an engineer runs it: on the simulator, on ports with somebody at the terminal, and
where there is nothing to be tested. Each run is a process of its own.
"""

import fcntl
import os
import pty
import re
import subprocess
import sys
import termios
import threading
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Final, TypeAlias

import pytest

from drivers.cards import FULL_DECK, Card
from drivers.driver import DeviceKind
from drivers.facts import (
    CardDrawn,
    DeviceFact,
    DoorClosed,
    DoorOpened,
    GroupReady,
    GroupTaken,
    ShuffleCompleted,
    StubCounted,
)
from simulator.firmware.device import Firmware
from simulator.firmware.fitting import motors_for
from simulator.firmware.identity import identity
from simulator.scenarios.loader import scenario_names
from simulator.table import SimulatedTable
from tests.e2e.faulty_firmware import FAULTS, FAULTS_BY_HAND, ClockBack, DoublesDraws, StartsAnew
from tests.hil.simulated import SimulatedDevices, fitted

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]

MakeFirmware: TypeAlias = Callable[[SimulatedTable, DeviceKind, int], Firmware]
GROUP_TAKES_S = 0.15
"""Machines are not instantaneous; what two of them report in one and the same millisecond has no order."""
ROOT = Path(__file__).parents[2]
ALL_SIMULATED = ("--device", "shuffler=sim", "--device", "shoe=sim", "--device", "layout=sim")
CARD = re.compile(r"card=[2-9TJQKA][cdhs]")
PYTEST = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist")


class BenchRun:
    """A run that has ended."""

    def __init__(self, folder: Path, status: int, output: str) -> None:
        self.status = status
        self.output = output
        self._folder = folder

    @property
    def html(self) -> str:
        return (self._folder / "report.html").read_text(encoding="utf-8")

    def counts(self) -> dict[str, int]:
        """Of junit.xml."""
        suite = ET.parse(self._folder / "junit.xml").getroot().find("testsuite")  # noqa: S314  our own file
        assert suite is not None
        return {name: int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped")}


def run_bench(folder: Path, *arguments: str) -> BenchRun:
    done = subprocess.run(
        (*PYTEST, *arguments, "--bench-report", str(folder / "report")),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    return BenchRun(folder / "report", done.returncode, done.stdout + done.stderr)


CONTRACT = ("tests/hil/test_contract.py", "tests/hil/test_facts.py")


def test_the_contract_holds_on_the_simulator(tmp_path: Path) -> None:
    """Nobody's hands are needed for simulated devices, whether or not somebody is there."""
    done = run_bench(tmp_path, *CONTRACT, *ALL_SIMULATED, "--hands-free")
    assert done.status == 0, done.output
    counts = done.counts()
    assert counts["tests"] >= 3 * 20
    assert (counts["failures"], counts["errors"], counts["skipped"]) == (0, 0, 0)
    assert "Lookout 52" in done.html
    assert "SIM-" in done.html


def test_every_written_round_is_dealt_on_the_simulator(tmp_path: Path) -> None:
    done = run_bench(tmp_path, "tests/hil/test_rounds.py", *ALL_SIMULATED)
    assert done.status == 0, done.output
    assert done.counts() == {"tests": len(scenario_names()), "failures": 0, "errors": 0, "skipped": 0}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "No device is named"),
        (("--device", "toaster=sim"), "names no kind of device"),
        (("--device", "shoe"), '"--device shoe" cannot be read'),
        (("--device", "shoe=/dev/ttyACM0"), "serial:/dev/ttyACM0"),
        (("--device", "shoe=replay:old.pcapng"), "is a recording"),
        (("--device", "shoe=sim", "--device", "shoe=sim"), "two devices of the kind shoe"),
        (("--device", "shoe=serial:/dev/x", "--device", "shuffler=serial:/dev/x"), "one and the same port"),
        (("--device", "shoe=serial:/dev/nowhere", "--hands-free"), "There is no shoe to be tested"),
        (("--device", "shoe=serial:/dev/nowhere"), "--hands-free"),
        (("--device", "shoe=sim", "--key", "shoe=none.key"), "The key of none.key cannot be used"),
        (("--device", "shoe=sim", "--key", "layout=none.key"), "cannot be read"),
    ],
)
def test_f70_without_a_device_that_is_really_there_nothing_starts(
    arguments: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    done = run_bench(tmp_path, "tests/hil", *arguments)
    assert done.status not in (0, 5)
    assert says in done.output
    assert "Traceback" not in done.output
    assert "passed" not in done.output


def test_f70_a_device_of_another_kind_is_refused(tmp_path: Path) -> None:
    with simulated(tmp_path, DeviceKind.SHUFFLER) as port:
        done = run_bench(tmp_path, "tests/hil", "--device", f"shoe={port}", "--hands-free")
    assert done.status not in (0, 5)
    assert "leads to a shuffler" in done.output
    assert "Traceback" not in done.output


def test_f70_a_run_that_met_no_device_has_failed(tmp_path: Path) -> None:
    done = run_bench(tmp_path, "tests/hil/test_rounds.py", "--device", "shoe=sim", "--hands-free")
    assert done.status != 0
    assert "nothing was tested" in done.output


def test_what_needs_hands_is_left_out_and_counted(tmp_path: Path) -> None:
    with simulated(tmp_path, DeviceKind.LAYOUT) as port:
        done = run_bench(tmp_path, *CONTRACT, "--device", f"layout={port}", "--hands-free", "-k", "life or says")
    assert done.status == 0, done.output
    assert re.search(r"\d+ not run: needs a person's hands", done.output)
    assert "needs a person" in done.html


def test_a_bench_that_failed_is_not_tried_again(tmp_path: Path) -> None:
    with simulated(tmp_path, DeviceKind.SHUFFLER, make=with_a_small_ring) as port:
        devices = ("--device", f"shuffler={port}", "--device", "shoe=sim")
        done = run_bench(
            tmp_path, "tests/hil/test_contract.py", *devices, "--hands-free", "-k", "says or ping or major"
        )
    assert done.status == 1
    counts = done.counts()
    assert counts["failures"] == 1
    assert counts["skipped"] == 3, "the other tests of the shuffler"
    assert counts["tests"] == 8, "those of the shoe are not touched by it"
    assert "not run: the bench has failed with the shuffler at test_it_says_what_it_is[shuffler]" in done.output
    assert "HELLO_ANSWER" in done.html
    assert "first sequence" in done.html


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_device_that_breaks_the_protocol_is_found(tmp_path: Path, fault: type[Firmware]) -> None:
    with simulated(tmp_path, DeviceKind.SHUFFLER, make=faulty(fault)) as port:
        check = FAULTS[fault]
        device = ("--device", f"shuffler={port}", "--hands-free")
        done = run_bench(tmp_path, f"tests/hil/test_contract.py::{check}[shuffler]", *device)
    assert done.status == 1, done.output
    assert done.counts() == {"tests": 1, "failures": 1, "errors": 0, "skipped": 0}


@pytest.mark.parametrize("fault", FAULTS_BY_HAND, ids=lambda fault: fault.__name__)
def test_a_device_that_breaks_the_protocol_in_somebodys_hands_is_found(tmp_path: Path, fault: type[Firmware]) -> None:
    with simulated(tmp_path, DeviceKind.SHUFFLER, make=faulty(fault)) as port:
        arguments = (f"tests/hil/test_facts.py::{FAULTS_BY_HAND[fault]}[shuffler]", "--device", f"shuffler={port}")
        done = with_somebody(tmp_path, at_a_shuffler(port), *arguments, "--patience", "5")
    assert done.status == 1, done.output
    assert done.counts() == {"tests": 1, "failures": 1, "errors": 0, "skipped": 0}
    assert "HELLO_ANSWER" in done.html


@pytest.mark.parametrize("shown", [False, True])
def test_cards_stand_in_the_report_only_where_that_is_asked_for(tmp_path: Path, shown: bool) -> None:  # noqa: FBT001
    with simulated(tmp_path, DeviceKind.SHOE, make=faulty(ClockBack)) as port:
        draws = count(1)

        def draw() -> None:
            port.tell(CardDrawn(at_ms=0, draw=next(draws), card=Card.QUEEN_OF_HEARTS, face="down"))

        arguments = ["--device", f"shoe={port}", "-k", "numbered", *(["--show-cards"] if shown else [])]
        done = with_somebody(tmp_path, Person({"Draw one card": draw}), "tests/hil/test_facts.py", *arguments)
    assert done.status == 1, done.output
    assert "card_drawn" in done.html
    assert bool(CARD.search(done.html)) is shown


def test_a_person_is_told_what_to_do_and_waited_for(tmp_path: Path) -> None:
    with simulated(tmp_path, DeviceKind.SHUFFLER) as port:
        person = at_a_shuffler(port)
        arguments = ("tests/hil/test_facts.py", "--device", f"shuffler={port}")
        done = with_somebody(tmp_path, person, *arguments)
    assert done.status == 0, done.output + person.seen
    assert done.counts()["skipped"] == 0
    assert set(person.done) == set(person.can)


def test_a_round_is_dealt_by_somebody_at_the_terminal(tmp_path: Path) -> None:
    """The machines stand on ports that are none of the suite's; the cards come as they fall."""
    with simulated(tmp_path, DeviceKind.SHUFFLER, DeviceKind.SHOE) as port:
        person = Person(ByHand(port).can)
        devices = ("--device", f"shuffler={port}", "--device", f"shoe={port.named(DeviceKind.SHOE)}")
        done = with_somebody(
            tmp_path, person, "tests/hil/test_rounds.py", *devices, "-k", "group-clean-unsensed or tips or miscount"
        )
    assert done.status == 0, done.output + person.seen
    assert "1 passed" in done.output
    assert "Deal group 2 to seat 2." in person.seen
    assert "needs a layout on the bench" in done.output


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (DoublesDraws, "the daemon refused card_drawn of the shoe: draw 4 was told already"),
        (StartsAnew, "the shuffler was lost though nobody pulled its cable"),
    ],
)
def test_a_round_fails_at_once_at_what_no_device_may_do(tmp_path: Path, fault: type[Firmware], says: str) -> None:
    faulty_kind = DeviceKind.SHOE if fault is DoublesDraws else DeviceKind.SHUFFLER

    def make(table: SimulatedTable, kind: DeviceKind, power_up: int) -> Firmware:
        return (faulty(fault) if kind is faulty_kind else fitted)(table, kind, power_up)

    with simulated(tmp_path, DeviceKind.SHUFFLER, DeviceKind.SHOE, make=make) as port:
        devices = ("--device", f"shuffler={port}", "--device", f"shoe={port.named(DeviceKind.SHOE)}")
        done = with_somebody(
            tmp_path, Person(ByHand(port).can), "tests/hil/test_rounds.py", *devices, "-k", "group-clean-unsensed"
        )
    assert done.status == 1, done.output
    assert says in done.output
    assert "FACT seq" in done.html
    assert "round_opened" in done.html, "what the daemon told"
    assert not CARD.search(done.html)


def test_without_devices_the_rest_of_the_suite_does_not_see_it() -> None:
    done = subprocess.run(
        (*PYTEST, "--collect-only", "-q", "tests"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "tests/simulator/scenarios/test_loader.py" in done.stdout
    assert "tests/hil/" not in done.stdout


class Port:
    """Devices of the simulator in this process, on ports as real ones would have them; its text is the first one's."""

    def __init__(self, folder: Path, kinds: tuple[DeviceKind, ...], make: MakeFirmware) -> None:
        self.folder = folder
        self.kind = kinds[0]
        self.devices = SimulatedDevices(kinds, folder, make)

    def __str__(self) -> str:
        return self.named(self.kind)

    def named(self, kind: DeviceKind) -> str:
        return f"serial:{self.folder / kind.value}"

    def tell(self, *facts: DeviceFact) -> None:
        for fact in facts:
            kind = DeviceKind.SHOE if isinstance(fact, CardDrawn) else DeviceKind.SHUFFLER
            self.devices.happened(kind, fact)


@contextmanager
def simulated(folder: Path, *kinds: DeviceKind, make: MakeFirmware = fitted) -> Iterator[Port]:
    place = folder / "ports"
    place.mkdir()
    port = Port(place, kinds, make)
    try:
        yield port
    finally:
        port.devices.close()


def with_a_small_ring(table: SimulatedTable, kind: DeviceKind, power_up: int) -> Firmware:
    who = identity(kind, 1, table.chances, power_up)
    return Firmware(replace(who, ring_size=16), motors_for(table, kind))


def faulty(fault: type[Firmware]) -> MakeFirmware:
    return lambda table, kind, power_up: fault(identity(kind, 1, table.chances, power_up), motors_for(table, kind))


class Person:
    """Reads the terminal, does what it is told to, and presses Enter where that is asked for.

    `can`: the beginning of an instruction, and what is done then. `done`: what was done, in order.
    """

    def __init__(self, can: Mapping[str, Callable[[], None]]) -> None:
        self.can = can
        self.done: list[str] = []
        self.seen = ""
        self._read = 0

    def look(self, text: str, press_enter: Callable[[], None]) -> None:
        self.seen += text
        while (end := self.seen.find("\n", self._read)) >= 0 or self.seen.endswith("Then press Enter. "):
            line = self.seen[self._read : end if end >= 0 else len(self.seen)]
            self._read += len(line) + (end >= 0)
            told = line.partition(">>  ")[2]
            does = next((begins for begins in self.can if told.startswith(begins)), None)
            if does is not None:
                self.done.append(does)
                self.can[does]()
            if told.endswith("Then press Enter. "):
                press_enter()
            if end < 0:
                return


def at_a_shuffler(port: Port) -> Person:
    return Person(
        {
            "Open the shuffler's door": lambda: port.tell(DoorOpened(at_ms=0), DoorClosed(at_ms=0)),
            "Pull out the cable": lambda: port.devices.pull(DeviceKind.SHUFFLER),
            "Put the cable": lambda: port.devices.plug(DeviceKind.SHUFFLER),
            "Switch the shuffler off and on": lambda: port.devices.switch_on(DeviceKind.SHUFFLER),
        }
    )


class ByHand:
    """What somebody does who deals a round of groups: the machines go on by themselves once they are let."""

    def __init__(self, port: Port) -> None:
        self._port = port
        self._cards = iter(FULL_DECK)
        self._group = 0
        self.can: Final = {
            "Put 52 cards into the shuffler": lambda: port.tell(ShuffleCompleted(at_ms=0, cards=52, mode="shuffle")),
            "Let the shuffler deal out the group": self._deals,
            "Deal group": lambda: port.tell(GroupTaken(at_ms=0, group=self._group)),
            "Let the shuffler count": lambda: port.tell(StubCounted(at_ms=0, cards=52 - 3 * self._group)),
        }

    def _deals(self) -> None:
        for index in range(3):
            draw = 3 * self._group + index + 1
            self._port.tell(CardDrawn(at_ms=0, draw=draw, card=next(self._cards), face="down"))
        time.sleep(GROUP_TAKES_S)
        self._group += 1
        self._port.tell(GroupReady(at_ms=0, group=self._group, cards=3))


def with_somebody(folder: Path, person: Person, *arguments: str) -> BenchRun:
    """A run at a terminal of its own, with somebody who looks at it."""
    ours, theirs = pty.openpty()
    report = folder / "report"

    def take_terminal() -> None:
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

    with subprocess.Popen(
        (*PYTEST, "--bench-report", str(report), "--patience", "60", *arguments),
        cwd=ROOT,
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=take_terminal,
    ) as process:
        os.close(theirs)
        looking = threading.Thread(target=_look, args=(ours, person))
        looking.start()
        output, _ = process.communicate()
        looking.join()
    os.close(ours)
    return BenchRun(report, process.returncode, output)


def _look(terminal: int, person: Person) -> None:
    with suppress(OSError):  # the other end was closed
        while text := os.read(terminal, 4096).decode(errors="replace"):
            person.look(text.replace("\r\n", "\n"), lambda: _press_enter(terminal))


def _press_enter(terminal: int) -> None:
    os.write(terminal, b"\n")
