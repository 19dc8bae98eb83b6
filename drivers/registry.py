"""Drivers by the name that the configuration uses.

A package offers a driver as an entry point of the group `firmware_bridge.drivers`; what it names is called with the
kind of device and the serial number expected, or None, and returns a `Driver`.
"""

from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint
from typing import Final, TypeAlias

from drivers.driver import DeviceKind, Driver
from drivers.installed import Installed

DRIVERS: Final = Installed(
    "firmware_bridge.drivers",
    {
        "tdp": "drivers.tdp.driver:TdpDriver",
        "angel_eye": "drivers.angel_eye.driver:AngelEyeDriver",
        "angel_eye_with_stx": "drivers.angel_eye.driver:driver_with_stx",
    },
)
FRAME_NAMERS: Final = {
    "tdp": "drivers.tdp.naming:name_frames",
    "angel_eye": "drivers.angel_eye.naming:name_frames",
    "angel_eye_with_stx": "drivers.angel_eye.naming:name_frames",
}

NameFrames: TypeAlias = Callable[[Sequence[tuple[bool, bytes]]], list[str]]
"""Names a connection's frames for a log, "<" or ">" first, and no card; True: the piece came from the device."""


def make_driver(name: str, kind: DeviceKind, serial_number: str | None) -> Driver:
    """A fresh driver for one connection to a device of that kind and, where given, that serial number.

    Raises DriverNameError where no such driver is installed, it cannot be loaded, or it is for other devices.
    """
    driver: Driver = DRIVERS.make(name, kind, serial_number)
    return driver


def frame_namer(name: str) -> NameFrames:
    """What names the frames of that driver; of one that does not come with the project, pieces by their length."""
    if name not in FRAME_NAMERS:
        return _name_pieces
    namer: NameFrames = EntryPoint(name, FRAME_NAMERS[name], DRIVERS.group).load()
    return namer


def _name_pieces(pieces: Sequence[tuple[bool, bytes]]) -> list[str]:
    return [f"{'<' if to_host else '>'} {len(data)} bytes" for to_host, data in pieces]
