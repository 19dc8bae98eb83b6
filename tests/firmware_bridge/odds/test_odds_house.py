import msgspec
import pytest
from hypothesis import given, settings

from firmware_bridge.houses.house import House, Nonqualify
from firmware_bridge.houses.loader import load_house
from firmware_bridge.odds.deck import Deck
from firmware_bridge.odds.expectation import Expectation
from firmware_bridge.odds.house_odds import OddsRefused, choose_game, house_odds
from firmware_bridge.odds.own_hand import pair_plus
from firmware_bridge.terms import HandCategory
from tests.firmware_bridge.odds.decks import pays


def with_schedule(house: House, **tables: dict[HandCategory, int]) -> House:
    """The house with these tables in its first schedule."""
    return msgspec.structs.replace(house, schedules=(msgspec.structs.replace(house.schedules[0], **tables),))


def test_without_a_choice_the_house_plays_as_usual() -> None:
    game = choose_game(load_house("player-dealer"), None, None, None)
    assert (game.schedule.number, game.decks, game.nonqualify) == (1, 1, "compare")


def test_wagers_that_are_not_offered_have_no_odds() -> None:
    found = house_odds(choose_game(load_house("licensed"), 1, 1, None))
    assert found.six_card is None
    assert found.ante_play is not None
    assert found.ante_play.played == 274_517_600


@settings(max_examples=15, deadline=None)
@given(table=pays())
def test_a_pay_table_of_ones_own_has_an_edge_of_its_own(table: dict[HandCategory, int]) -> None:
    house = with_schedule(load_house("licensed"), pair_plus=table)
    assert house_odds(choose_game(house, None, 1, None)).pair_plus == pair_plus(Deck.of_decks(1), table)


def test_a_bonus_of_ones_own_moves_the_ante_alone() -> None:
    usual = house_odds(choose_game(load_house("licensed"), 1, None, None))
    house = with_schedule(load_house("licensed"), ante_bonus={HandCategory.STRAIGHT_FLUSH: 5})
    found = house_odds(choose_game(house, None, None, None))
    assert found.pair_plus == usual.pair_plus
    assert found.ante_play is not None
    # 48 straight flushes against 18,424 dealers each, at 5 to 1, are all that the bonus brings
    assert found.ante_play.expectation == Expectation(-35_253_012 + 5 * 48 * 18_424, 407_170_400)


@pytest.mark.parametrize(
    ("nonqualify", "edge"), [("paid", 0.018022057), ("compare", 0.042963722), ("compare_lose", 0.045975965)]
)
def test_what_becomes_of_the_ante_is_the_games_choice(nonqualify: Nonqualify, edge: float) -> None:
    found = house_odds(choose_game(load_house("player-dealer"), None, None, nonqualify)).ante_play
    assert found is not None
    assert found.expectation.edge == pytest.approx(edge, abs=1e-9)


@pytest.mark.parametrize(
    ("house", "schedule", "decks", "nonqualify", "told"),
    [
        ("licensed", 5, None, None, "no schedule 5: name one of 1, 2, 3, 4"),
        ("licensed", None, 0, None, "not dealt from 0 decks, its file allows 1$"),
        ("licensed", None, 9, None, "not dealt from 9 decks, its file allows 1$"),
        ("player-dealer", None, 9, None, "its file allows 1 to 8$"),
        ("licensed", None, None, "compare", "no option nonqualify=compare: name one of paid"),
    ],
)
def test_what_the_house_does_not_deal_is_refused(
    house: str, schedule: int | None, decks: int | None, nonqualify: str | None, told: str
) -> None:
    with pytest.raises(OddsRefused, match=told):
        choose_game(load_house(house), schedule, decks, nonqualify)


def test_a_pay_table_for_one_deck_is_refused_on_several_with_its_edge() -> None:
    edge = pair_plus(Deck.of_decks(4), load_house("licensed").schedules[0].pair_plus).edge
    assert edge < 0
    with pytest.raises(OddsRefused, match=f"{-edge:.6%}"):
        choose_game(load_house("licensed"), 1, 4, None)
