"""The facts a device keeps until its host has them for good (Table Device Protocol, 4.4)."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from drivers.facts import DeviceFact
from drivers.sequence import NUMBER_BITS, seq_add, seq_diff


@dataclass(frozen=True, slots=True)
class KeptFact:
    """`clock_ms` is the device's own clock when it happened."""

    number: int
    clock_ms: int
    fact: DeviceFact


class Ring:
    """`next_number` is what the next fact will get; numbers go round at 32 bits."""

    def __init__(self, size: int, first_number: int) -> None:
        self.size: Final = size
        self.next_number = first_number
        self._kept: OrderedDict[int, KeptFact] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def oldest(self) -> int:
        """The number of the oldest fact kept, or of the next one where none is."""
        return next(iter(self._kept), self.next_number)

    def add(self, clock_ms: int, fact: DeviceFact) -> KeptFact:
        """A fact happened; where the ring is full the oldest is overwritten."""
        kept = KeptFact(self.next_number, clock_ms, fact)
        if len(self._kept) >= self.size:
            self._kept.popitem(last=False)
        self._kept[kept.number] = kept
        self.next_number = seq_add(self.next_number, 1, NUMBER_BITS)
        return kept

    def get(self, number: int) -> KeptFact | None:
        """The fact of that number; None where it is not kept any more."""
        return self._kept.get(number)

    def durable(self, number: int) -> None:
        """Everything up to `number` may go; a number that is not in the ring changes nothing."""
        if number not in self._kept:
            return
        while self._kept and seq_diff(self.oldest, number, NUMBER_BITS) <= 0:
            self._kept.popitem(last=False)

    def holds_from(self, number: int) -> bool:
        """Whether `number` is kept, or is the next to happen: nothing from it on is lost."""
        return number in self._kept or number == self.next_number
