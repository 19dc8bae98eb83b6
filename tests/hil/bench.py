"""The bench: what it takes to test a device, its state between two tests, and what it has failed at."""

import asyncio
import secrets
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from drivers.commands import CommandKind
from drivers.driver import DeviceKind, LinkDown, LinkUp, Step
from drivers.errors import LinkError
from drivers.tdp.codes import COMMAND_CODES, StateFlag
from drivers.tdp.driver import TdpDriver
from drivers.transports.opening import open_transport
from drivers.transports.transport import Transport
from tests.hil.devices import BenchRefusedError, Device
from tests.hil.frames import FrameLog
from tests.hil.hands import Hands, PersonsHands, SimulatedHands
from tests.hil.simulated import SimulatedDevices, paired
from tests.hil.terminal import Terminal
from tests.hil.waiting import BenchFaultError
from tests.hil.wire import NONCE_BYTES, Wire

LOOK_S: Final = 0.01
UNFIT: Final = {
    StateFlag.JAMMED: "is jammed: clear the jam",
    StateFlag.DOOR_OPEN: "has its door open: shut it",
    StateFlag.MOVING: "is moving cards: wait until it has ended",
    StateFlag.TRAY_FILLED: "has cards in its tray: take them out",
}


@dataclass(slots=True)
class Bench:
    """`broken`: why a device is not tested any more, by its kind: a bench that failed once is not tried again.

    `talked`: devices that a test has really had an answer from. `terminal` is None where nobody is asked.
    """

    devices: dict[DeviceKind, Device]
    simulated: SimulatedDevices | None
    terminal: Terminal | None
    patience_s: float
    folder: Path
    broken: dict[DeviceKind, str] = field(default_factory=dict)
    talked: set[DeviceKind] = field(default_factory=set)

    def hands(self, kind: DeviceKind) -> Hands:
        """Whoever can reach the device. Raises BenchRefusedError where nobody can be asked."""
        if self.devices[kind].simulated and self.simulated is not None:
            return SimulatedHands(self.simulated)
        if self.terminal is None:
            raise BenchRefusedError("There is no terminal, and nobody to be asked at it.")
        return PersonsHands(self.terminal, self.patience_s)

    async def look(self, device: Device, log: FrameLog) -> None:
        """Find it, know it, bring it to rest, and see that it can be tested. Raises BenchRefusedError."""
        await _Look(device, log).done()
        try:
            await self.bring_to_rest(device.kind, log)
        except BenchFaultError as fault:
            raise BenchRefusedError(f"The {device.name} at {device.port} cannot be brought to rest: {fault}.") from None

    async def bring_to_rest(self, kind: DeviceKind, log: FrameLog) -> None:
        """As `rest`, on a connection of its own."""
        async with Wire(self.devices[kind], log) as wire:
            await rest(wire)

    def close(self) -> None:
        if self.simulated is not None:
            self.simulated.close()
        if self.terminal is not None:
            self.terminal.close()


async def rest(wire: Wire) -> None:
    """Nothing of an earlier test is left in the device: every fact is told, nothing is locked or stopped."""
    _, _, state = await wire.begin()
    await wire.settle()
    for flag, command in ((StateFlag.LOCKED, CommandKind.UNLOCK), (StateFlag.STOPPED, CommandKind.RESUME)):
        if state.flags & flag:
            await wire.command(COMMAND_CODES[command])


class _Look:
    """One session of the project's own driver with a device, as the daemon would have it."""

    def __init__(self, device: Device, log: FrameLog) -> None:
        self._device = device
        self._log = log
        self._connection = log.opened(device.name)
        self._driver = TdpDriver(device.kind, None)
        self._transport: Transport | None = None
        self._steps: deque[Step] = deque()
        self._up: LinkUp | None = None
        self._why_not: str | None = None

    async def done(self) -> None:
        device = self._device
        try:
            self._transport = await open_transport(device.port, self._arrived, lambda error: self._end(str(error)))
        except LinkError as error:
            raise BenchRefusedError(f"There is no {device.name} to be tested: {error}.") from error
        try:
            nonce = secrets.token_bytes(NONCE_BYTES)
            self._take(self._driver.opened(nonce=nonce, key=device.key, resume=None, now_ms=_now_ms()))
            while self._why_not is None and (self._up is None or self._driver.state is None):
                await asyncio.sleep(LOOK_S)
                if self._driver.wake_at_ms is not None and self._driver.wake_at_ms <= _now_ms():
                    self._take(self._driver.tick(_now_ms()))
        finally:
            await self._transport.close()
        if self._up is None or self._driver.state is None:
            raise BenchRefusedError(f"The {device.name} at {device.port} cannot be tested. {self._why_not}")
        for flag, why in UNFIT.items():
            if self._driver.state.flags & flag:
                raise BenchRefusedError(f"The {device.name} at {device.port} {why}, and start again.")
        device.claims, device.boot = self._up.claims, self._up.boot

    def _arrived(self, data: bytes) -> None:
        self._log.note(self._device.name, self._connection, data, to_host=True)
        self._take(self._driver.receive(data, _now_ms()))

    def _take(self, step: Step) -> None:
        if self._transport is not None and step.to_send:
            self._log.note(self._device.name, self._connection, step.to_send, to_host=False)
            self._transport.write(step.to_send)
        for report in step.reports:
            if isinstance(report, LinkUp):
                self._up = report
            elif isinstance(report, LinkDown):
                self._end(report.reason)

    def _end(self, why: str) -> None:
        self._why_not = self._why_not or why


def _now_ms() -> int:
    return int(time.monotonic() * 1000)


def open_bench(devices: Sequence[Device], folder: Path, *, patience_s: float, hands_free: bool) -> Bench:
    """All that the tests need. Raises NobodyThereError where a person is needed and no terminal is there."""
    real = [device for device in devices if not device.simulated]
    terminal = Terminal() if real and not hands_free else None
    kinds = [device.kind for device in devices if device.simulated]
    keys = {device.kind: device.key for device in devices if device.key is not None}
    return Bench(
        devices={device.kind: device for device in devices},
        simulated=SimulatedDevices(kinds, folder, paired(keys)) if kinds else None,
        terminal=terminal,
        patience_s=patience_s,
        folder=folder,
    )
