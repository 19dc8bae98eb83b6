"""The device's sequenced messages under way: at most eight, sent again until they are acknowledged (3.2, 8.1)."""

from collections import deque
from dataclasses import dataclass
from math import ceil
from typing import Final

from drivers.sequence import SEQUENCE_BITS, seq_add, seq_diff
from drivers.tdp.codec.header import WINDOW

FIRST_TIMEOUT_MS: Final = 250
SHORTEST_TIMEOUT_MS: Final = 50
LONGEST_TIMEOUT_MS: Final = 1000
STUCK_MS: Final = 10_000


@dataclass(slots=True)
class UnderWay:
    """A sequenced frame that is not acknowledged yet; `repeated`: its round trip says nothing any more."""

    sequence: int
    kind: int
    payload: bytes
    sent_ms: int
    repeated: bool = False


class RoundTrips:
    """The retransmission timeout, learned from acknowledgements of messages that were sent once."""

    def __init__(self) -> None:
        self._smoothed_ms: float | None = None
        self._deviation_ms = 0.0
        self._backed_off_ms: float | None = None

    @property
    def timeout_ms(self) -> int:
        """How long to wait for an acknowledgement before a frame is sent again."""
        if self._backed_off_ms is not None:
            return round(self._backed_off_ms)
        if self._smoothed_ms is None:
            return FIRST_TIMEOUT_MS
        learned = self._smoothed_ms + 4 * self._deviation_ms
        return round(min(max(learned, SHORTEST_TIMEOUT_MS), LONGEST_TIMEOUT_MS))

    def measured(self, round_trip_ms: int) -> None:
        """An acknowledgement came after so long."""
        if self._smoothed_ms is None:
            self._smoothed_ms, self._deviation_ms = float(round_trip_ms), round_trip_ms / 2
            return
        self._deviation_ms += (abs(self._smoothed_ms - round_trip_ms) - self._deviation_ms) / 4
        self._smoothed_ms += (round_trip_ms - self._smoothed_ms) / 8

    def back_off(self) -> None:
        """Nothing came in time: wait twice as long."""
        self._backed_off_ms = min(2.0 * self.timeout_ms, LONGEST_TIMEOUT_MS)

    def moved_on(self) -> None:
        """Something was acknowledged: what was measured counts again."""
        self._backed_off_ms = None


class Window:
    """`frame_bytes`: of a frame, those that are not payload; `baud`: of its line, on which they take their time."""

    def __init__(self, first_sequence: int, now_ms: int, frame_bytes: int, baud: int) -> None:
        self.next_sequence = first_sequence
        self._frame_bytes = frame_bytes
        self._baud = baud
        self._under_way: deque[UnderWay] = deque()
        self._round_trips = RoundTrips()
        self._progress_ms = now_ms

    def __len__(self) -> int:
        return len(self._under_way)

    @property
    def full(self) -> bool:
        """No further frame may be sent before one is acknowledged."""
        return len(self._under_way) >= WINDOW

    @property
    def wake_at_ms(self) -> int | None:
        """When the oldest frame is to be sent again; None where nothing is under way."""
        if not self._under_way:
            return None
        return min(self._again_ms, self._progress_ms + STUCK_MS)

    @property
    def _again_ms(self) -> int:
        """When all that is under way is sent again; not with nothing under way."""
        size = sum(len(message.payload) + self._frame_bytes for message in self._under_way)
        on_the_line_ms = ceil(size * 10_000 / self._baud)
        return self._under_way[0].sent_ms + self._round_trips.timeout_ms + on_the_line_ms

    def stuck(self, now_ms: int) -> bool:
        """Nothing was acknowledged for so long that the session has come to nothing."""
        return bool(self._under_way) and now_ms - self._progress_ms >= STUCK_MS

    def add(self, kind: int, payload: bytes, now_ms: int) -> UnderWay:
        """A new message takes the next sequence. Not when the window is full."""
        if not self._under_way:
            self._progress_ms = now_ms
        message = UnderWay(self.next_sequence, kind, payload, now_ms)
        self._under_way.append(message)
        self.next_sequence = seq_add(self.next_sequence, 1, SEQUENCE_BITS)
        return message

    def acknowledge(self, expected: int, now_ms: int) -> None:
        """Everything before `expected` has arrived; a number outside the window means nothing."""
        if not self._under_way:
            return
        ahead = seq_diff(expected, self._under_way[0].sequence, SEQUENCE_BITS)
        if not 0 < ahead <= len(self._under_way):
            return
        for _ in range(ahead):
            message = self._under_way.popleft()
            if not message.repeated:
                self._round_trips.measured(now_ms - message.sent_ms)
        self._round_trips.moved_on()
        self._progress_ms = now_ms

    def due_again(self, now_ms: int) -> tuple[UnderWay, ...]:
        """All that is under way, in order, when the oldest has waited too long; else nothing."""
        if not self._under_way or now_ms < self._again_ms:
            return ()
        self._round_trips.back_off()
        for message in self._under_way:
            message.sent_ms = now_ms
            message.repeated = True
        return tuple(self._under_way)
