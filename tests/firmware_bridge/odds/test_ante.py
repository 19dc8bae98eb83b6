from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from math import comb, prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.core.rules.house import Nonqualify
from firmware_bridge.core.terms import HandCategory
from firmware_bridge.odds.ante import AntePlay, AnteRules, Deal, ante_play
from firmware_bridge.odds.deck import Deck
from firmware_bridge.odds.showdown import DealerHands
from tests.firmware_bridge.odds import dealt
from tests.firmware_bridge.odds.decks import deck_of, decks, pays

QUEEN = 10
ONE_FOUR_FIVE = {
    HandCategory.STRAIGHT: 1,
    HandCategory.THREE_OF_A_KIND: 4,
    HandCategory.STRAIGHT_FLUSH: 5,
}
ONE_THREE_FOUR = {
    HandCategory.STRAIGHT: 1,
    HandCategory.THREE_OF_A_KIND: 3,
    HandCategory.STRAIGHT_FLUSH: 4,
}
NONQUALIFY = st.sampled_from(("paid", "compare", "compare_lose"))


def one_deck(bonus: dict[HandCategory, int]) -> AntePlay:
    return ante_play(Deck.of_decks(1), AnteRules(QUEEN, "paid", bonus, 0))


def ranks_of(hand: tuple[int, ...] | None) -> str:
    return "-".join("23456789TJQKA"[card // 4] for card in hand or ())


@pytest.mark.parametrize(
    ("bonus", "numerator", "percent"),
    [
        (ONE_FOUR_FIVE, -13_733_780, "3.372981"),
        (ONE_THREE_FOUR, -15_576_180, "3.825470"),
        ({}, -35_253_012, "8.658049"),
    ],
)
def test_published_edges_of_one_deck(bonus: dict[HandCategory, int], numerator: int, percent: str) -> None:
    found = one_deck(bonus)
    assert (found.expectation.numerator, found.expectation.denominator) == (numerator, 407_170_400)
    assert f"{found.expectation.edge * 100:.6f}" == percent
    assert ranks_of(found.play_from) == "Q-6-4"


def test_net_results_of_one_deck() -> None:
    assert one_deck(ONE_FOUR_FIVE).nets == {
        -2: 91_126_832,
        -1: 132_923_304,
        0: 249_216,
        1: 80_955_780,
        2: 91_100_696,
        3: 8_976_452,
        5: 289_104,
        6: 931_972,
        7: 617_044,
    }


def test_dealer_qualifies_with_15380_of_22100() -> None:
    dealer = DealerHands(Deck.of_decks(1), QUEEN)
    against = Counter[str]()
    for hand, ways in Deck.of_decks(1).deals((), 3):
        showdown = dealer.showdown(hand)
        against["unqualified"] += ways * sum(showdown[:3])
        against["qualified"] += ways * sum(showdown[3:])
    assert Fraction(against["qualified"], against.total()) == Fraction(15_380, 22_100)


@pytest.mark.parametrize("nonqualify", ["compare", "compare_lose"])
def test_a_hand_worth_playing_beats_every_dealer_who_does_not_qualify(nonqualify: Nonqualify) -> None:
    found = ante_play(Deck.of_decks(1), AnteRules(QUEEN, nonqualify, {}, 0))
    assert found.expectation.numerator == -35_253_012


def test_a_card_seen_is_worth_something_and_counts_three_ways() -> None:
    found = ante_play(Deck.of_decks(1), AnteRules(QUEEN, "paid", {}, 1))
    assert found.expectation.denominator == 3 * 407_170_400
    assert found.expectation.edge == pytest.approx(0.01802206, abs=1e-8)
    assert found.play_from is None


@settings(max_examples=25, deadline=None)
@given(cards=decks(9, 13), high=st.integers(0, 12), nonqualify=NONQUALIFY, bonus=pays(6), face_up=st.integers(0, 3))
def test_small_decks_dealt_out(
    cards: list[int], high: int, nonqualify: Nonqualify, bonus: dict[HandCategory, int], face_up: int
) -> None:
    found = ante_play(deck_of(cards), AnteRules(high, nonqualify, bonus, face_up))
    nets = dealt.ante_nets(cards, high, nonqualify, bonus, face_up)
    assert found.expectation.numerator == sum(net * deals for net, deals in nets.items())
    assert found.nets == nets


@pytest.mark.parametrize("face_up", [0, 1])
def test_twenty_cards_dealt_out(face_up: int) -> None:
    cards = [rank * 4 + suit for rank in (0, 1, 2, 10, 12) for suit in range(4)]
    found = ante_play(deck_of(cards), AnteRules(QUEEN, "compare", ONE_FOUR_FIVE, face_up))
    assert found.nets == dealt.ante_nets(cards, QUEEN, "compare", ONE_FOUR_FIVE, face_up)


@settings(max_examples=12, deadline=None)
@given(decks=st.integers(1, 8), data=st.data(), face_up=st.integers(0, 1))
def test_full_decks_against_one_hand_dealt_out(decks: int, data: st.DataObject, face_up: int) -> None:
    deck = Deck.of_decks(decks)
    kinds = st.integers(0, 51)
    named = data.draw(
        st.lists(kinds, min_size=3 + face_up, max_size=3 + face_up).filter(lambda cards: _fits(cards, decks))
    )
    hand, shown = tuple(named[:3]), tuple(named[3:])
    left = [decks - named.count(card) for card in range(52)]
    player = dealt.strength(hand)
    counts: Counter[tuple[bool, int]] = Counter()
    for hidden, ways in _choices(left, 3 - face_up):
        dealer = dealt.strength(shown + hidden)
        counts[dealt.qualifies(dealer, QUEEN), (dealer > player) - (dealer < player)] += ways
    assert list(DealerHands(deck, QUEEN).showdown(hand, shown)) == [
        counts[qualified, order] for qualified in (False, True) for order in (-1, 0, 1)
    ]


def _fits(cards: list[int], decks: int) -> bool:
    return all(cards.count(card) <= decks for card in cards)


def _choices(left: list[int], number: int) -> list[tuple[tuple[int, ...], int]]:
    """Sets of `number` cards by kind, with the ways to take them from `left` of each."""
    found = []
    for kinds in combinations_with_replacement(range(52), number):
        ways = prod(comb(left[kind], taken) for kind, taken in Counter(kinds).items())
        if ways:
            found.append((kinds, ways))
    return found


def test_play_from_is_the_whole_of_best_play_in_one_deck() -> None:
    """Playing exactly the hands from Q-6-4 up brings what best play brings."""
    dealer = DealerHands(Deck.of_decks(1), QUEEN)
    from_queen = dealt.strength((40, 17, 10))
    numerator = 0
    for hand, ways in Deck.of_decks(1).deals((), 3):
        showdown = dealer.showdown(hand)
        played = sum(net * count for net, count in zip((1, 1, 1, 2, 0, -2), showdown, strict=True))
        numerator += ways * (played if dealt.strength(hand) >= from_queen else -sum(showdown))
    assert numerator // 6 == -35_253_012


def test_a_deck_too_small_for_two_hands_is_refused() -> None:
    with pytest.raises(ValueError, match="5 cards is too small"):
        ante_play(deck_of([0, 1, 2, 3, 4]), AnteRules(QUEEN, "paid", {}, 0))


def test_the_watcher_sees_every_hand_go_by() -> None:
    seen: list[int] = []

    def watch(deals: Sequence[Deal]) -> Sequence[Deal]:
        seen.append(len(deals))
        return deals

    ante_play(Deck.of_decks(1), AnteRules(QUEEN, "paid", {}, 0), watch)
    assert seen == [len(Deck.of_decks(1).deals((), 3))]
