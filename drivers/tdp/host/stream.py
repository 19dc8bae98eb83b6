"""The device's sequenced messages, each handed on once and in its turn (drivers/tdp/spec.md section 3.2)."""

from typing import Final, Generic, TypeVar

from drivers.sequence import SEQUENCE_BITS, seq_add, seq_diff
from drivers.tdp.codec.header import REORDER_LIMIT

T = TypeVar("T")

_LAST: Final = (1 << SEQUENCE_BITS) - 1


class SequencedReceiver(Generic[T]):
    """`expected` is the next sequence: the acknowledgement that the host sends. Keeps at most REORDER_LIMIT items."""

    def __init__(self, first_sequence: int) -> None:
        self.expected = first_sequence
        self.repeated = 0
        self.too_far_ahead = 0
        self._early: dict[int, T] = {}

    def take(self, sequence: int, item: T) -> list[T]:
        """What may be handed on now that `item` has arrived, in order."""
        if sequence == self.expected and not self._early:
            self.expected = (sequence + 1) & _LAST  # the common case, without a call
            return [item]
        ahead = seq_diff(sequence, self.expected, SEQUENCE_BITS)
        if ahead < 0 or sequence in self._early:
            self.repeated += 1
            return []
        if ahead > REORDER_LIMIT:
            self.too_far_ahead += 1
            return []
        self._early[sequence] = item
        ready: list[T] = []
        while self.expected in self._early:
            ready.append(self._early.pop(self.expected))
            self.expected = seq_add(self.expected, 1, SEQUENCE_BITS)
        return ready
