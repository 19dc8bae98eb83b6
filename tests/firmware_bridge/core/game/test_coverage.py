import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.core.game.coverage import Bank, StackResult, in_action_order

STACKS = st.lists(st.tuples(st.integers(1, 60), st.sampled_from(["win", "lose", "push"])), max_size=8)


@pytest.mark.parametrize(
    ("coverage", "stacks", "actions", "net"),
    [
        ("gross", [(60, "lose"), (60, "win")], [60, 40], 20),
        ("bankroll", [(60, "lose"), (60, "win")], [60, 60], 0),
        ("bankroll", [(60, "lose"), (60, "lose")], [60, 40], 100),
        ("gross", [(100, "win"), (1, "win"), (1, "push")], [100, 0, 0], -100),
        ("bankroll", [(100, "win"), (1, "lose")], [100, 0], -100),
        ("gross", [(30, "push"), (100, "win")], [30, 100], -100),
        ("gross", [(100, "lose"), (5, "push")], [100, 0], 100),
        ("bankroll", [(100, "lose"), (5, "push"), (5, "lose")], [100, 5, 0], 100),
    ],
)
def test_how_far_a_wager_of_100_covers(
    coverage: str, stacks: list[tuple[int, StackResult]], actions: list[int], net: int
) -> None:
    bank = Bank(100, coverage)  # type: ignore[arg-type]
    assert [bank.cover(stake, result) for stake, result in stacks] == actions
    assert bank.net == net


@given(wager=st.integers(0, 200), stacks=STACKS, coverage=st.sampled_from(["gross", "bankroll"]))
def test_the_player_dealer_neither_pays_more_than_its_wager_nor_wins_more(
    wager: int, stacks: list[tuple[int, StackResult]], coverage: str
) -> None:
    bank = Bank(wager, coverage)  # type: ignore[arg-type]
    won = 0
    for stake, result in stacks:
        action = bank.cover(stake, result)
        assert 0 <= action <= stake
        won += {"win": -action, "lose": action, "push": 0}[result]
        assert bank.net == won
        assert -wager <= bank.net <= wager


@pytest.mark.parametrize(("first", "order"), [(1, [1, 3, 5]), (3, [3, 5, 1]), (4, [5, 1, 3]), (6, [1, 3, 5])])
def test_action_goes_clockwise_from_its_seat(first: int, order: list[int]) -> None:
    assert in_action_order([5, 1, 3], first) == order
