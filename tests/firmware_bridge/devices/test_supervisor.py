import asyncio

import pytest
from pytest_mock import MockerFixture
from structlog.testing import capture_logs

from drivers.commands import Command, CommandKind
from drivers.driver import DeviceKind, LinkDown, LinkUp
from drivers.errors import DriverNameError, PortNameError
from drivers.transports.null_modem import NullModemEnd
from firmware_bridge.config import DeviceConfig
from firmware_bridge.devices.link import LinkState
from firmware_bridge.devices.supervisor import Supervisor
from tests.drivers.transports.ends.pty_end import until
from tests.firmware_bridge.devices.ends.claims import CLAIMS
from tests.firmware_bridge.devices.ends.line_driver import Hall

UP = LinkUp(claims=CLAIMS, boot="A", gap=False)
LOCK = Command(id=5, kind=CommandKind.LOCK)


async def connect(hall: Hall, boot: str = "A", generation: int = 1) -> None:
    await until(lambda: len(hall.ports.far) == generation)
    hall.far.say(f"up {boot}")
    await until(lambda: hall.state.link is LinkState.UP)


def shoe(**changes: str) -> DeviceConfig:
    fields = {"name": "shoe", "driver": "tdp", "port": "serial:/dev/ttyACM0"} | changes
    return DeviceConfig(kind=DeviceKind.SHOE, **fields)


def test_two_devices_on_one_port_are_refused() -> None:
    with pytest.raises(PortNameError, match='devices "shoe" and "other" both have the port /dev/ttyACM0: give each'):
        Supervisor(
            [shoe(), shoe(name="other", port="serial:/dev/./ttyACM0@9600")], lambda: 0, lambda *_: None, lambda _: None
        )


def test_a_port_or_driver_that_cannot_be_read_is_refused_at_once() -> None:
    with pytest.raises(PortNameError, match="/dev/ttyACM0"):
        Supervisor([shoe(port="/dev/ttyACM0")], lambda: 0, lambda *_: None, lambda _: None)
    with pytest.raises(DriverNameError, match='no driver "tpd"'):
        Supervisor([shoe(driver="tpd")], lambda: 0, lambda *_: None, lambda _: None)


async def test_no_card_is_ever_in_a_log_line() -> None:
    hall = Hall()
    with capture_logs() as lines:
        async with hall:
            await connect(hall)
            hall.far.say("draw 1 Qh", "draw 2 Td")
            await until(lambda: len(hall.told) == 3)
            hall.far.say("raise Qh")
            await connect(hall, generation=2)
    facts = [line for line in lines if line["event"] == "device_fact"]
    assert [(line["fact"], line["number"]) for line in facts] == [("card_drawn", 1), ("card_drawn", 2)]
    for card in ("Qh", "Td", "QUEEN", "TEN"):
        assert card not in repr(lines)


async def test_stopping_closes_the_port_and_tells_nothing() -> None:
    hall = Hall()
    async with hall:
        await connect(hall)
        hall.supervisor.send("shoe", LOCK)
        await hall.stop()
        assert hall.ports.open_now == 0
        assert hall.told == [UP]
        hall.supervisor.durable("shoe", 1, "A")
        hall.supervisor.ask("shoe")


async def test_f10_the_end_is_told_even_if_the_port_does_not_close(mocker: MockerFixture) -> None:
    hall = Hall()
    async with hall:
        await connect(hall)
        close = mocker.patch.object(NullModemEnd, "close", side_effect=OSError("no"))
        hall.far.end.hang_up()
        await until(lambda: close.call_count > 0)
        mocker.stopall()
        await connect(hall, "B", generation=2)
        assert [type(report) for report in hall.told] == [LinkUp, LinkDown, LinkUp]
        assert hall.state.faults == 1


async def test_f10_stopping_does_not_wait_for_a_port_that_hangs(mocker: MockerFixture) -> None:
    mocker.patch("firmware_bridge.devices.connection.CLOSE_TIMEOUT_S", 0.01)
    hall = Hall()
    mocker.patch.object(NullModemEnd, "close", side_effect=asyncio.Event().wait)
    async with hall:
        await connect(hall)
        await hall.stop()
        assert hall.task is not None
        assert hall.task.cancelled()
