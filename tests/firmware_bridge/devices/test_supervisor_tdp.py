"""The supervisor, the TDP driver and a simulated shoe's firmware, on a pty."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from drivers.commands import Command, CommandKind, Outcome
from drivers.driver import CommandReport, DeviceKind, Heard, LinkDown, LinkUp
from firmware_bridge.devices.link import LinkState
from tests.drivers.transports.ends.pty_end import until
from tests.firmware_bridge.devices.ends.shoe_on_pty import Table, running

pytestmark = pytest.mark.real


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    table = Table(tmp_path)
    yield table
    await table.close()


async def test_facts_pass_once_and_in_order_across_pulled_cables(table: Table) -> None:
    supervisor = table.supervise()
    async with running(supervisor) as state:
        drawn = 0
        for session in range(1, 4):
            for _ in range(5):
                drawn += 1
                table.draw(drawn)
            table.plug()
            await until(lambda: state().link is LinkState.UP)
            for _ in range(40):
                drawn += 1
                table.draw(drawn)
            await until(lambda: bool(table.facts) and table.facts[-1].fact.draw == drawn)  # type: ignore[union-attr]  # noqa: B023
            table.commit(supervisor)
            await until(lambda: table.firmware.unacknowledged == 0)
            table.port.pull()
            await until(lambda: isinstance(table.told[-1], LinkDown))
            assert state().generation >= session
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
