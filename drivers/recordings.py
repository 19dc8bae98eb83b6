"""Reading recorded bytes of a device without talking to it, by the name of its driver.

A package offers a reader beside its driver, under the same name, as an entry point of the group
`firmware_bridge.recordings`: what it names is called without arguments and returns a `Recording`.
"""

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Final, Protocol

from drivers.errors import DriverNameError
from drivers.facts import DeviceFact

GROUP: Final = "firmware_bridge.recordings"
BUILT_IN: Final = {
    "tdp": "drivers.tdp.recording:TdpRecording",
    "angel_eye": "drivers.angel_eye.recording:AngelEyeRecording",
    "angel_eye_with_stx": "drivers.angel_eye.recording:AngelEyeRecording",
}


class Recording(Protocol):
    """Takes what a device once sent, in any pieces. Never raises on any input; `at_ms` is the device's own clock."""

    @property
    def counters(self) -> dict[str, int]:
        """What was passed over, by reason."""
        ...

    def feed(self, data: bytes) -> list[DeviceFact]:
        """The facts that `data` completes, each once and in order."""
        ...

    def end(self) -> list[DeviceFact]:
        """The recording is over: what was still waiting for something before it."""
        ...


def open_recording(name: str) -> Recording:
    """A fresh reader for one recording. Raises DriverNameError where no driver of that name can read one."""
    points = tuple(entry_points(group=GROUP, name=name))
    if name in BUILT_IN:
        points = (EntryPoint(name, BUILT_IN[name], GROUP),)
    if not points:
        known = ", ".join(recording_names())
        raise DriverNameError(f'there is no driver "{name}" that reads recordings: name one of {known}')
    try:
        reader: Callable[[], Recording] = points[0].load()
        return reader()
    except Exception as error:
        raise DriverNameError(
            f'the driver "{name}" does not load ({type(error).__name__}: {error}): install its package again'
        ) from error


def recording_names() -> tuple[str, ...]:
    """Every driver that reads recordings, sorted."""
    return tuple(sorted({*BUILT_IN, *(point.name for point in entry_points(group=GROUP))}))
