"""What cables do to bytes: loss, doubling, flipped bits, junk, one byte at a time; seeded, to be repeated."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from simulator.wires.virtual import Fault

JUNK_BYTES: Final = 12


@dataclass(frozen=True, slots=True)
class Noise:
    """How likely each thing happens to a piece of bytes on its way, from 0 to 1."""

    lost: float = 0
    doubled: float = 0
    flipped: float = 0
    junk: float = 0
    crumbled: float = 0


def noisy(noise: Noise, randomness: random.Random) -> Fault:
    """A cable that does so; the order of bytes stays, as on any serial line."""

    def fault(data: bytes) -> Sequence[tuple[int, bytes]]:
        if randomness.random() < noise.lost:
            return ()
        damaged = bytearray(data)
        if randomness.random() < noise.flipped:
            damaged[randomness.randrange(len(damaged))] ^= 1 << randomness.randrange(8)
        if randomness.random() < noise.doubled:
            damaged *= 2
        if randomness.random() < noise.junk:
            damaged[:0] = randomness.randbytes(randomness.randint(1, JUNK_BYTES))
        if randomness.random() < noise.crumbled:
            return [(0, bytes((byte,))) for byte in damaged]
        return ((0, bytes(damaged)),)

    return fault
