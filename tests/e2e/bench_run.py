"""A bench (tests/hil) that is run in a process of its own, at ports of this one's, with somebody at its terminal."""

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
from pathlib import Path
from typing import Final

from drivers.cards import FULL_DECK
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
from simulator.firmware.firmware_factory import motors_for
from simulator.firmware.identity import identity
from simulator.mechanics.table import SimulatedTable
from tests.hil.bench.simulated import MakeFirmware, SimulatedDevices, fitted

GROUP_TAKES_S = 0.15
"""Machines are not instantaneous; what two of them report in one and the same millisecond has no order."""
ROOT = Path(__file__).parents[2]
ALL_SIMULATED = ("--device", "shuffler=sim", "--device", "shoe=sim", "--device", "layout=sim")
CARD = re.compile(r"card=[2-9TJQKA][cdhs]")
PROGRAMS = Path(sys.executable).parent
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


def key_file(folder: Path, name: str) -> Path:
    file = folder / f"{name}.key"
    file.touch(mode=0o600)
    file.write_text(os.urandom(32).hex() + "\n", encoding="ascii")
    return file


def with_a_small_ring(table: SimulatedTable, kind: DeviceKind, power_up: int) -> Firmware:
    who = identity(kind, 1, table.streams, power_up)
    return Firmware(replace(who, ring_size=16), motors_for(table, kind))


def faulty(fault: type[Firmware]) -> MakeFirmware:
    return lambda table, kind, power_up: fault(identity(kind, 1, table.streams, power_up), motors_for(table, kind))


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
