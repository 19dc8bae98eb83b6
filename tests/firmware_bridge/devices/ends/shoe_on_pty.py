"""A simulated shoe's firmware on a pty, and what the daemon's side has heard of it and committed."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from drivers.cards import Card
from drivers.commands import CommandKind
from drivers.driver import DeviceKind, NumberedFact, Report, Resume
from drivers.facts import CardDrawn
from drivers.tdp.codec.enums import StateFlag
from firmware_bridge.config import ApprovedFirmware, DeviceConfig
from firmware_bridge.devices.link import BackoffPolicy, DeviceState
from firmware_bridge.devices.supervisor import Supervisor
from simulator.firmware.device import Firmware
from simulator.firmware.identity import Identity
from simulator.firmware.motors import Motion
from simulator.wires.pty import PtyPort


class Lock:
    """All that can be moved in this shoe; each move takes `takes_ms`."""

    def __init__(self) -> None:
        self.moves: list[CommandKind] = []
        self.takes_ms = 0

    def state(self) -> StateFlag:
        return StateFlag(0)

    def take_up(self, command: CommandKind) -> Motion | None:
        self.moves.append(command)
        return Motion(self.takes_ms, lambda: None) if self.takes_ms else None


def clock() -> int:
    return int(asyncio.get_running_loop().time() * 1000)


class Table:
    """A shoe with its firmware on a pty, and what the daemon's side has heard and committed."""

    def __init__(self, folder: Path, *, patient: bool = False) -> None:
        self.lock = Lock()
        self.firmware = Firmware(
            Identity(kind=DeviceKind.SHOE, serial_number="S-1", boot=b"boot---1", decks=1, clock_offset_ms=5000),
            self.lock,
            patient=patient,
        )
        self.port = PtyPort(folder / "shoe", self._from_host)
        self.told: list[Report] = []
        self.committed: Resume | None = None
        self._ticking = asyncio.create_task(self._tick())

    def supervise(
        self,
        *,
        kind: DeviceKind = DeviceKind.SHOE,
        serial_number: str | None = None,
        port: str | None = None,
        capture: Path | None = None,
        approved: Sequence[ApprovedFirmware] = (),
    ) -> Supervisor:
        device = DeviceConfig(
            name="shoe",
            kind=kind,
            driver="tdp",
            port=port or f"serial:{self.port.path}",
            serial_number=serial_number,
            capture=None if capture is None else str(capture),
        )
        pace = BackoffPolicy(first_s=0.01, cap_s=0.02, missing_cap_s=0.02, refused_s=0.05)
        return Supervisor([device], clock, self._hear, lambda _: self.committed, backoff=pace, approved=approved)

    def draw(self, number: int) -> None:
        drawn = CardDrawn(at_ms=clock(), draw=number, card=list(Card)[number % 52], face="down")
        self.port.write(self.firmware.report(drawn, clock()))

    @property
    def facts(self) -> list[NumberedFact]:
        return [report for report in self.told if isinstance(report, NumberedFact)]

    def plug(self, path: Path | None = None) -> None:
        """Plug it in where it was, or at `path`."""
        if path is not None:
            self.port = PtyPort(path, self._from_host)
        self.port.plug()
        self.firmware.plugged_in()

    def commit(self, supervisor: Supervisor) -> None:
        """All that was told is committed."""
        newest = self.facts[-1]
        self.committed = Resume(newest.boot, newest.number)
        supervisor.durable("shoe", newest.number, newest.boot)

    async def close(self) -> None:
        self._ticking.cancel()
        self.port.pull()

    def _hear(self, _: str, report: Report) -> None:
        self.told.append(report)

    def _from_host(self, data: bytes) -> None:
        self.port.write(self.firmware.receive(data, clock()))

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(0.005)
            if self.port.plugged:
                self.port.write(self.firmware.tick(clock()))


@asynccontextmanager
async def running(supervisor: Supervisor) -> AsyncIterator[Callable[[], DeviceState]]:
    task = asyncio.create_task(supervisor.run())
    yield lambda: supervisor.state()["shoe"]
    task.cancel()
    await asyncio.wait([task])
