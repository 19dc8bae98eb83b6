"""The supervisor, the TDP driver and a simulated shoe's firmware, on a pty."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from drivers.cards import Card
from drivers.commands import Command, CommandKind, Outcome
from drivers.driver import CommandReport, DeviceKind, Heard, LinkDown, LinkUp, NumberedFact, Report, Resume
from drivers.facts import CardDrawn
from drivers.tdp.codes import StateFlag
from firmware_bridge.config import DeviceConfig
from firmware_bridge.link import DeviceState, LinkState, Pace
from firmware_bridge.supervisor import Supervisor
from simulator.firmware.device import Firmware
from simulator.firmware.identity import Identity
from simulator.firmware.motors import Motion
from simulator.wires.pty import PtyPort
from tests.drivers.transports.pty_end import until

pytestmark = pytest.mark.real


class Lock:
    """All that can be moved in this shoe."""

    def __init__(self) -> None:
        self.moves: list[CommandKind] = []

    def state(self) -> StateFlag:
        return StateFlag(0)

    def take_up(self, command: CommandKind) -> Motion | None:
        self.moves.append(command)
        return None


def clock() -> int:
    return int(asyncio.get_running_loop().time() * 1000)


class Table:
    """A shoe with its firmware on a pty, and what the daemon's side has heard and committed."""

    def __init__(self, folder: Path) -> None:
        self.lock = Lock()
        self.firmware = Firmware(
            Identity(kind=DeviceKind.SHOE, serial_number="S-1", boot=b"boot---1", decks=1, clock_offset_ms=5000),
            self.lock,
        )
        self.port = PtyPort(folder / "shoe", self._from_host)
        self.told: list[Report] = []
        self.committed: Resume | None = None
        self._ticking = asyncio.create_task(self._tick())

    def supervise(self, kind: DeviceKind = DeviceKind.SHOE, serial_number: str | None = None) -> Supervisor:
        device = DeviceConfig(
            name="shoe", kind=kind, driver="tdp", port=f"serial:{self.port.path}", serial_number=serial_number
        )
        pace = Pace(first_s=0.01, cap_s=0.02, missing_cap_s=0.02, refused_s=0.05)
        return Supervisor(
            [device], clock, lambda _, report: self.told.append(report), lambda _: self.committed, pace=pace
        )

    def draw(self, number: int) -> None:
        drawn = CardDrawn(at_ms=clock(), draw=number, card=list(Card)[number % 52], face="down")
        self.port.write(self.firmware.report(drawn, clock()))

    @property
    def facts(self) -> list[NumberedFact]:
        return [report for report in self.told if isinstance(report, NumberedFact)]

    def plug(self) -> None:
        self.port.plug()
        self.firmware.plugged_in()

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


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    table = Table(tmp_path)
    yield table
    await table.close()


@asynccontextmanager
async def running(supervisor: Supervisor) -> AsyncIterator[Callable[[], DeviceState]]:
    task = asyncio.create_task(supervisor.run())
    yield lambda: supervisor.state()["shoe"]
    task.cancel()
    await asyncio.wait([task])


async def test_facts_pass_once_and_in_order_across_pulled_cables(table: Table) -> None:
    supervisor = table.supervise()

    def commit() -> None:
        newest = table.facts[-1]
        table.committed = Resume(newest.boot, newest.number)
        supervisor.durable("shoe", newest.number, newest.boot)

    async with running(supervisor) as state:
        drawn = 0
        for evening in range(1, 4):
            for _ in range(5):
                drawn += 1
                table.draw(drawn)
            table.plug()
            await until(lambda: state().link is LinkState.UP)
            for _ in range(40):
                drawn += 1
                table.draw(drawn)
            await until(lambda: bool(table.facts) and table.facts[-1].fact.draw == drawn)  # type: ignore[union-attr]  # noqa: B023
            commit()
            await until(lambda: table.firmware.unacknowledged == 0)
            table.port.pull()
            await until(lambda: isinstance(table.told[-1], LinkDown))
            assert state().generation >= evening
    assert [report.fact.draw for report in table.facts] == list(range(1, drawn + 1))  # type: ignore[union-attr]
    assert [report.gap for report in table.told if isinstance(report, LinkUp)] == [False] * 3
    assert len({(report.boot, report.number) for report in table.facts}) == drawn


async def test_facts_that_were_not_committed_come_again_after_the_cable(table: Table) -> None:
    async with running(table.supervise()) as state:
        table.plug()
        await until(lambda: state().link is LinkState.UP)
        table.draw(1)
        await until(lambda: len(table.facts) == 1)
        table.port.pull()
        await until(lambda: isinstance(table.told[-1], LinkDown))
        table.plug()
        await until(lambda: len(table.facts) == 2)
    assert table.facts[0].number == table.facts[1].number


async def test_a_command_is_followed_to_its_end(table: Table) -> None:
    supervisor = table.supervise()
    async with running(supervisor) as state:
        table.plug()
        await until(lambda: state().link is LinkState.UP)
        supervisor.send("shoe", Command(id=1, kind=CommandKind.LOCK))
        finished = CommandReport(1, Outcome.FINISHED)
        await until(lambda: any(isinstance(r, CommandReport) and r.outcome is Outcome.FINISHED for r in table.told))
        assert table.told.count(finished) == 1
        supervisor.ask("shoe")
        await until(lambda: any(isinstance(report, Heard) and report.asked_at_ms is not None for report in table.told))
        table.port.pull()
        await until(lambda: isinstance(table.told[-1], LinkDown))
        table.plug()
        await until(lambda: isinstance(table.told[-1], LinkUp) or state().link is LinkState.UP)
    assert table.lock.moves == [CommandKind.LOCK]
    assert Outcome.UNKNOWN not in [report.outcome for report in table.told if isinstance(report, CommandReport)]


async def test_another_machine_than_the_configured_one_is_refused_until_it_is_swapped(table: Table) -> None:
    async with running(table.supervise(serial_number="S-2")) as state:
        table.plug()
        await until(lambda: state().link is LinkState.REFUSED)
        assert "S-1" in (state().sentence or "")
        assert "S-2" in (state().sentence or "")
        await until(lambda: state().generation >= 3)
    assert table.told == []


async def test_a_machine_of_another_kind_is_refused(table: Table) -> None:
    async with running(table.supervise(kind=DeviceKind.LAYOUT)) as state:
        table.plug()
        await until(lambda: state().link is LinkState.REFUSED)
        assert "shoe" in (state().sentence or "")
        assert "layout" in (state().sentence or "")
