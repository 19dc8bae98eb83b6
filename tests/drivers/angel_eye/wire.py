"""Telegrams for tests, and a driver with a simulated shoe on a wire in virtual time."""

import re
from collections.abc import Callable
from pathlib import Path

import drivers.angel_eye
from drivers.angel_eye.driver import AngelEyeDriver
from drivers.angel_eye.telegrams import Bcc, Telegram
from drivers.commands import Command, CommandKind
from drivers.driver import (
    Alarm,
    CommandReport,
    DeviceKind,
    Heard,
    LinkDown,
    LinkUp,
    NumberedFact,
    Report,
    Resume,
    Step,
)
from drivers.facts import CardDrawn
from drivers.tdp.codec.enums import StateFlag
from simulator.firmware.angel_eye import AngelEyeFirmware, CopiesOnTheWire, three_whole
from simulator.firmware.motors import Motion

SPEC = (Path(drivers.angel_eye.__path__[0]) / "spec.md").read_text(encoding="utf-8")


def block(name: str) -> list[str]:
    """The lines of a fenced block of the spec."""
    found = re.search(rf"```{name}\n(.*?)```", SPEC, re.DOTALL)
    assert found is not None
    return found[1].splitlines()


def telegram(sequence: str, code: str, payload: str = "") -> Telegram:
    return Telegram(ord(sequence), ord(code), bytes.fromhex(payload))


def told(sequence: str, code: str, payload: str = "", copies: int = 3) -> bytes:
    return telegram(sequence, code, payload).to_bytes() * copies


class Lock:
    """All that can be moved in this shoe."""

    def __init__(self) -> None:
        self.moves: list[CommandKind] = []

    def state(self) -> StateFlag:
        return StateFlag(0)

    def take_up(self, command: CommandKind) -> Motion | None:
        self.moves.append(command)
        return None


class Line:
    """Both directions take `delay_ms`; a shoe that is deaf or dumb does not hear or say anything."""

    def __init__(
        self,
        *,
        driver_bcc: Bcc = Bcc.WITHOUT_STX,
        shoe_bcc: Bcc = Bcc.WITHOUT_STX,
        copies: CopiesOnTheWire = three_whole,
        harm: Callable[[bytes], bytes] = lambda data: data,
    ) -> None:
        self.driver = AngelEyeDriver(DeviceKind.SHOE, None, driver_bcc)
        self.lock = Lock()
        self.shoe = AngelEyeFirmware(self.lock, bcc=shoe_bcc, copies=copies)
        self.now_ms = 1000
        self.delay_ms = 20
        self.deaf = False
        self.dumb = False
        self.reports: list[Report] = []
        self.sent: list[bytes] = []
        self._harm = harm
        self._queue: list[tuple[int, bool, bytes]] = []

    def open(self, resume: Resume | None = None, key: bytes | None = None) -> None:
        self.take(self.driver.opened(nonce=b"12345678", key=key, resume=resume, now_ms=self.now_ms))

    def up(self) -> None:
        self.open()
        self.run(100)
        assert [type(report) for report in self.reports] == [LinkUp, Heard]
        self.reports.clear()

    def run(self, ms: int) -> None:
        end_ms = self.now_ms + ms
        while True:
            wake_at_ms = self.driver.wake_at_ms
            times = [at_ms for at_ms, _, _ in self._queue] + ([] if wake_at_ms is None else [wake_at_ms])
            self.now_ms = max(self.now_ms, min([*times, end_ms]))
            if min([*times, end_ms + 1]) > end_ms:
                return
            due = [entry for entry in self._queue if entry[0] <= self.now_ms]
            self._queue = [entry for entry in self._queue if entry[0] > self.now_ms]
            for _, to_host, data in due:
                if to_host:
                    self.take(self.driver.receive(self._harm(data), self.now_ms))
                elif not self.deaf:
                    self.from_shoe(self.shoe.receive(data))
            if wake_at_ms is not None and wake_at_ms <= self.now_ms:
                self.take(self.driver.tick(self.now_ms))

    def take(self, step: Step) -> None:
        self.reports += step.reports
        if step.to_send:
            self.sent.append(step.to_send)
            self._queue.append((self.now_ms + self.delay_ms, False, step.to_send))

    def from_shoe(self, data: bytes) -> None:
        if not self.dumb and data:
            self._queue.append((self.now_ms + self.delay_ms, True, data))

    def hear(self, data: bytes) -> None:
        """Bytes that are at the host now."""
        self.take(self.driver.receive(data, self.now_ms))

    def send(self, kind: CommandKind, command_id: int = 1) -> None:
        self.take(self.driver.send(Command(id=command_id, kind=kind), self.now_ms))

    @property
    def facts(self) -> list[NumberedFact]:
        return [report for report in self.reports if isinstance(report, NumberedFact)]

    @property
    def cards(self) -> list[str | None]:
        drawn = [report.fact for report in self.facts if isinstance(report.fact, CardDrawn)]
        return [None if fact.card is None else str(fact.card) for fact in drawn]

    @property
    def downs(self) -> list[LinkDown]:
        return [report for report in self.reports if isinstance(report, LinkDown)]

    @property
    def alarms(self) -> list[Alarm]:
        return [report for report in self.reports if isinstance(report, Alarm)]

    @property
    def outcomes(self) -> list[CommandReport]:
        return [report for report in self.reports if isinstance(report, CommandReport)]
