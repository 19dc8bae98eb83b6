"""The cards that odds are computed over, and every deal from them up to what the suits are called."""

from collections.abc import Iterable, Iterator
from typing import Final

from drivers.cards import DECK_SIZE, RANKS, SUITS

SUIT_COUNT: Final = len(SUITS)
RANK_COUNT: Final = len(RANKS)
_ACES: Final = DECK_SIZE - SUIT_COUNT


class Deck:
    """How often each of the 52 cards is there: several decks shuffled together, or only some of the cards.

    `counts` goes by a card's index, `columns` by suit and then rank; `size` is the number of physical cards. Two suits
    that hold the same ranks equally often can change names without changing the game: `deals` lists one deal for all
    that differ in such names alone.
    Raises ValueError for anything but 52 counts of zero or more.
    """

    counts: tuple[int, ...]
    columns: tuple[tuple[int, ...], ...]
    size: int

    def __init__(self, counts: Iterable[int]) -> None:
        self.counts = tuple(counts)
        if len(self.counts) != DECK_SIZE or min(self.counts) < 0:
            raise ValueError(f"a deck is {DECK_SIZE} counts of zero or more, by the card's index")
        self.size = sum(self.counts)
        self.columns = tuple(self.counts[suit::SUIT_COUNT] for suit in range(SUIT_COUNT))
        self._twins = [[other for other, column in enumerate(self.columns) if column == own] for own in self.columns]
        self._suits = [tuple(self._suits_to_try(seen)) for seen in range(1 << SUIT_COUNT)]

    @classmethod
    def of_decks(cls, decks: int) -> "Deck":
        """`decks` full decks of 52 cards shuffled together."""
        return cls([decks] * DECK_SIZE)

    def _suits_to_try(self, seen: int) -> Iterator[tuple[int, int, int]]:
        """(suit, how many suits it stands for, suits then seen); the bits of `seen` are the suits named so far."""
        for suit in range(SUIT_COUNT):
            unseen = [twin for twin in self._twins[suit] if not seen >> twin & 1]
            if suit not in unseen:
                yield suit, 1, seen
            elif suit == unseen[0]:
                yield suit, len(unseen), seen | 1 << suit

    def deals(self, gone: tuple[int, ...], number: int) -> list[tuple[tuple[int, ...], int]]:
        """Every deal of `number` cards once the physical cards `gone` (indices) have left the deck.

        Lists the cards, highest rank first, and how many ordered deals they stand for: all orders of dealing, all
        copies, all renamings of suits that `gone` does not name. A hand may come more than once, each time with its
        share; the shares add up to `left * (left - 1) * ...`, and `number`! ordered deals make one set of cards.
        """
        if number == 0:
            return [((), 1)]
        left = list(self.counts)
        named = 0
        for card in gone:
            left[card] -= 1
            named |= 1 << card % SUIT_COUNT
        deals: list[tuple[tuple[int, ...], int, int, int]] = [((), 1, named, 0)]
        for position in range(1, number + 1):
            longer = []
            for cards, ways, seen, run in deals:
                suits = self._suits[seen]
                top = cards[-1] // SUIT_COUNT * SUIT_COUNT if cards else _ACES
                for rank in range(top, -1, -SUIT_COUNT):
                    same = run + 1 if rank == top else 1
                    for suit, stands_for, now_seen in suits:
                        card = rank + suit
                        copies = left[card] - cards.count(card)
                        if copies:
                            orders = ways * position // same
                            longer.append(((*cards, card), orders * stands_for * copies, now_seen, same))
            deals = longer
        return [(cards, ways) for cards, ways, _, _ in deals]

    def renamed(self, cards: tuple[int, ...]) -> tuple[int, ...]:
        """The same cards with suits renamed in the order they appear, so that decks of like suits share one answer."""
        names: dict[int, int] = {}
        for card in cards:
            suit = card % SUIT_COUNT
            if suit not in names:
                names[suit] = next(twin for twin in self._twins[suit] if twin not in names.values())
        return tuple(card - card % SUIT_COUNT + names[card % SUIT_COUNT] for card in cards)
