"""Round trips, and the device's clock on the table's (drivers/tdp/spec.md sections 8.1, 8.2 and 8.5)."""

from collections import deque
from dataclasses import dataclass
from typing import Final, Self

from drivers.sequence import NUMBER_BITS, seq_add

INITIAL_TIMEOUT_MS: Final = 250
SHORTEST_TIMEOUT_MS: Final = 50
LONGEST_TIMEOUT_MS: Final = 1000
CLOCK_WINDOW_MS: Final = 60_000
CLOCK_SAMPLES: Final = 256
DRIFT_PER_MILLION: Final = 100
QUESTIONS_REMEMBERED: Final = 64


class RoundTrips:
    """Smoothed round trip and its deviation; `timeout_ms` is how long to wait before sending something again."""

    def __init__(self) -> None:
        self._smoothed: float | None = None
        self._deviation = 0.0

    def measured(self, round_trip_ms: int) -> None:
        if self._smoothed is None:
            self._smoothed, self._deviation = float(round_trip_ms), round_trip_ms / 2
            return
        self._deviation += (abs(self._smoothed - round_trip_ms) - self._deviation) / 4
        self._smoothed += (round_trip_ms - self._smoothed) / 8

    @property
    def timeout_ms(self) -> int:
        if self._smoothed is None:
            return INITIAL_TIMEOUT_MS
        wanted = round(self._smoothed + 4 * self._deviation)
        return min(max(wanted, SHORTEST_TIMEOUT_MS), LONGEST_TIMEOUT_MS)


def backed_off(timeout_ms: int) -> int:
    """The wait after one more sending without an answer."""
    return min(2 * timeout_ms, LONGEST_TIMEOUT_MS)


@dataclass(frozen=True, slots=True)
class Question:
    """A PING: `due`, the number of the fact that was due when it was sent; None before that was known."""

    at_ms: int
    due: int | None


class Questions:
    """The PINGs that may still be answered, each once."""

    def __init__(self) -> None:
        self._last = 0
        self._open: dict[int, Question] = {}

    def ask(self, question: Question) -> int:
        """The id of the PING."""
        self._last = seq_add(self._last, 1, NUMBER_BITS) or 1
        self._open[self._last] = question
        if len(self._open) > QUESTIONS_REMEMBERED:
            del self._open[next(iter(self._open))]
        return self._last

    def answered(self, ping: int) -> Question | None:
        return self._open.pop(ping, None)


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
