from collections import Counter
from itertools import combinations
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.core.ranking import SixCardHand
from firmware_bridge.core.rules.frequencies import six_card_counts, three_card_counts
from firmware_bridge.core.six_card_bonus import count_six_cards
from firmware_bridge.core.terms import HandCategory
from firmware_bridge.odds.deck import Deck
from firmware_bridge.odds.expectation import pair_plus, six_card
from tests.firmware_bridge.odds import dealt
from tests.firmware_bridge.odds.decks import deck_of, decks, pays

SIX_CARD_ONE_DECK = {
    SixCardHand.ROYAL_FLUSH: 188,
    SixCardHand.STRAIGHT_FLUSH: 1_656,
    SixCardHand.FOUR_OF_A_KIND: 14_664,
    SixCardHand.FULL_HOUSE: 165_984,
    SixCardHand.FLUSH: 205_792,
    SixCardHand.STRAIGHT: 361_620,
    SixCardHand.THREE_OF_A_KIND: 732_160,
    None: 18_876_456,
}


@pytest.mark.parametrize(
    ("straight_flush", "three", "straight", "flush", "pair", "numerator"),
    [(40, 30, 6, 4, 1, -512), (40, 25, 6, 4, 1, -772), (40, 30, 5, 4, 1, -1_232), (40, 30, 6, 3, 1, -1_608)],
)
def test_published_pay_tables_of_pair_plus(
    straight_flush: int, three: int, straight: int, flush: int, pair: int, numerator: int
) -> None:
    table = dict(zip(HandCategory, (straight_flush, three, straight, flush, pair), strict=False))
    found = pair_plus(Deck.of_decks(1), table)
    assert (found.numerator, found.denominator) == (numerator, 22_100)


@pytest.mark.parametrize("number", range(1, 9))
def test_hands_of_whole_decks_are_as_often_as_the_loader_reckons(number: int) -> None:
    """Paying one category alone at 0 to 1 tells how often it comes."""
    deck = Deck.of_decks(number)
    hands = comb(52 * number, 3)
    for category, count in three_card_counts(number).items():
        found = pair_plus(deck, {category: 0})
        assert (found.numerator + hands, found.denominator) == (count, hands)


@settings(max_examples=40, deadline=None)
@given(cards=decks(6, 20), table=pays())
def test_pair_plus_of_small_decks_dealt_out(cards: list[int], table: dict[HandCategory, int]) -> None:
    found = pair_plus(deck_of(cards), table)
    counts = dealt.categories(cards)
    assert found.denominator == counts.total()
    assert found.numerator == sum(table.get(category, -1) * count for category, count in counts.items())


def test_six_card_sets_of_one_deck() -> None:
    assert count_six_cards(Deck.of_decks(1).columns) == SIX_CARD_ONE_DECK


@pytest.mark.parametrize("number", [1, 2, 8])
def test_six_card_sets_add_up(number: int) -> None:
    assert sum(six_card_counts(number).values()) == comb(52 * number, 6)


@settings(max_examples=30, deadline=None)
@given(cards=decks(8, 13), table=st.dictionaries(st.sampled_from(SixCardHand), st.integers(0, 1000)))
def test_six_card_of_small_decks_dealt_out(cards: list[int], table: dict[SixCardHand, int]) -> None:
    _compare_six_cards(cards, table)


@settings(max_examples=15, deadline=None)
@given(suits=st.permutations(range(4)), low=st.integers(0, 8), copies=st.integers(1, 2), data=st.data())
def test_six_card_of_decks_full_of_flushes_and_straights(
    suits: list[int], low: int, copies: int, data: st.DataObject
) -> None:
    ranks = [(low + step) % 13 for step in range(-1, 6)]
    cards = [rank * 4 + suits[0] for rank in ranks for _ in range(copies)][:11]
    cards += data.draw(st.lists(st.sampled_from([rank * 4 + suits[1] for rank in ranks]), max_size=3, unique=True))
    _compare_six_cards(cards, {SixCardHand.FLUSH: 3, SixCardHand.ROYAL_FLUSH: 50, SixCardHand.FULL_HOUSE: 7})


def _compare_six_cards(cards: list[int], table: dict[SixCardHand, int]) -> None:
    counts = Counter(dealt.best_of_six(six) for six in combinations(cards, 6))
    deck = deck_of(cards)
    assert {hand: count for hand, count in count_six_cards(deck.columns).items() if count} == counts
    found = six_card(deck, table)
    assert found.denominator == counts.total()
    assert found.numerator == sum((-1 if hand is None else table.get(hand, -1)) * n for hand, n in counts.items())


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_every_six_card_set_of_one_deck_dealt_out() -> None:
    """All 20,358,520 sets one by one; a set is named by how often each rank comes and whether five are of a suit."""
    by_ranks: dict[int, SixCardHand | None] = {}
    counts: Counter[SixCardHand | None] = Counter()
    rank_parts = [1 << 3 * (card // 4) for card in range(52)]
    suit_parts = [1 << 40 + 4 * (card % 4) for card in range(52)]
    parts = [rank + suit for rank, suit in zip(rank_parts, suit_parts, strict=True)]
    five_of_a_suit = 0x8888 << 40
    three_each = 0x3333 << 40
    ranks_alone = (1 << 40) - 1
    for first, second, third in combinations(range(52), 3):
        for rest in combinations(range(third + 1, 52), 3):
            total = parts[first] + parts[second] + parts[third] + parts[rest[0]] + parts[rest[1]] + parts[rest[2]]
            if (total + three_each) & five_of_a_suit:
                counts[dealt.best_of_six((first, second, third, *rest))] += 1
                continue
            ranks = total & ranks_alone
            if ranks not in by_ranks:
                by_ranks[ranks] = dealt.best_of_six((first, second, third, *rest))
            counts[by_ranks[ranks]] += 1
    assert counts == SIX_CARD_ONE_DECK
