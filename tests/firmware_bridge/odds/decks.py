"""Small decks for hypothesis: any cards at all, and decks whose suits are alike."""

from collections.abc import Sequence

from hypothesis import strategies as st

from firmware_bridge.core.terms import HandCategory
from firmware_bridge.odds.deck import Deck


def deck_of(cards: Sequence[int]) -> Deck:
    """The deck of these physical cards, by index."""
    return Deck([cards.count(card) for card in range(52)])


def any_cards(fewest: int, most: int) -> st.SearchStrategy[list[int]]:
    """Physical cards at random, three of one kind at the most."""
    kinds = st.integers(0, 51)
    return st.lists(kinds, min_size=fewest, max_size=most).filter(
        lambda cards: all(cards.count(card) <= 3 for card in cards)
    )


@st.composite
def alike_suits(draw: st.DrawFn, fewest: int, most: int) -> list[int]:
    """A few ranks in two to four suits alike, one or two of each card."""
    shapes = [
        (suits, copies, ranks)
        for suits in (2, 3, 4)
        for copies in (1, 2)
        for ranks in range(1, 14)
        if fewest <= suits * copies * ranks <= most
    ]
    suits, copies, number = draw(st.sampled_from(shapes))
    ranks = draw(st.lists(st.integers(0, 12), min_size=number, max_size=number, unique=True))
    return [rank * 4 + suit for rank in ranks for suit in range(suits) for _ in range(copies)]


def decks(fewest: int, most: int) -> st.SearchStrategy[list[int]]:
    """Either kind of deck."""
    return st.one_of(any_cards(fewest, most), alike_suits(fewest, most))


def pays(highest: int = 40) -> st.SearchStrategy[dict[HandCategory, int]]:
    """A pay table that names some categories."""
    return st.dictionaries(st.sampled_from(HandCategory), st.integers(0, highest))
