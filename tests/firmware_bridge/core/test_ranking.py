from collections import Counter
from itertools import combinations, pairwise, permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from drivers.cards import FULL_DECK, Card
from firmware_bridge.core.ranking import SixCardHand, best_of_six, category, highest_card, rank, rank_cards
from firmware_bridge.core.terms import HandCategory
from tests.firmware_bridge.core.game.plain_settlement import CATEGORIES, five, six, three

SIX_NAMES = {
    "royal": SixCardHand.ROYAL_FLUSH,
    "straight flush": SixCardHand.STRAIGHT_FLUSH,
    "four": SixCardHand.FOUR_OF_A_KIND,
    "full": SixCardHand.FULL_HOUSE,
    "flush": SixCardHand.FLUSH,
    "straight": SixCardHand.STRAIGHT,
    "three": SixCardHand.THREE_OF_A_KIND,
    None: None,
}


def cards(text: str) -> list[Card]:
    return [Card(card) for card in text.split()]


def agree(hands: list[tuple[Card, ...]]) -> None:
    """The table and the plain reading put the hands into the same order, with the same ties and names."""
    told = [(rank(*(card.index for card in hand)), three([card.value for card in hand])) for hand in hands]
    by_rank: dict[int, tuple[int, list[int]]] = {}
    for mine, plain in told:
        assert by_rank.setdefault(mine, plain) == plain
        assert category(mine) is HandCategory(CATEGORIES[plain[0]])
    in_order = [by_rank[mine] for mine in sorted(by_rank)]
    assert all(lower < higher for lower, higher in pairwise(in_order))


def test_all_hands_of_one_deck_rank_as_the_plain_reading_ranks_them() -> None:
    agree(list(combinations(FULL_DECK, 3)))


def test_all_hands_of_several_decks_too() -> None:
    some = [card for card in FULL_DECK if card.rank in {0, 1, 2, 10, 11, 12}]
    agree(list(combinations(sorted(some * 3, key=lambda card: card.index), 3)))


def test_one_deck_has_as_many_of_each_category_as_is_known() -> None:
    counts = Counter(category(rank(*hand)) for hand in combinations(range(52), 3))
    assert [counts[known] for known in HandCategory] == [48, 52, 720, 1096, 3744, 16440]


def test_the_order_of_the_cards_does_not_matter() -> None:
    for hand in [*combinations(range(0, 52, 3), 3), (7, 7, 7), (7, 7, 11), (0, 4, 48)]:
        assert len({rank(*ordered) for ordered in permutations(hand)}) == 1


def test_identical_cards_are_three_of_a_kind_and_two_of_them_a_flush() -> None:
    assert category(rank_cards(cards("9c 9c 9c"))) is HandCategory.THREE_OF_A_KIND
    assert category(rank_cards(cards("9c 9c 4c"))) is HandCategory.FLUSH
    assert category(rank_cards(cards("9c 9c 4d"))) is HandCategory.PAIR


def test_the_ace_is_low_in_one_straight_alone() -> None:
    low, next_one, none = (rank_cards(cards(text)) for text in ("Ah 2d 3c", "2h 3d 4c", "Kh Ad 2c"))
    assert category(low) is category(next_one) is HandCategory.STRAIGHT
    assert low < next_one
    assert category(none) is HandCategory.HIGH_CARD
    assert rank_cards(cards("Ah 2h 3h")) < rank_cards(cards("2h 3h 4h"))


def test_the_highest_card_is_told_of_a_high_card_hand_alone() -> None:
    assert highest_card(rank_cards(cards("Qh 3d 2c"))) == 10
    assert highest_card(rank_cards(cards("Qh Qd 2c"))) is None


@settings(deadline=None)
@given(st.lists(st.sampled_from(FULL_DECK), min_size=6, max_size=6))
def test_the_best_of_six_cards_is_the_best_of_its_fives(drawn: list[Card]) -> None:
    assert best_of_six(drawn) is SIX_NAMES[six([card.value for card in drawn])]


def test_the_best_of_six_cards_on_a_small_deck_of_two() -> None:
    small = [card for card in FULL_DECK if card.rank >= 8 and card.suit < 2] * 2
    for drawn in combinations(small, 6):
        assert best_of_six(drawn) is SIX_NAMES[six([card.value for card in drawn])]


def test_the_plain_reading_knows_its_fives() -> None:
    assert five(("Ah", "2h", "3h", "4h", "5h")) == "straight flush"
    assert five(("9h", "9h", "9h", "9h", "9h")) == "four"
    assert five(("Ah", "2d", "3h", "4h", "6h")) is None
