"""What comes from the device: frames, and its sequenced messages once and in turn (drivers/tdp/spec.md section 3.2)."""

from typing import Final, Generic, TypeVar

from drivers.framing import FrameDecoder
from drivers.sequence import SEQUENCE_BITS, seq_add, seq_diff
from drivers.tdp.codec.header import REORDER_LIMIT
from drivers.tdp.codec.messages import Message
from drivers.tdp.host.auth import SealReader

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


class Incoming:
    """One connection's bytes on their way in.

    `messages`: those of the session, None for one that this version does not know. `reader`: its seals; None where the
    session is plain, and before there is one.
    """

    def __init__(self) -> None:
        self.bytes_heard = 0
        self.messages: SequencedReceiver[Message | None] = SequencedReceiver(0)
        self.reader: SealReader | None = None
        self._decoder = FrameDecoder()

    def begin(self, first_sequence: int, reader: SealReader | None) -> None:
        """The device has answered: its session counts from `first_sequence`."""
        self.messages, self.reader = SequencedReceiver(first_sequence), reader

    def bodies(self, data: bytes) -> list[bytes]:
        """The bodies of the frames that `data` completes, in order. Never raises."""
        self.bytes_heard += len(data)
        return self._decoder.feed(data)

    @property
    def counters(self) -> dict[str, int]:
        """Bytes that were no frame, and frames that were out of their turn, by reason."""
        return {
            **self._decoder.counters,
            "repeated_frames": self.messages.repeated,
            "frames_too_far_ahead": self.messages.too_far_ahead,
        }
