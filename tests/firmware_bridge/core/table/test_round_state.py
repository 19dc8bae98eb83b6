import pytest

from firmware_bridge.core.table.round_state import dealing_order


@pytest.mark.parametrize(
    ("seats", "player_dealer", "order"),
    [
        ([3, 1, 2], None, (1, 2, 3, "dealer")),
        ([2, 3, 5], 3, (5, 2, "dealer")),
        ([1, 2], 14, (1, 2, "dealer")),
        ([1, 13, 14], 13, (14, 1, "dealer")),
        ([5, 9], 1, (5, 9, "dealer")),
        ([], None, ("dealer",)),
    ],
)
def test_the_order_of_dealing(seats: list[int], player_dealer: int | None, order: tuple[object, ...]) -> None:
    assert dealing_order(seats, player_dealer) == order
