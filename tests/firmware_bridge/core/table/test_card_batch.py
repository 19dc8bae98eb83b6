import pytest

from firmware_bridge.core.table.card_batch import Counts


@pytest.mark.parametrize(
    ("counts", "agreed"),
    [
        (Counts(3, 3, 3, None), 3),
        (Counts(3, 2, 2, None), None),
        (Counts(3, 3, 3, 2), None),
        (Counts(2, 2, 2, 2), 2),
        (Counts(None, 3, 3, None), 3),
        (Counts(None, 2, 3, None), None),
        (Counts(None, 2, 3, 3), 3),
        (Counts(3, 2, 3, None), 3),
        (Counts(4, 2, 3, None), None),
    ],
)
def test_counts_agree_or_not(counts: Counts, agreed: int | None) -> None:
    assert counts.agreed == agreed


@pytest.mark.parametrize(
    ("counts", "likeliest"),
    [
        (Counts(3, 2, 2, None), 3),
        (Counts(2, 3, 3, None), 3),
        (Counts(2, 3, 3, 2), 2),
        (Counts(3, 3, 3, 0), 3),
        (Counts(2, 4, 4, None), 4),
    ],
)
def test_what_the_floor_accepts(counts: Counts, likeliest: int) -> None:
    assert counts.likeliest == likeliest
