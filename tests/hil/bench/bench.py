"""The bench: what it takes to test a device, its state between two tests, and what it has failed at."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from drivers.commands import CommandKind
from drivers.driver import DeviceKind
from drivers.sentences import clause
from drivers.tdp.codec.enums import COMMAND_CODES, StateFlag
from drivers.tdp.host.driver import TdpDriver
from tests.hil.bench.devices import TDP, BenchRefusedError, Device
from tests.hil.bench.frames import FrameLog
from tests.hil.bench.hands import Hands, PersonsHands, SimulatedHands
from tests.hil.bench.hosted import Hosted, NoPortError
from tests.hil.bench.simulated import SimulatedDevices, paired
from tests.hil.bench.terminal import Terminal
from tests.hil.bench.waiting import BenchFaultError, said_by_itself
from tests.hil.bench.wire import Wire

__tracebackhide__ = said_by_itself
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
        try:
            async with Hosted(device, log) as hosted:
                up = await hosted.link_up()
                driver = hosted.driver
                if isinstance(driver, TdpDriver):
                    await hosted.wait(lambda: driver.state is not None, f"the state of the {device.name}")
                    state = driver.state
                    unfit = [why for flag, why in UNFIT.items() if state is not None and state.flags & flag]
                    if unfit:
                        raise BenchRefusedError(f"The {device.name} at {device.port} {unfit[0]}, and start again.")
        except NoPortError as fault:
            raise BenchRefusedError(f"There is no {device.name} to be tested: {fault}.") from None
        except BenchFaultError as fault:
            why = clause(fault)
            raise BenchRefusedError(f"The {device.name} at {device.port} cannot be tested. {why}.") from None
        device.claims, device.boot = up.claims, up.boot
        if device.driver != TDP:
            return
        try:
            await self.bring_to_rest(device.kind, log)
        except BenchFaultError as fault:
            raise BenchRefusedError(f"The {device.name} at {device.port} cannot be brought to rest: {fault}.") from None

    async def bring_to_rest(self, kind: DeviceKind, log: FrameLog) -> None:
        """As `rest`, on a connection of its own. Of devices that speak TDP."""
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


def open_bench(devices: Sequence[Device], folder: Path, *, patience_s: float, hands_free: bool) -> Bench:
    """All that the tests need. Raises NobodyThereError where a person is needed and no terminal is there."""
    real = [device for device in devices if not device.simulated]
    terminal = Terminal() if real and not hands_free else None
    kinds = [device.kind for device in devices if device.simulated]
    others = [device.kind for device in devices if device.driver != TDP]
    keys = {device.kind: device.key for device in devices if device.key is not None}
    return Bench(
        devices={device.kind: device for device in devices},
        simulated=SimulatedDevices(kinds, folder, paired(keys), others) if kinds else None,
        terminal=terminal,
        patience_s=patience_s,
        folder=folder,
    )
