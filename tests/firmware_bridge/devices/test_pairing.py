"""Pairing over a wire in memory: how it ends where it cannot go on."""

import asyncio
import os

import pytest

from drivers.driver import DeviceKind
from drivers.errors import LinkLost
from drivers.tdp.host.pairing import Compare
from drivers.transports.null_modem import null_modem
from drivers.transports.transport import OnData, OnLost, Transport
from firmware_bridge.config import DeviceConfig
from firmware_bridge.devices.pairing import PairingFailed, pair
from simulator.firmware.device import Firmware
from simulator.firmware.device_auth import DeviceAuth
from simulator.firmware.identity import Identity
from tests.drivers.tdp.wire import Machine


def now_ms() -> int:
    return int(asyncio.get_running_loop().time() * 1000)


async def test_what_asking_the_person_raises_ends_it() -> None:
    near, far = null_modem()
    guard = DeviceAuth(os.urandom)
    firmware = Firmware(Identity(DeviceKind.SHOE, "S-1", b"boot---1", 1, 5000), Machine(), guard)
    firmware.pairing.enter(now_ms())
    device_end = far.attach(lambda data: device_end.write(firmware.receive(data, now_ms())), lambda _: None)

    async def open_port(port_text: str, on_data: OnData, on_lost: OnLost) -> Transport:
        return near.attach(on_data, on_lost)

    async def ask(compare: Compare) -> bool:
        raise RuntimeError("no screen")

    device = DeviceConfig(name="shoe", kind=DeviceKind.SHOE, driver="tdp", port="serial:/dev/x", key="k")
    async with asyncio.timeout(20):
        with pytest.raises(RuntimeError, match="no screen"):
            await pair(device, open_port, ask)
    assert guard.key is None


async def test_a_port_lost_on_the_way_is_told_and_let_go() -> None:
    closed: list[bool] = []

    class Lost:
        def __init__(self, transport: Transport, on_lost: OnLost) -> None:
            self._transport = transport
            asyncio.get_running_loop().call_soon(on_lost, LinkLost("the cable was pulled: plug it in"))

        def write(self, data: bytes) -> None:
            self._transport.write(data)

        async def close(self) -> None:
            closed.append(True)

    async def open_port(port_text: str, on_data: OnData, on_lost: OnLost) -> Transport:
        near, _ = null_modem()
        return Lost(near.attach(on_data, on_lost), on_lost)

    async def ask(compare: Compare) -> bool:
        raise AssertionError(compare)

    device = DeviceConfig(name="shoe", kind=DeviceKind.SHOE, driver="tdp", port="serial:/dev/x", key="k")
    with pytest.raises(PairingFailed, match=r"cable was pulled: plug it in: the device was not paired\."):
        await pair(device, open_port, ask)
    assert closed == [True]
