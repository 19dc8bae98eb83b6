"""Numbers that wrap: the one place where they are compared (drivers/tdp/spec.md section 3.3)."""

from typing import Final

SEQUENCE_BITS: Final = 16
NUMBER_BITS: Final = 32


def seq_diff(a: int, b: int, bits: int) -> int:
    """How far `a` is ahead of `b` on a circle of 2**bits: from -2**(bits-1) to 2**(bits-1) - 1, negative if behind."""
    half = 1 << (bits - 1)
    return ((a - b + half) & ((1 << bits) - 1)) - half


def seq_add(a: int, steps: int, bits: int) -> int:
    """`a` moved on by `steps`, wrapped at 2**bits."""
    return (a + steps) & ((1 << bits) - 1)


def seq_distance(a: int, b: int, bits: int) -> int:
    """How many steps lead from `b` on to `a`: from 0 to 2**bits - 1."""
    return (a - b) & ((1 << bits) - 1)
