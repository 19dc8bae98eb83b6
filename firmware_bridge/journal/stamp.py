"""When a row was written, as far as this machine can know it."""

import ctypes
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_TIME_ERROR: Final = 5  # adjtimex(2): the clock is not synchronised
_TIMEX_BYTES: Final = 512  # more than any struct timex
_SYNCHRONISED: Final = Path("/run/systemd/timesync/synchronized")


@dataclass(frozen=True, slots=True)
class Stamp:
    """`monotonic_ms` counts within `host_boot` alone; `wall_ms` is Unix time and may step."""

    host_boot: str
    monotonic_ms: int
    wall_ms: int
    clock_synced: bool


def read_host_boot() -> str:
    """The kernel's id of this boot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


class HostClock:
    """Stamps of this machine. `synchronised`: there once systemd's own time client has set the clock."""

    def __init__(self, synchronised: Path = _SYNCHRONISED) -> None:
        self._synchronised = synchronised
        self._host_boot = read_host_boot()
        self._libc = ctypes.CDLL(None)

    def __call__(self) -> Stamp:
        """This machine's clocks, as of now."""
        return Stamp(
            host_boot=self._host_boot,
            monotonic_ms=time.monotonic_ns() // 1_000_000,
            wall_ms=time.time_ns() // 1_000_000,
            clock_synced=self._synced(),
        )

    def _synced(self) -> bool:
        # A struct timex of zeros asks and sets nothing. A sandbox forbids even that, with -1.
        state: int = self._libc.adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))
        return self._synchronised.exists() if state == -1 else state != _TIME_ERROR
