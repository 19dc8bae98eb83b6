"""Cards and their two-character text."""

import pytest

from drivers.cards import DECK_SIZE, FULL_DECK, RANKS, SUITS, Card


def test_every_card_has_its_own_text_and_index() -> None:
    assert len(FULL_DECK) == DECK_SIZE
    assert {str(card) for card in FULL_DECK} == {rank + suit for rank in RANKS for suit in SUITS}
    assert sorted(card.index for card in FULL_DECK) == list(range(DECK_SIZE))


def test_text_reads_back() -> None:
    for card in FULL_DECK:
        assert Card(str(card)) is card
        assert (RANKS[card.rank], SUITS[card.suit]) == tuple(str(card))


@pytest.mark.parametrize(("text", "rank", "suit", "index"), [("2c", 0, 0, 0), ("Qh", 10, 2, 42), ("As", 12, 3, 51)])
def test_rank_suit_and_index(text: str, rank: int, suit: int, index: int) -> None:
    card = Card(text)
    assert (card.rank, card.suit, card.index) == (rank, suit, index)


@pytest.mark.parametrize("text", ["", "Q", "qh", "10h", "1c", "Qx", "Qhh", " Qh"])
def test_no_other_text_is_a_card(text: str) -> None:
    with pytest.raises(ValueError, match="not a valid Card"):
        Card(text)
