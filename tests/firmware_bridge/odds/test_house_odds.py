from math import comb

import msgspec
import pytest
from hypothesis import given, settings

from firmware_bridge.core.rules.chosen_rules import choose_rules
from firmware_bridge.core.rules.house import House, Nonqualify
from firmware_bridge.core.terms import HandCategory
from firmware_bridge.houses.loader import load_house
from firmware_bridge.odds.deck import Deck
from firmware_bridge.odds.expectation import Expectation, pair_plus
from firmware_bridge.odds.house_odds import HouseOdds, house_odds
from tests.firmware_bridge.odds.decks import pays


def odds_of(house: House, decks: int = 1, **options: str) -> HouseOdds:
    """The odds under the house's first schedule."""
    rules = choose_rules(house, schedule=house.schedules[0].number, decks=decks, options=options)
    return house_odds(rules, decks)


def with_schedule(house: House, **tables: dict[HandCategory, int]) -> House:
    """The house with these tables in its first schedule."""
    return msgspec.structs.replace(house, schedules=(msgspec.structs.replace(house.schedules[0], **tables),))


def test_wagers_that_are_not_offered_have_no_odds() -> None:
    found = odds_of(load_house("licensed"))
    assert found.six_card is None
    assert found.ante_play is not None
    assert found.ante_play.played == 274_517_600


@settings(max_examples=15, deadline=None)
@given(table=pays())
def test_a_pay_table_of_ones_own_has_an_edge_of_its_own(table: dict[HandCategory, int]) -> None:
    house = with_schedule(load_house("licensed"), pair_plus=table)
    assert odds_of(house).pair_plus == pair_plus(Deck.of_decks(1), table)


def test_a_bonus_of_ones_own_moves_the_ante_alone() -> None:
    usual = odds_of(load_house("licensed"))
    house = with_schedule(load_house("licensed"), ante_bonus={HandCategory.STRAIGHT_FLUSH: 5})
    found = odds_of(house)
    assert found.pair_plus == usual.pair_plus
    assert found.ante_play is not None
    # 48 straight flushes against 18,424 dealers each, at 5 to 1, are all that the bonus brings
    assert found.ante_play.expectation == Expectation(-35_253_012 + 5 * 48 * 18_424, 407_170_400)


@pytest.mark.parametrize(
    ("nonqualify", "edge"), [("paid", 0.018022057), ("compare", 0.042963722), ("compare_lose", 0.045975965)]
)
def test_what_becomes_of_the_ante_is_the_games_choice(nonqualify: Nonqualify, edge: float) -> None:
    found = odds_of(load_house("player-dealer"), nonqualify=nonqualify).ante_play
    assert found is not None
    assert found.expectation.edge == pytest.approx(edge, abs=1e-9)


def test_more_decks_have_odds_of_their_own() -> None:
    one, eight = odds_of(load_house("player-dealer")), odds_of(load_house("player-dealer"), decks=8)
    assert one.ante_play is not None
    assert eight.ante_play is not None
    assert eight.ante_play.expectation.denominator == 3 * comb(416, 3) * comb(413, 3)
    assert eight.ante_play.expectation.edge != one.ante_play.expectation.edge
