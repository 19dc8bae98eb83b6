from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.odds.deck import Deck
from tests.firmware_bridge.odds.decks import deck_of, decks


@settings(max_examples=40, deadline=None)
@given(cards=decks(8, 12), gone=st.integers(0, 2), number=st.integers(0, 3), data=st.data())
def test_every_ordered_deal_is_stood_for_once(cards: list[int], gone: int, number: int, data: st.DataObject) -> None:
    named = tuple(data.draw(st.permutations(cards))[:gone])
    left = list(cards)
    for card in named:
        left.remove(card)
    deck = deck_of(cards)
    told: Counter[tuple[int, ...]] = Counter()
    for deal, ways in deck.deals(named, number):
        told[_without_names(deck, named, deal)] += ways
    assert told == Counter(_without_names(deck, named, deal) for deal in permutations(left, number))


def _without_names(deck: Deck, named: tuple[int, ...], deal: tuple[int, ...]) -> tuple[int, ...]:
    """One name for all orders of a deal and all renamings of like suits that `named` leaves free."""
    columns = [deck.counts[suit::4] for suit in range(4)]
    kept = {card % 4 for card in named}
    return min(
        tuple(sorted(card // 4 * 4 + names[card % 4] for card in deal))
        for names in permutations(range(4))
        if all(columns[suit] == columns[names[suit]] for suit in range(4)) and all(names[suit] == suit for suit in kept)
    )


def test_a_full_deck_comes_down_to_few_hands() -> None:
    deals = Deck.of_decks(1).deals((), 3)
    assert sum(ways for _, ways in deals) == 52 * 51 * 50
    assert len(deals) < 2000


def test_renaming_brings_like_cards_together() -> None:
    deck = Deck.of_decks(1)
    assert deck.renamed((51, 47)) == deck.renamed((48, 44))
    assert deck.renamed((51, 46)) != deck.renamed((48, 44))


@pytest.mark.parametrize("counts", [[1] * 51, [1] * 53, [-1] + [1] * 51])
def test_what_is_no_deck_is_refused(counts: list[int]) -> None:
    with pytest.raises(ValueError, match="52 counts"):
        Deck(counts)
