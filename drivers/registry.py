"""Drivers by the name the configuration uses: the built-in ones, then those of installed packages.

A package offers a driver as an entry point of the group `firmware_bridge.drivers`; what it names is called with the
kind of device and the serial number expected, or None, and returns a `Driver`. Nothing is imported before it is asked
for.
"""

from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Final, TypeAlias

from drivers.driver import DeviceKind, Driver
from drivers.errors import DriverNameError

GROUP: Final = "firmware_bridge.drivers"
BUILT_IN: Final = {
    "tdp": "drivers.tdp.driver:TdpDriver",
    "angel_eye": "drivers.angel_eye.driver:AngelEyeDriver",
    "angel_eye_with_stx": "drivers.angel_eye.driver:driver_with_stx",
}

BUILT_IN_FRAMES: Final = {"tdp": "drivers.tdp.naming:name_frames"}

DriverFactory: TypeAlias = Callable[[DeviceKind, str | None], Driver]
NameFrames: TypeAlias = Callable[[Sequence[tuple[bool, bytes]]], list[str]]
"""Names a connection's frames for a log, "<" or ">" first, and no card; True: the piece came from the device."""


def make_driver(name: str, kind: DeviceKind, serial_number: str | None) -> Driver:
    """A fresh driver for one connection to a device of that kind and, where given, that serial number.

    Raises DriverNameError where no such driver is installed, or it cannot be loaded.
    """
    point, package = _find(name)
    try:
        factory: DriverFactory = point.load()
        driver = factory(kind, serial_number)
    except DriverNameError:
        raise
    except Exception as error:
        raise DriverNameError(
            f'the driver "{name}" of {package} does not load ({type(error).__name__}: {error}): '
            "install that package again, or name another driver in the configuration"
        ) from error
    return driver


def frame_namer(name: str) -> NameFrames:
    """What names the frames of that driver; of one that does not come with the project, pieces by their length."""
    if name not in BUILT_IN_FRAMES:
        return _name_pieces
    namer: NameFrames = EntryPoint(name, BUILT_IN_FRAMES[name], GROUP).load()
    return namer


def _name_pieces(pieces: Sequence[tuple[bool, bytes]]) -> list[str]:
    return [f"{'<' if to_host else '>'} {len(data)} bytes" for to_host, data in pieces]


def driver_names() -> tuple[str, ...]:
    """Every name that the configuration may use, sorted."""
    return tuple(sorted({*BUILT_IN, *(point.name for point in entry_points(group=GROUP))}))


def _find(name: str) -> tuple[EntryPoint, str]:
    if name in BUILT_IN:
        return EntryPoint(name, BUILT_IN[name], GROUP), "firmware-bridge"
    points = tuple(entry_points(group=GROUP, name=name))
    if not points:
        raise DriverNameError(
            f'there is no driver "{name}": name one of {", ".join(driver_names())}, or install the package that has it'
        )
    if len({point.value for point in points}) > 1:
        packages = " and ".join(sorted(_package(point) for point in points))
        raise DriverNameError(f'the driver "{name}" comes with both {packages}: uninstall all but one')
    return points[0], _package(points[0])


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value
