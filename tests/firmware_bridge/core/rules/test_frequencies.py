from fractions import Fraction
from itertools import combinations
from math import comb

import pytest

from firmware_bridge.core.ranking import category, rank
from firmware_bridge.core.rules.frequencies import (
    pair_plus_total,
    pay_table_edges,
    six_card_counts,
    six_card_total,
    three_card_counts,
)
from firmware_bridge.core.terms import HandCategory
from firmware_bridge.houses.loader import load_house


@pytest.mark.parametrize("decks", range(1, 9))
def test_the_categories_make_up_the_whole_shoe(decks: int) -> None:
    assert sum(three_card_counts(decks).values()) == comb(52 * decks, 3)


def test_two_decks_counted_one_hand_after_the_other() -> None:
    counts = dict.fromkeys(HandCategory, 0)
    for hand in combinations(sorted([*range(52)] * 2), 3):
        counts[category(rank(*hand))] += 1
    assert counts == three_card_counts(2)


def test_six_cards_of_one_deck() -> None:
    assert list(six_card_counts(1).values()) == [188, 1656, 14664, 165984, 205792, 361620, 732160, 18876456]


def test_six_cards_of_several_decks_make_up_the_whole_shoe() -> None:
    assert sum(six_card_counts(3).values()) == comb(156, 6)


def test_what_the_published_tables_are_worth() -> None:
    licensed = load_house("licensed")
    totals = [pair_plus_total(schedule.pair_plus, 1) for schedule in licensed.schedules]
    assert totals == [(-512, 22100), (-772, 22100), (-1232, 22100), (-1608, 22100)]
    won, sets = six_card_total(load_house("six-card").schedules[0].six_card, 1)
    assert sets == 20_358_520
    assert won < 0


def test_an_edge_is_the_houses_and_an_absent_table_has_none() -> None:
    schedule = load_house("licensed").schedules[0]
    assert pay_table_edges(schedule.pair_plus, {}, 1) == {"pair_plus": Fraction(512, 22100)}
    assert pay_table_edges(schedule.pair_plus, {}, 2)["pair_plus"] < 0
    assert pay_table_edges({}, {}, 2) == {}
