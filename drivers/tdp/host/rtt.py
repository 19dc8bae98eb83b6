"""Round trips, and how long to wait for an answer (drivers/tdp/spec.md sections 8.1 and 8.2)."""

from dataclasses import dataclass
from typing import Final

from drivers.sequence import NUMBER_BITS, seq_add

INITIAL_TIMEOUT_MS: Final = 250
SHORTEST_TIMEOUT_MS: Final = 50
LONGEST_TIMEOUT_MS: Final = 1000
QUESTIONS_REMEMBERED: Final = 64


class RoundTrips:
    """Smoothed round trip and its deviation; `timeout_ms` is how long to wait before sending something again."""

    def __init__(self) -> None:
        self._smoothed: float | None = None
        self._deviation = 0.0

    def measured(self, round_trip_ms: int) -> None:
        """An answer came after so long."""
        if self._smoothed is None:
            self._smoothed, self._deviation = float(round_trip_ms), round_trip_ms / 2
            return
        self._deviation += (abs(self._smoothed - round_trip_ms) - self._deviation) / 4
        self._smoothed += (round_trip_ms - self._smoothed) / 8

    @property
    def timeout_ms(self) -> int:
        """Smoothed round trip and four deviations, within bounds; a guess before the first measurement."""
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
        """The PING of that id, once; None where it was not asked or is answered already."""
        return self._open.pop(ping, None)
