"""Time and chance. One seed makes a world; each part draws from a stream of its own, so that a new part shifts none."""

import heapq
import random
from collections.abc import Callable
from typing import Final


class RandomStreams:
    """Streams of randomness derived from one seed by name."""

    def __init__(self, seed: int) -> None:
        self.seed: Final = seed
        self._streams: dict[str, random.Random] = {}

    def stream(self, name: str) -> random.Random:
        """The stream of that name: the same object every time, the same draws for the same seed."""
        if name not in self._streams:
            self._streams[name] = random.Random(f"{self.seed}/{name}")
        return self._streams[name]

    def token(self, name: str, size: int) -> bytes:
        """`size` bytes of a stream: serial numbers, boot ids, nonces, keys of a simulated table."""
        return self.stream(name).randbytes(size)


class World:
    """A virtual clock, in ms, and what is going to happen; things of the same ms happen in the order they were set."""

    def __init__(self, start_ms: int = 0) -> None:
        self._now_ms = start_ms
        self._order = 0
        self._queue: list[tuple[int, int, Callable[[], None]]] = []

    @property
    def now_ms(self) -> int:
        """The world's time, in ms from its beginning."""
        return self._now_ms

    @property
    def next_ms(self) -> int | None:
        """When the next thing happens; None when nothing is going to."""
        return self._queue[0][0] if self._queue else None

    def at(self, at_ms: int, action: Callable[[], None]) -> None:
        """Not before now: a time that is past means at once, after what is due already."""
        self._order += 1
        heapq.heappush(self._queue, (max(at_ms, self._now_ms), self._order, action))

    def after(self, delay_ms: int, action: Callable[[], None]) -> None:
        """Do this so many ms from now."""
        self.at(self._now_ms + delay_ms, action)

    def step(self) -> bool:
        """Let the next thing happen; False when there is none."""
        if not self._queue:
            return False
        self._now_ms, _, action = heapq.heappop(self._queue)
        action()
        return True

    def run_until(self, reached: Callable[[], bool], limit_ms: int) -> bool:
        """Go on until `reached` says so: True; or False when `limit_ms` of the clock, or everything, is over first."""
        while not reached():
            due = self.next_ms
            if due is None or due > limit_ms:
                return False
            self.step()
        return True
