"""A simulated shoe on a pty whose cable is pulled, put into another port, recorded and played back."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from structlog.testing import capture_logs

from drivers.cards import FULL_DECK
from drivers.commands import Command, CommandKind, Outcome
from drivers.driver import CommandReport, DeviceKind, LinkDown, LinkUp, NumberedFact, Report
from drivers.facts import DeviceFact
from drivers.tdp.host.driver import TdpDriver
from drivers.transports import discovery
from drivers.transports.pcapng import read_capture
from drivers.transports.ports import SerialByProperty
from drivers.transports.replay import replay_reports
from firmware_bridge.config import ApprovedFirmware
from firmware_bridge.devices.link import LinkState
from simulator.firmware.identity import FIRMWARE_VERSION
from tests.drivers.transports.ends.pty_end import open_fds, until
from tests.firmware_bridge.devices.ends.shoe_on_pty import Table, running

pytestmark = pytest.mark.real

CARDS = 12


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    table = Table(tmp_path)
    yield table
    await table.close()


def without_time(reports: list[Report]) -> list[tuple[str, int, DeviceFact]]:
    facts = [report for report in reports if isinstance(report, NumberedFact)]
    return [(one.boot, one.number, msgspec.structs.replace(one.fact, at_ms=0)) for one in facts]


def outcomes(table: Table, command_id: int) -> list[Outcome]:
    told = [report for report in table.told if isinstance(report, CommandReport)]
    return [report.outcome for report in told if report.command_id == command_id]


@pytest.mark.parametrize("reached", [False, True])
async def test_f37_a_command_that_moves_cards_is_never_repeated(tmp_path: Path, reached: bool) -> None:  # noqa: FBT001
    """The cable is pulled while it waits in the machine, or while the machine moves."""
    table = Table(tmp_path, patient=not reached)
    table.lock.takes_ms = 3_600_000
    supervisor = table.supervise()
    async with running(supervisor) as state:
        table.plug()
        await until(lambda: state().link is LinkState.UP)
        supervisor.send("shoe", Command(id=1, kind=CommandKind.SHUFFLE))
        await until(lambda: Outcome.STARTED in outcomes(table, 1) if reached else table.firmware.pending_commands == 1)
        for _ in range(3):
            table.port.pull()
            await until(lambda: isinstance(table.told[-1], LinkDown))
            table.plug()
            await until(lambda: state().link is LinkState.UP)
            table.firmware.take_up_commands(0)
        supervisor.send("shoe", Command(id=2, kind=CommandKind.REPORT_STATE))
        await until(lambda: table.firmware.pending_commands > 0 or Outcome.FINISHED in outcomes(table, 2))
        table.port.write(table.firmware.take_up_commands(0))
        await until(lambda: Outcome.FINISHED in outcomes(table, 2))
    assert table.lock.moves == ([CommandKind.SHUFFLE] if reached else [])
    assert outcomes(table, 1).count(Outcome.UNKNOWN) == 1
    assert outcomes(table, 1)[-1] is Outcome.UNKNOWN
    assert Outcome.FINISHED not in outcomes(table, 1)


async def test_f08_a_shoe_put_into_another_port_is_found_and_nothing_is_lost(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held_when_looked_for: list[int] = []

    async def find(port: SerialByProperty) -> str:
        assert port.properties == (("ID_SERIAL_SHORT", "S-1"),)
        held_when_looked_for.append(_open_ptys() - before - table.port.plugged)  # the shoe holds its own end open
        return str(table.port.path)

    before = _open_ptys()
    monkeypatch.setattr(discovery, "find_serial", find)
    supervisor = table.supervise(port="serial:by=ID_SERIAL_SHORT=S-1")
    async with running(supervisor) as state:
        drawn = 0
        for name in ("ttyACM0", "ttyACM1", "ttyACM0"):
            table.plug(tmp_path / name)
            await until(lambda: state().link is LinkState.UP)
            for _ in range(5):
                drawn += 1
                table.draw(drawn)
            await until(lambda: bool(table.facts) and table.facts[-1].fact.draw == drawn)  # type: ignore[union-attr]  # noqa: B023
            table.commit(supervisor)
            table.port.pull()
            await until(lambda: isinstance(table.told[-1], LinkDown))
    assert [report.fact.draw for report in table.facts] == list(range(1, drawn + 1))  # type: ignore[union-attr]
    assert set(held_when_looked_for) == {0}


async def test_what_was_recorded_is_played_back_as_the_same_facts(table: Table, tmp_path: Path) -> None:
    folder = tmp_path / "records"
    supervisor = table.supervise(capture=folder)
    async with running(supervisor) as state:
        for first in (1, CARDS + 1):
            table.plug()
            await until(lambda: state().link is LinkState.UP)
            for draw in range(first, first + CARDS):
                table.draw(draw)
            await until(lambda: len(table.facts) == first + CARDS - 1)  # noqa: B023
            table.commit(supervisor)
            await until(lambda: table.firmware.unacknowledged == 0)
            table.port.pull()
            await until(lambda: isinstance(table.told[-1], LinkDown))
    (file,) = folder.iterdir()
    live = table.told
    ups = [report for report in live if isinstance(report, LinkUp)]

    connections = read_capture(file)
    offline = [
        report for connection in connections for report in replay_reports(TdpDriver(DeviceKind.SHOE, None), connection)
    ]
    assert without_time(offline) == without_time(live)
    assert [report for report in offline if isinstance(report, LinkUp)] == ups

    table.told, table.committed = [], None
    async with running(table.supervise(port=f"replay:{file}")) as state:
        await until(lambda: "played to its end" in (state().sentence or ""))
        assert state().losses == 2
    assert without_time(table.told) == without_time(live)
    assert [report for report in table.told if isinstance(report, LinkUp)] == ups
    assert len(without_time(live)) == 2 * CARDS


async def test_f22_the_line_at_a_loss_names_the_last_frames_and_no_card(table: Table) -> None:
    with capture_logs() as lines:
        async with running(table.supervise()) as state:
            table.plug()
            await until(lambda: state().link is LinkState.UP)
            for draw in range(1, 6):
                table.draw(draw)
            await until(lambda: len(table.facts) == 5)
            table.port.pull()
            await until(lambda: isinstance(table.told[-1], LinkDown))
            await until(lambda: state().link is LinkState.WAITING)
    (loss,) = [line for line in lines if "frames" in line]
    numbers = [report.number for report in table.facts]
    told = [name for name in loss["frames"] if "FACT" in name]
    assert [name.split(" number ")[1] for name in told] == [f"{number} card_drawn" for number in numbers]
    assert "> HELLO" in loss["frames"] or "> ACK" in loss["frames"]
    for card in FULL_DECK:
        assert f"'{card.value}'" not in repr(lines)
        assert card.name not in repr(lines)


async def test_firmware_that_is_not_approved_is_refused_over_the_real_protocol(table: Table) -> None:
    identity = table.firmware.identity
    good = ApprovedFirmware(model=identity.model, version=FIRMWARE_VERSION, hash=identity.firmware_hash.hex().upper())
    async with running(table.supervise(approved=[msgspec.structs.replace(good, hash="00")])) as state:
        table.plug()
        await until(lambda: state().link is LinkState.REFUSED)
        assert identity.firmware_hash.hex() in (state().sentence or "")
    assert table.told == []
    async with running(table.supervise(approved=[good])) as state:
        await until(lambda: state().link is LinkState.UP)


def _open_ptys() -> int:
    return sum("/dev/pts/" in entry for entry in open_fds())
