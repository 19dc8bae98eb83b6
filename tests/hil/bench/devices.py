"""What stands on the bench: the devices named on the command line, and what was found where they were said to be."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from drivers.driver import Claims, DeviceKind
from drivers.errors import DriverNameError, PortNameError
from drivers.plugins import make_driver
from drivers.transports.ports import parse_port
from firmware_bridge.secret_files import KeyFileError, read_secret

SIMULATED: Final = "sim"
TDP: Final = "tdp"
IN_THE_SIMULATOR: Final = (TDP, "angel_eye")
FORM: Final = (
    "write --device KIND=PORT, such as --device shuffler=serial:/dev/ttyACM0 or --device shoe=usb:serial=S-1, "
    "or --device KIND=sim for the simulator's"
)
KINDS: Final = {kind.value: kind for kind in DeviceKind}


class BenchRefusedError(Exception):
    """The bench cannot be tested as it is; one sentence says why, and what to do."""


@dataclass(slots=True)
class Device:
    """One device of the bench. `claims` and `boot` are those of the last look at it, None before it was found.

    `driver`: what talks to it, as the daemon's configuration names it. `key_file`: where `key` stands, which nothing
    copies.
    """

    kind: DeviceKind
    port: str
    simulated: bool
    driver: str = TDP
    key: bytes | None = field(default=None, repr=False)
    key_file: Path | None = None
    claims: Claims | None = None
    boot: str | None = None

    @property
    def name(self) -> str:
        return self.kind.value


def read_devices(
    devices: Sequence[str], keys: Sequence[str], folder: Path, drivers: Sequence[str] = ()
) -> list[Device]:
    """The devices of the options `--device`, `--key` and `--driver`; simulated ones get a port in `folder`, and hold
    their key.

    Raises BenchRefusedError.
    """
    if not devices:
        raise BenchRefusedError(f"No device is named, and none is ever guessed: {FORM}.")
    found: dict[DeviceKind, Device] = {}
    for text in devices:
        device = _device(text, folder)
        if device.kind in found:
            raise BenchRefusedError(f"There are two devices of the kind {device.name}: name one of each kind.")
        place = parse_port(device.port).place
        twin = next((other for other in found.values() if parse_port(other.port).place == place), None)
        if twin is not None:
            raise BenchRefusedError(f"{twin.name} and {device.name} have one and the same port {place}: correct one.")
        found[device.kind] = device
    for text in keys:
        kind, _, file = text.partition("=")
        if kind not in KINDS or KINDS[kind] not in found or not file:
            raise BenchRefusedError(f'"--key {text}" cannot be read: write --key KIND=FILE for a device that is named.')
        device = found[KINDS[kind]]
        if device.key is not None:
            raise BenchRefusedError(f"There are two keys for the {kind}: name one.")
        device.key, device.key_file = _key(Path(file)), Path(file).absolute()
        twin = next((other for other in found.values() if other is not device and other.key == device.key), None)
        if twin is not None:
            raise BenchRefusedError(f"{twin.name} and {device.name} have one and the same key: correct one.")
    for text in drivers:
        kind, _, name = text.partition("=")
        if kind not in KINDS or KINDS[kind] not in found or not name:
            raise BenchRefusedError(
                f'"--driver {text}" cannot be read: write --driver KIND=NAME for a device that is named.'
            )
        _take_driver(found[KINDS[kind]], name)
    return list(found.values())


def _take_driver(device: Device, name: str) -> None:
    try:
        make_driver(name, device.kind, None)
    except DriverNameError as error:
        raise BenchRefusedError(f'"--driver {device.name}={name}" cannot be used: {error}.') from error
    if device.simulated and name not in IN_THE_SIMULATOR:
        raise BenchRefusedError(f"The simulator has no {device.name} for the driver {name}: name a port.")
    device.driver = name


def _device(text: str, folder: Path) -> Device:
    name, _, port = text.partition("=")
    if name not in KINDS:
        kinds = ", ".join(KINDS)
        raise BenchRefusedError(f'"--device {text}" names no kind of device ({kinds}): {FORM}.')
    if port == SIMULATED:
        return Device(KINDS[name], f"serial:{folder / name}", simulated=True)
    try:
        parse_port(port)
    except PortNameError as error:
        raise BenchRefusedError(f'"--device {text}" cannot be read: {error}.') from error
    if port.startswith("replay:"):
        raise BenchRefusedError(f'"--device {text}" is a recording: a bench needs something that answers.')
    return Device(KINDS[name], port, simulated=False)


def _key(file: Path) -> bytes:
    try:
        return read_secret(file)
    except (KeyFileError, OSError) as error:
        raise BenchRefusedError(f"The key of {file} cannot be used: {error}.") from error
