"""Numbers that wrap."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.sequence import seq_add, seq_diff

BITS = st.sampled_from([16, 32])


@pytest.mark.parametrize(
    ("a", "b", "bits", "difference"),
    [
        (0x0001, 0xFFFF, 16, 2),
        (0xFFFF_FFFF, 0, 32, -1),
        (0, 0xFFFF_FFFF, 32, 1),
        (5, 5, 16, 0),
        (0x7FFF, 0, 16, 0x7FFF),
        (0x8000, 0, 16, -0x8000),
        (0, 0x8000, 16, -0x8000),
        (255, 256, 16, -1),
    ],
)
def test_known_differences(a: int, b: int, bits: int, difference: int) -> None:
    assert seq_diff(a, b, bits) == difference


@given(bits=BITS, start=st.integers(0, 2**32 - 1), steps=st.integers(-(2**15), 2**15 - 1))
def test_a_step_is_found_again_wherever_it_starts(bits: int, start: int, steps: int) -> None:
    start %= 1 << bits
    moved = seq_add(start, steps, bits)
    assert 0 <= moved < 1 << bits
    assert seq_diff(moved, start, bits) == steps


@given(bits=BITS, a=st.integers(0, 2**32 - 1), b=st.integers(0, 2**32 - 1))
def test_both_directions_agree(bits: int, a: int, b: int) -> None:
    a, b, half = a % (1 << bits), b % (1 << bits), 1 << (bits - 1)
    forth, back = seq_diff(a, b, bits), seq_diff(b, a, bits)
    assert -half <= forth < half
    assert forth == -back or forth == back == -half
