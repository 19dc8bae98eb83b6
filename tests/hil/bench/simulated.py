"""The simulator's devices on a bench: on ptys, in a thread of their own, there for the whole run as real ones are."""

import asyncio
import threading
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from drivers.driver import DeviceKind
from drivers.facts import DeviceFact
from simulator.firmware.angel_eye import AngelEyeFirmware
from simulator.firmware.device import Firmware
from simulator.firmware.firmware_factory import firmware_for, motors_for
from simulator.firmware.realtime_device import RealtimeDevice
from simulator.mechanics.table import Equipment, SimulatedTable
from simulator.mechanics.world import RandomStreams
from simulator.wires.pty import PtyPort

MakeFirmware: TypeAlias = Callable[[SimulatedTable, DeviceKind, int], Firmware]
"""The firmware of a device of that table that is switched on for the so-manieth time."""

ANSWER_S: Final = 10.0
SEED: Final = 1


def fitted(table: SimulatedTable, kind: DeviceKind, power_up: int) -> Firmware:
    return firmware_for(table, kind, power_up=power_up)


def paired(keys: Mapping[DeviceKind, bytes]) -> MakeFirmware:
    """Devices that keep the key that they were paired with over their power-ups."""

    def make(table: SimulatedTable, kind: DeviceKind, power_up: int) -> Firmware:
        firmware = fitted(table, kind, power_up)
        firmware.guard.key = keys.get(kind)
        return firmware

    return make


class AngelEyeShoe:
    """A simulated shoe that speaks the Angel Eye protocol, on a pty, used like a `RealtimeDevice`."""

    def __init__(self, table: SimulatedTable, path: Path) -> None:
        self._firmware = AngelEyeFirmware(motors_for(table, DeviceKind.SHOE))
        self._port = PtyPort(path, self._received)

    def plug(self) -> None:
        self._port.plug()
        self._port.write(self._firmware.switched_on())

    def pull(self) -> None:
        self._port.pull()

    def happened(self, fact: DeviceFact) -> None:
        self._port.write(self._firmware.report(fact))

    def close(self) -> None:
        self._port.pull()

    def _received(self, data: bytes) -> None:
        self._port.write(self._firmware.receive(data))


class SimulatedDevices:
    """Every method may be called from any thread, and has taken effect when it comes back.

    `other_drivers`: those of `kinds` that do not speak TDP.
    """

    def __init__(
        self,
        kinds: Collection[DeviceKind],
        folder: Path,
        make: MakeFirmware = fitted,
        other_drivers: Collection[DeviceKind] = (),
    ) -> None:
        self._make = make
        self._folder = folder
        self._began_s = time.monotonic()
        self._table = SimulatedTable(Equipment(rig="group", decks=2), RandomStreams(SEED), self._now_ms, self._moved)
        self._other_drivers = other_drivers
        self._devices: dict[DeviceKind, RealtimeDevice | AngelEyeShoe] = {}
        self._power_ups = dict.fromkeys(kinds, 0)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="simulated devices", daemon=True)
        self._thread.start()
        for kind in kinds:
            self.switch_on(kind)

    def happened(self, kind: DeviceKind, fact: DeviceFact) -> None:
        """The device's sensors see it."""
        self._do(lambda: self._devices[kind].happened(fact))

    def pull(self, kind: DeviceKind) -> None:
        self._do(lambda: self._devices[kind].pull())

    def plug(self, kind: DeviceKind) -> None:
        self._do(lambda: self._devices[kind].plug())

    def switch_on(self, kind: DeviceKind) -> None:
        """Off before, where it was on: what it remembered is gone."""

        def anew() -> None:
            if kind in self._devices:
                self._devices[kind].close()
            self._power_ups[kind] += 1
            self._devices[kind] = self._switched_on(kind)
            self._devices[kind].plug()

        self._do(anew)

    def _switched_on(self, kind: DeviceKind) -> RealtimeDevice | AngelEyeShoe:
        path = self._folder / kind.value
        if kind in self._other_drivers:
            return AngelEyeShoe(self._table, path)
        firmware = self._make(self._table, kind, self._power_ups[kind])
        return RealtimeDevice(firmware, path, PtyPort, self._now_ms, lambda: None)

    def close(self) -> None:
        for device in self._devices.values():
            self._do(device.close)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(ANSWER_S)
        self._loop.close()

    def _do(self, act: Callable[[], None]) -> None:
        async def done() -> None:
            act()

        asyncio.run_coroutine_threadsafe(done(), self._loop).result(ANSWER_S)

    def _moved(self, kind: DeviceKind, fact: DeviceFact) -> None:
        """A command made the machine do something by itself."""
        self._devices[kind].happened(fact)

    def _now_ms(self) -> int:
        return int((time.monotonic() - self._began_s) * 1000)
