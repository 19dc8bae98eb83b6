"""Drivers and readers of recordings by the name that the configuration or a command uses.

A package offers a driver as an entry point of the group `firmware_bridge.drivers`: what it names is called with the
kind of device and the serial number expected, or None, and returns a `Driver`. Beside it, under the same name, a
reader of recorded bytes in the group `firmware_bridge.recordings`: called without arguments, it returns a `Recording`.
Nothing is imported before it is asked for.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, Protocol, TypeAlias

from drivers.driver import DeviceKind, Driver
from drivers.errors import DriverNameError
from drivers.facts import DeviceFact

NameFrames: TypeAlias = Callable[[Sequence[tuple[bool, bytes]]], list[str]]
"""Names a connection's frames for a log, "<" or ">" first, and no card; True: the piece came from the device."""


class Recording(Protocol):
    """Takes what a device once sent, in any pieces. Never raises on any input; `at_ms` is the device's own clock."""

    @property
    def counters(self) -> dict[str, int]:
        """What was passed over, by reason."""
        ...

    def feed(self, data: bytes) -> list[DeviceFact]:
        """The facts that `data` completes, each once and in order."""
        ...

    def cut(self) -> list[DeviceFact]:
        """The connection that was recorded ended here, and another follows: what had begun is never finished."""
        ...

    def end(self) -> list[DeviceFact]:
        """The recording is over: what was still waiting for something before it."""
        ...


@dataclass(frozen=True, slots=True)
class Installed:
    """A group of entry points. `ability`: what its drivers can do beyond talking to a device, to be said of none."""

    group: str
    built_in: Mapping[str, str]
    ability: str = ""

    def names(self) -> tuple[str, ...]:
        """Every name that may be used, sorted."""
        return tuple(sorted({*self.built_in, *(point.name for point in entry_points(group=self.group))}))

    def make(self, name: str, *arguments: object) -> Any:
        """What the entry point `name` gives, called with `arguments`.

        Raises DriverNameError where there is none or several, where it cannot be loaded, and what it raises of that
        kind itself.
        """
        point, package = self._find(name)
        try:
            factory: Callable[..., Any] = point.load()
            return factory(*arguments)
        except DriverNameError:
            raise
        except Exception as error:
            raise DriverNameError(
                f'the driver "{name}" of {package} does not load ({type(error).__name__}: {error}): '
                "install that package again, or name another driver"
            ) from error

    def _find(self, name: str) -> tuple[EntryPoint, str]:
        if name in self.built_in:
            return EntryPoint(name, self.built_in[name], self.group), "firmware-bridge"
        points = tuple(entry_points(group=self.group, name=name))
        if not points:
            known = ", ".join(self.names())
            raise DriverNameError(
                f'there is no driver "{name}"{self.ability}: name one of {known}, or install the package that has it'
            )
        if len({point.value for point in points}) > 1:
            packages = " and ".join(sorted(_package(point) for point in points))
            raise DriverNameError(f'the driver "{name}" comes with both {packages}: uninstall all but one')
        return points[0], _package(points[0])


DRIVERS: Final = Installed(
    "firmware_bridge.drivers",
    {
        "tdp": "drivers.tdp.host.driver:TdpDriver",
        "angel_eye": "drivers.angel_eye.driver:AngelEyeDriver",
        "angel_eye_with_stx": "drivers.angel_eye.driver:driver_with_stx",
    },
)
FRAME_NAMERS: Final = {
    "tdp": "drivers.tdp.host.frame_names:name_frames",
    "angel_eye": "drivers.angel_eye.frame_names:name_frames",
    "angel_eye_with_stx": "drivers.angel_eye.frame_names:name_frames",
}
RECORDINGS: Final = Installed(
    "firmware_bridge.recordings",
    {
        "tdp": "drivers.tdp.host.recording:TdpRecording",
        "angel_eye": "drivers.angel_eye.recording:AngelEyeRecording",
        "angel_eye_with_stx": "drivers.angel_eye.recording:AngelEyeRecording",
    },
    " that reads recordings",
)


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


def open_recording(name: str) -> Recording:
    """A fresh reader for one recording. Raises DriverNameError where no driver of that name can read one."""
    recording: Recording = RECORDINGS.make(name)
    return recording


def _name_pieces(pieces: Sequence[tuple[bool, bytes]]) -> list[str]:
    return [f"{'<' if to_host else '>'} {len(data)} bytes" for to_host, data in pieces]


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value
