"""The dealer's hands counted, against the dealer's hands dealt out one by one."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.core.ranking import highest_card, rank
from firmware_bridge.odds.deck import Deck
from firmware_bridge.odds.showdown import DealerHands, Showdown

QUEEN = 10
ONE_DECK = DealerHands(Deck.of_decks(1), QUEEN)
CARDS = st.lists(st.integers(0, 51), min_size=5, max_size=5, unique=True)


def dealt_out(hand: tuple[int, ...], face_up: tuple[int, ...]) -> Showdown:
    counts = dict.fromkeys(Showdown._fields, 0)
    mine = rank(*hand)
    rest = [card for card in range(52) if card not in hand and card not in face_up]
    for hidden in combinations(rest, 3 - len(face_up)):
        theirs = rank(*(face_up + hidden))
        stand = "below" if theirs < mine else "above" if theirs > mine else "equal"
        high = highest_card(theirs)
        counts[stand if high is None or high >= QUEEN else f"unqualified_{stand}"] += 1
    return Showdown(**counts)


@given(cards=CARDS, open_cards=st.integers(0, 2))
@settings(max_examples=12, deadline=None)
def test_every_hand_of_the_dealers_is_counted_once(cards: list[int], open_cards: int) -> None:
    hand, face_up = tuple(cards[:3]), tuple(cards[3 : 3 + open_cards])
    assert ONE_DECK.showdown(hand, face_up) == dealt_out(hand, face_up)


def test_all_hands_add_up() -> None:
    assert sum(ONE_DECK.showdown((0, 5, 10))) == 18_424
    assert sum(ONE_DECK.showdown((0, 5, 10), (20,))) == 48 * 47 // 2


def test_a_deck_too_small_for_two_hands_is_refused() -> None:
    deck = Deck([1] * 5 + [0] * 47)
    with pytest.raises(ValueError, match="a deck of 5 cards is too small for two hands of 3"):
        DealerHands(deck, QUEEN)
