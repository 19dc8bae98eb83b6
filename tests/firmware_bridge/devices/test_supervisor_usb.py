"""The supervisor, the TDP driver and a simulated shoe's firmware, on USB."""

import asyncio
import errno
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from drivers.cards import Card
from drivers.driver import DeviceKind, LinkDown, LinkUp, NumberedFact, Report, Resume
from drivers.facts import CardDrawn
from drivers.transports.ports import usb_port
from drivers.transports.transport import OnData, OnLost, Transport
from drivers.transports.usb import open_usb
from firmware_bridge.config import DeviceConfig
from firmware_bridge.devices.link import BackoffPolicy, DeviceState, LinkState
from firmware_bridge.devices.supervisor import Supervisor
from simulator.firmware.device import Firmware
from simulator.firmware.identity import Identity
from simulator.wires.usb import UsbSocket
from simulator.wires.usb_bus import UsbBus
from tests.drivers.angel_eye.wire import Lock
from tests.drivers.transports.ends.pty_end import until
from tests.drivers.transports.ends.usb_end import identity


def clock() -> int:
    return int(asyncio.get_running_loop().time() * 1000)


class Table:
    """A shoe with its firmware on a USB bus, and what the daemon's side has heard and committed."""

    def __init__(self) -> None:
        self.bus = UsbBus()
        self.firmware = Firmware(
            Identity(kind=DeviceKind.SHOE, serial_number="S-1", boot=b"boot---1", decks=1, clock_offset_ms=5000), Lock()
        )
        self.socket = UsbSocket(self.bus, identity("S-1"), self._from_host)
        self.told: list[Report] = []
        self.committed: Resume | None = None
        self._ticking = asyncio.create_task(self._tick())

    def supervise(self) -> Supervisor:
        device = DeviceConfig(
            name="shoe", kind=DeviceKind.SHOE, driver="tdp", port="usb:serial=S-1", serial_number="S-1"
        )
        pace = BackoffPolicy(first_s=0.01, cap_s=0.02, missing_cap_s=0.02, refused_s=0.05)
        return Supervisor(
            [device],
            clock,
            lambda _, report: self.told.append(report),
            lambda _: self.committed,
            backoff=pace,
            open_port=self._open,
        )

    async def _open(self, port_text: str, on_data: OnData, on_lost: OnLost) -> Transport:
        port = usb_port(port_text, port_text.removeprefix("usb:"))
        return await open_usb(port, on_data, on_lost, self.bus)

    def draw(self, number: int) -> None:
        drawn = CardDrawn(at_ms=clock(), draw=number, card=list(Card)[number % 52], face="down")
        self.socket.write(self.firmware.report(drawn, clock()))

    def plug(self, port: int, inward: int) -> None:
        """Into that port of the bus, with endpoints that the device's system numbered anew."""
        self.socket.identity = replace(self.socket.identity, ports=(port,), inward=inward)
        self.socket.plug()
        self.firmware.plugged_in()

    @property
    def draws(self) -> list[int]:
        facts = [report.fact for report in self.told if isinstance(report, NumberedFact)]
        return [fact.draw for fact in facts if isinstance(fact, CardDrawn)]

    async def close(self) -> None:
        self._ticking.cancel()
        self.socket.pull()

    def _from_host(self, data: bytes) -> None:
        self.socket.write(self.firmware.receive(data, clock()))

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(0.005)
            self.socket.write(self.firmware.tick(clock()))


@pytest.fixture
async def table() -> AsyncIterator[Table]:
    table = Table()
    yield table
    await table.close()


@asynccontextmanager
async def running(supervisor: Supervisor) -> AsyncIterator[Callable[[], DeviceState]]:
    task = asyncio.create_task(supervisor.run())
    yield lambda: supervisor.state()["shoe"]
    task.cancel()
    await asyncio.wait([task])


async def test_facts_pass_once_and_in_order_from_port_to_port(table: Table) -> None:
    supervisor = table.supervise()
    async with running(supervisor) as state:
        drawn = 0
        for turn, code in enumerate((errno.ENODEV, errno.EIO, errno.ENODEV), 1):
            for _ in range(5):
                drawn += 1
                table.draw(drawn)
            table.plug(port=turn, inward=0x84 + turn)
            await until(lambda: state().link is LinkState.UP)
            for _ in range(20):
                drawn += 1
                table.draw(drawn)
            await until(lambda: table.draws[-1:] == [drawn])  # noqa: B023
            newest = [report for report in table.told if isinstance(report, NumberedFact)][-1]
            table.committed = Resume(newest.boot, newest.number)
            table.socket.pull(code)
            await until(lambda: isinstance(table.told[-1], LinkDown))
    assert table.draws == list(range(1, drawn + 1))
    assert [report.gap for report in table.told if isinstance(report, LinkUp)] == [False] * 3
    assert not table.bus.handles


async def test_twins_are_refused_and_both_named_until_one_is_unplugged(table: Table) -> None:
    table.plug(port=1, inward=0x81)
    twin = table.bus.plug(identity("S-1", ports=(4,)), lambda _: None)
    async with running(table.supervise()) as state:
        await until(lambda: state().link is LinkState.WAITING)
        assert "at path 1-1 and 1209:0002 serial S-1 at path 1-4" in (state().sentence or "")
        table.bus.pull(twin)
        await until(lambda: state().link is LinkState.UP)
    assert not table.bus.handles
