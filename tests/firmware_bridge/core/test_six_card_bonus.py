"""The sets of six counted, against the sets of six laid out one by one."""

from collections import Counter
from itertools import combinations
from math import comb

from hypothesis import given, settings
from hypothesis import strategies as st

from drivers.cards import FULL_DECK
from firmware_bridge.core.ranking import SixCardHand, best_of_six
from firmware_bridge.core.six_card_bonus import count_six_cards

WHOLE = ((1,) * 13,) * 4


@given(gone=st.sets(st.integers(0, 51), min_size=34, max_size=40))
@settings(max_examples=15, deadline=None)
def test_every_set_of_a_small_deck_is_counted_as_what_it_is(gone: set[int]) -> None:
    left = [card for card in FULL_DECK if card.index not in gone]
    columns = tuple(tuple(int(rank * 4 + suit not in gone) for rank in range(13)) for suit in range(4))
    laid_out = Counter(best_of_six(cards) for cards in combinations(left, 6))
    assert {hand: ways for hand, ways in count_six_cards(columns).items() if ways} == laid_out


def test_all_sets_of_one_deck_add_up_and_the_royals_are_known() -> None:
    counts = count_six_cards(WHOLE)
    assert sum(counts.values()) == comb(52, 6)
    assert set(counts) == {*SixCardHand, None}
    assert counts[SixCardHand.ROYAL_FLUSH] == 4 * 47
    assert counts[SixCardHand.FOUR_OF_A_KIND] == 13 * comb(48, 2)
