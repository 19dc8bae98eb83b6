import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.core.game.wagers import (
    LIMITED,
    Limits,
    SeatWagers,
    cut_to_limits,
    fee_refusal,
    limits_at,
    limits_refusal,
    wagers_refusal,
)
from firmware_bridge.core.rules.house import FeeTier, House
from firmware_bridge.houses.loader import load_house

LICENSED = load_house("licensed")


def house(**wagers: object) -> House:
    return msgspec.structs.replace(LICENSED, wagers=msgspec.structs.replace(LICENSED.wagers, **wagers))


@pytest.mark.parametrize(
    ("stakes", "says"),
    [
        ({"ante": 5}, None),
        ({"pair_plus": 5}, None),
        ({"ante": 5, "tip_ante": 1}, None),
        ({}, "has no wager of the player's own"),
        ({"tip_ante": 1}, "has a tip_ante without a wager of the player's own on the ante"),
        ({"six_card": 5}, "has a six_card wager, which the house licensed does not offer"),
        ({"ante": 5, "fee": 1}, "has paid a fee, but the house licensed takes none"),
    ],
)
def test_what_the_house_takes_together(stakes: dict[str, int], says: str | None) -> None:
    assert wagers_refusal(LICENSED, SeatWagers(**stakes)) == says


def test_what_the_house_demands_and_does_not_offer() -> None:
    assert wagers_refusal(house(required=("ante",)), SeatWagers(pair_plus=5)) == (
        "has no ante, which the house licensed demands"
    )
    assert wagers_refusal(house(tips=()), SeatWagers(ante=5, tip_ante=1)) == (
        "has a tip_ante, which the house licensed does not offer"
    )


@pytest.mark.parametrize(
    ("ante", "fee", "says"),
    [
        (100, 1, None),
        (101, 2, None),
        (100, 2, "has paid a fee of 2 on an ante of 100: the fee is 1"),
        (200, 0, "has paid a fee of 0 on an ante of 200: the fee is 2"),
        (201, 2, "has an ante of 201, above the highest tier of fees (200)"),
    ],
)
def test_the_fee_is_that_of_the_antes_tier(ante: int, fee: int, says: str | None) -> None:
    tiers = (FeeTier(ante_up_to=100, fee=1), FeeTier(ante_up_to=200, fee=2))
    assert fee_refusal(house(fee="flat", fee_tiers=tiers), SeatWagers(ante=ante, fee=fee)) == says
    assert fee_refusal(house(fee="flat", fee_tiers=()), SeatWagers(ante=ante, fee=fee)) is None


def test_the_last_announced_limits_whose_time_has_come_are_in_force() -> None:
    limits = [Limits(1, 10), Limits(2, 20, 500), Limits(3, 30, 400)]
    assert [limits_at(limits, at_ms) for at_ms in (0, 399, 400, 499, 500)] == [
        limits[0],
        limits[0],
        limits[2],
        limits[2],
        limits[2],
    ]


@pytest.mark.parametrize(
    ("stakes", "says"),
    [
        ({"ante": 10, "tip_ante": 1}, None),
        ({"ante": 9}, "has 9 on the ante, below the table's minimum of 10"),
        ({"ante": 50}, None),
        ({"ante": 51}, "has 51 on the ante, above the table's maximum of 50"),
        ({"ante": 10, "tip_ante": 51}, "has 51 on the tip_ante, above the table's maximum of 50"),
    ],
)
def test_the_minimum_is_for_own_wagers_and_the_maximum_for_tips_too(stakes: dict[str, int], says: str | None) -> None:
    refusing = house(above_maximum="refused")
    assert limits_refusal(refusing, Limits(10, 50), SeatWagers(**stakes)) == says
    assert limits_refusal(refusing, Limits(0, 0), SeatWagers(**stakes)) is None


def test_a_house_that_gives_the_excess_back_refuses_nothing_above_its_maximum() -> None:
    assert limits_refusal(house(above_maximum="excess_returned"), Limits(0, 50), SeatWagers(ante=51)) is None


@given(stakes=st.fixed_dictionaries({name: st.integers(0, 90) for name in (*LIMITED, "fee")}), most=st.integers(0, 60))
def test_what_stands_and_what_goes_back_is_what_was_put_down(stakes: dict[str, int], most: int) -> None:
    wagers = SeatWagers(**stakes)
    kept, returned = cut_to_limits(Limits(0, most), wagers)
    for name in stakes:
        assert kept.stake(name) + returned.get(name, 0) == wagers.stake(name)
        if name in LIMITED and most:
            assert kept.stake(name) == min(wagers.stake(name), most)
    assert returned if any(stakes[name] > most > 0 for name in LIMITED) else returned == {}
    assert kept.fee == wagers.fee


def test_stakes_that_are_nothing_have_no_name() -> None:
    assert SeatWagers(ante=5, fee=1).named() == {"ante": 5, "fee": 1}
    assert SeatWagers().named() == {}
