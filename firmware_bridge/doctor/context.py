"""What every check is given: the machine, the service, and the configuration as far as it can be read."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from drivers.errors import PortNameError
from drivers.transports.ports import Port, SerialByProperty, SerialPort, parse_port
from firmware_bridge.config import Config, ConfigError, DeviceConfig, load_config
from firmware_bridge.doctor.devices import SerialLine, resolved, serial_line, serial_lines
from firmware_bridge.doctor.machine import Machine
from firmware_bridge.doctor.unit import Unit, installed_unit


@dataclass(frozen=True, slots=True)
class DoctorContext:
    """`config` is None where it cannot be used; then `trouble` says why."""

    machine: Machine
    file: Path
    config: Config | None
    trouble: str
    unit: Unit

    def ports(self) -> Iterator[tuple[DeviceConfig, Port]]:
        """The configured devices whose port can be read."""
        for device in self.config.devices if self.config is not None else ():
            try:
                yield device, parse_port(device.port)
            except PortNameError:
                continue  # the check of the configuration tells it

    def nodes(self, port: Port) -> list[str]:
        """The device nodes that a serial port leads to now; other kinds of port have none."""
        match port:
            case SerialPort(path=path):
                node = resolved(self.machine, path)
                return [] if node is None else [node]
            case SerialByProperty(properties=properties):
                wanted = set(properties)
                lines = serial_lines(self.machine)
                return [line.node for line in lines if wanted <= set(line.properties.items())]
            case _:
                return []

    def lines(self) -> Iterator[tuple[DeviceConfig, SerialLine]]:
        """The configured serial devices that are plugged in."""
        for device, port in self.ports():
            for node in self.nodes(port):
                if (line := serial_line(self.machine, node)) is not None:
                    yield device, line


def context_of(machine: Machine, file: Path) -> DoctorContext:
    """What the checks look at: the machine, its service, and the configuration as far as it can be read."""
    unit = installed_unit(machine)
    try:
        return DoctorContext(machine, file, load_config(file), "", unit)
    except ConfigError as error:
        return DoctorContext(machine, file, None, str(error), unit)
