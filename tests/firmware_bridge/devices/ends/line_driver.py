"""A driver of words, for tests of what stands around drivers, and a table of ports that it is connected to."""

import asyncio
from collections.abc import Callable, Sequence

from drivers.cards import Card
from drivers.commands import Command, Outcome
from drivers.driver import CommandReport, DeviceKind, Heard, LinkDown, LinkUp, NumberedFact, Resume, Step
from drivers.errors import LinkError, PortMissing
from drivers.facts import CardDrawn, CutCard
from drivers.transports.null_modem import NullModemEnd, null_modem
from drivers.transports.transport import OnData, OnLost, Transport
from firmware_bridge.config import ApprovedFirmware, DeviceConfig
from firmware_bridge.devices.link import BackoffPolicy, DeviceState
from firmware_bridge.devices.supervisor import Supervisor
from tests.firmware_bridge.devices.ends.claims import CLAIMS

STOP_S = 20.0


class LineDriver:
    """One line is one message; `_line` shows them all. What it does not know is counted as junk."""

    def __init__(self) -> None:
        self.boot = ""
        self.counters: dict[str, int] = {}
        self.wake_at_ms: int | None = None
        self.ticks = 0
        self._rest = b""

    def opened(self, *, nonce: bytes, key: bytes | None, resume: Resume | None, now_ms: int) -> Step:
        resumed = f"{resume.boot}/{resume.number}" if resume is not None else "nothing"
        return Step(to_send=f"hello {nonce.hex()} {resumed}\n".encode())

    def receive(self, data: bytes, now_ms: int) -> Step:
        *lines, self._rest = (self._rest + data).split(b"\n")
        steps = [self._line(line.decode(errors="replace").split(), now_ms) for line in lines]
        return Step(
            reports=tuple(report for step in steps for report in step.reports),
            to_send=b"".join(step.to_send for step in steps),
        )

    def durable(self, number: int, now_ms: int) -> Step:
        return Step(to_send=f"durable {number}\n".encode())

    def ask(self, now_ms: int) -> Step:
        return Step(to_send=b"ask\n")

    def send(self, command: Command, now_ms: int) -> Step:
        return Step(to_send=f"command {command.id} {command.kind.value}\n".encode())

    def tick(self, now_ms: int) -> Step:
        self.ticks += 1
        if self.wake_at_ms is None or now_ms < self.wake_at_ms:
            return Step()
        self.wake_at_ms = None
        return Step(to_send=b"tick\n")

    def _line(self, words: list[str], now_ms: int) -> Step:
        match words:
            case ["up", boot]:
                self.boot = boot
                return Step(reports=(LinkUp(claims=CLAIMS, boot=boot, gap=False),))
            case ["fact", number]:
                return Step(reports=(NumberedFact(self.boot, int(number), CutCard(at_ms=now_ms)),))
            case ["draw", number, card]:
                drawn = CardDrawn(at_ms=now_ms, draw=int(number), card=Card(card), face="down")
                return Step(reports=(NumberedFact(self.boot, int(number), drawn),))
            case ["heard"]:
                return Step(reports=(Heard(at_ms=now_ms),))
            case ["answer", asked_at_ms]:
                return Step(reports=(Heard(at_ms=now_ms, asked_at_ms=int(asked_at_ms)),))
            case ["outcome", command_id, word]:
                return Step(reports=(CommandReport(int(command_id), Outcome(word)),))
            case ["wake", wait_ms]:
                self.wake_at_ms = now_ms + int(wait_ms)
                return Step()
            case ["down"]:  # with a report behind it, which nobody may hear any more
                return Step(reports=(LinkDown("the shoe said goodbye"), Heard(at_ms=now_ms)), to_send=b"goodbye\n")
            case ["final"]:
                return Step(reports=(LinkDown("this is a shuffler, not a shoe: correct the cabling", final=True),))
            case ["raise", *_]:
                raise RuntimeError(" ".join(words))
            case _:
                self.counters["junk"] = self.counters.get("junk", 0) + 1
                return Step()


class FarEnd:
    """A device of words at the other end of a null modem."""

    def __init__(self, end: NullModemEnd) -> None:
        self.end = end
        self.heard = b""
        self.lost: list[LinkError] = []
        end.attach(self._on_data, self.lost.append)

    def say(self, *lines: str) -> None:
        self.end.write("".join(f"{line}\n" for line in lines).encode())

    def _on_data(self, data: bytes) -> None:
        self.heard += data


class Ports:
    """Stands in for `open_transport`: each opening is a new null modem, or the error that lies ready."""

    def __init__(self) -> None:
        self.errors: list[Exception] = []
        self.far: list[FarEnd] = []
        self.opened: list[str] = []
        self.open_now = 0
        self.closing: Callable[[], None] = lambda: None

    async def __call__(self, port_text: str, on_data: OnData, on_lost: OnLost) -> Transport:
        self.opened.append(port_text)
        await asyncio.sleep(0)
        if self.errors:
            raise self.errors.pop(0)
        end, far_end = null_modem()
        self.far.append(FarEnd(far_end))
        self.open_now += 1
        return Counted(end.attach(on_data, on_lost), self)


class Counted:
    def __init__(self, end: NullModemEnd, ports: Ports) -> None:
        self._end = end
        self._ports = ports

    def write(self, data: bytes) -> None:
        self._end.write(data)

    async def close(self) -> None:
        await self._end.close()
        self._ports.closing()
        self._ports.open_now -= 1


class Hall:
    """A supervisor with one shoe of words, and all that was told."""

    def __init__(
        self,
        pace: BackoffPolicy = BackoffPolicy(first_s=0.001, cap_s=0.004, missing_cap_s=0.002, refused_s=0.003),  # noqa: B008
        approved: Sequence[ApprovedFirmware] = (),
    ) -> None:
        self.ports = Ports()
        self.told: list[object] = []
        self.on_report: Callable[[str, object], None] = lambda _, report: self.told.append(report)
        self.resume: Resume | None = None
        self.later_ms = 0
        self.drivers: list[LineDriver] = []
        self.supervisor = Supervisor(
            [DeviceConfig(name="shoe", kind=DeviceKind.SHOE, driver="words", port="serial:/dev/words")],
            self.clock,
            lambda device, report: self.on_report(device, report),
            lambda _: self.resume,
            nonce=lambda: b"12345678",
            open_port=self.ports,
            new_driver=self._new_driver,
            jitter=lambda: 0.5,
            backoff=pace,
            approved=approved,
            watch=self._watch,
        )
        self.hint: Callable[[], None] = lambda: None
        self.task: asyncio.Task[None] | None = None

    def clock(self) -> int:
        return int(asyncio.get_running_loop().time() * 1000) + self.later_ms

    @property
    def state(self) -> DeviceState:
        return self.supervisor.state()["shoe"]

    @property
    def far(self) -> FarEnd:
        return self.ports.far[-1]

    async def __aenter__(self) -> "Hall":
        self.task = asyncio.create_task(self.supervisor.run())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        if self.task is not None:
            self.task.cancel()
            ended, _ = await asyncio.wait([self.task], timeout=STOP_S)
            assert ended, "it does not stop"

    async def _watch(self, on_change: Callable[[], None]) -> None:
        self.hint = on_change
        await asyncio.Event().wait()

    def _new_driver(self, _: DeviceConfig) -> LineDriver:
        driver = LineDriver()
        self.drivers.append(driver)
        return driver


def missing() -> PortMissing:
    return PortMissing("there is no device at /dev/words: plug it in")
