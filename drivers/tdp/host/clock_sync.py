"""The device's clock on the table's (drivers/tdp/spec.md section 8.5)."""

from collections import deque
from dataclasses import dataclass
from typing import Final, Self

CLOCK_WINDOW_MS: Final = 60_000
CLOCK_SAMPLES: Final = 256
DRIFT_PER_MILLION: Final = 100


@dataclass(frozen=True, slots=True)
class _Sample:
    """`doubled` is twice (device clock - table clock), so that the middle of a round trip stays an integer."""

    at_ms: int
    doubled: int
    round_trip_ms: int

    def doubled_error(self, now_ms: int) -> int:
        return self.round_trip_ms + 2 * (now_ms - self.at_ms) * DRIFT_PER_MILLION // 1_000_000

    def no_better_than(self, newer: Self) -> bool:
        """Now and for ever: the errors of both grow alike."""
        lead = (newer.round_trip_ms - self.round_trip_ms) * 1_000_000
        return lead <= 2 * (newer.at_ms - self.at_ms) * DRIFT_PER_MILLION


class ClockMap:
    """Where the device's clock stands on the table's, by the best round trip of the last minute."""

    def __init__(self) -> None:
        self._samples: deque[_Sample] = deque(maxlen=CLOCK_SAMPLES)  # each better than all after it, and older
        self._best: _Sample | None = None

    def measured(self, *, sent_ms: int, arrived_ms: int, device_ms: int) -> None:
        """The device read `device_ms` off its clock between the table's `sent_ms` and `arrived_ms`."""
        new = _Sample(arrived_ms, 2 * device_ms - sent_ms - arrived_ms, arrived_ms - sent_ms)
        if self._best is not None:
            allowed = new.doubled_error(arrived_ms) + self._best.doubled_error(arrived_ms) + 2
            if abs(new.doubled - self._best.doubled) > allowed:
                self._samples.clear()  # the device's clock was set: what was measured before is worth nothing
        while self._samples and self._samples[-1].no_better_than(new):
            self._samples.pop()
        self._samples.append(new)
        while arrived_ms - self._samples[0].at_ms > CLOCK_WINDOW_MS:
            self._samples.popleft()
        self._best = self._samples[0]

    def table_ms(self, device_ms: int) -> int:
        """The best estimate; before the first measurement the device's own number."""
        if self._best is None:
            return device_ms
        return (2 * device_ms - self._best.doubled) // 2
