"""Which firmware runs on which machine of a table."""

from drivers.driver import DeviceKind
from simulator.firmware.device import Firmware
from simulator.firmware.identity import identity
from simulator.firmware.motors import LayoutMotors, Motors, ShoeMotors, ShufflerMotors
from simulator.mechanics.table import SimulatedTable


def firmware_for(table: SimulatedTable, kind: DeviceKind, *, patient: bool = False, power_up: int = 1) -> Firmware:
    """The device of that kind, freshly powered up for the `power_up`th time. `patient` as in Firmware."""
    who = identity(kind, table.equipment.decks, table.streams, power_up)
    return Firmware(who, motors_for(table, kind), patient=patient)


def motors_for(table: SimulatedTable, kind: DeviceKind) -> Motors:
    """What the commands of a device of that kind move."""
    match kind:
        case DeviceKind.SHUFFLER:
            return ShufflerMotors(table.shuffler, table.shoe if table.equipment.rig == "group" else None)
        case DeviceKind.SHOE:
            return ShoeMotors(table.shoe)
        case DeviceKind.LAYOUT:
            return LayoutMotors()
