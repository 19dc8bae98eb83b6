"""Reading recorded bytes of a device without talking to it, by the name of its driver.

A package offers a reader beside its driver, under the same name, as an entry point of the group
`firmware_bridge.recordings`: what it names is called without arguments and returns a `Recording`.
"""

from typing import Final, Protocol

from drivers.facts import DeviceFact
from drivers.installed import Installed

RECORDINGS: Final = Installed(
    "firmware_bridge.recordings",
    {
        "tdp": "drivers.tdp.recording:TdpRecording",
        "angel_eye": "drivers.angel_eye.recording:AngelEyeRecording",
        "angel_eye_with_stx": "drivers.angel_eye.recording:AngelEyeRecording",
    },
    " that reads recordings",
)


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


def open_recording(name: str) -> Recording:
    """A fresh reader for one recording. Raises DriverNameError where no driver of that name can read one."""
    recording: Recording = RECORDINGS.make(name)
    return recording
