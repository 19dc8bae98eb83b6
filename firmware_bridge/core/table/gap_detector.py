"""The running numbers of draws and groups, and the holes in them."""

from dataclasses import dataclass
from typing import Final

from drivers.sequence import NUMBER_BITS, seq_add
from firmware_bridge.core.carried import CarriedNumbers

MOST_MISSING: Final = 64


@dataclass(frozen=True, slots=True)
class Step:
    """What a number says: so many before it are `missing`; `gap`: it does not go on where the last one stood."""

    missing: int
    gap: bool


class GapDetector:
    """The numbers of one kind. Inside a round they run on without holes; between rounds they go on, or start at 1.

    `from_one`: a device that was never heard before starts at 1 too.
    """

    def __init__(self, *, from_one: bool) -> None:
        self._last: int | None = 0 if from_one else None
        self._in_round = False
        self._forgiven = False

    def carried(self) -> CarriedNumbers:
        """What the next round takes over of them."""
        return CarriedNumbers(last=self._last, forgiven=self._forgiven)

    @classmethod
    def resumed(cls, carried: CarriedNumbers) -> "GapDetector":
        """The numbers as they were carried over."""
        resumed = cls(from_one=False)
        resumed._last, resumed._forgiven = carried.last, carried.forgiven
        return resumed

    def round_opens(self) -> None:
        """The next number may go on from the last, or start at 1."""
        self._in_round = False

    def forgive(self) -> None:
        """It is known that facts are lost: the next number is taken as it comes."""
        self._forgiven = True

    def take(self, number: int) -> Step:
        """The next number of this round."""
        step = self._step(number)
        self._last, self._in_round, self._forgiven = number, True, False
        return step

    def pass_over(self, number: int) -> None:
        """A number between rounds."""
        self._last = number

    def _step(self, number: int) -> Step:
        last = self._last
        if last is None or number == seq_add(last, 1, NUMBER_BITS) or (not self._in_round and number == 1):
            return Step(0, gap=False)
        missing = number - last - 1 if number > last else max(0, number - 1)
        return Step(min(missing, MOST_MISSING), gap=not self._forgiven)
