"""How the dealer's possible hands stand against a player's, by counting instead of dealing.

The dealer's hands are counted once by rank over the whole deck. Those that the player's three cards make impossible
are taken off by inclusion and exclusion: all hands, less those with one of the three, plus those with two of them, less
the one with all.
Cards of the dealer's that lie face up belong to every hand counted.
"""

from bisect import bisect_left
from itertools import accumulate, combinations
from math import comb, factorial
from typing import Final, NamedTuple, TypeAlias

from firmware_bridge.core.ranking import RANKS, highest_card
from firmware_bridge.odds.deck import Deck

Hand: TypeAlias = tuple[int, ...]

HAND_SIZE: Final = 3


class Showdown(NamedTuple):
    """The dealer's possible hands, counted by how they stand to the player's; the first three do not qualify."""

    unqualified_below: int
    unqualified_equal: int
    unqualified_above: int
    below: int
    equal: int
    above: int


class DealerHands:
    """The dealer's possible hands from `deck`, qualified with the card of rank `qualifies_with` (0..12) high or better.

    `ranks` are the different hand ranks that the deck can make, lowest first. Raises ValueError for a deck too small
    for two hands.
    """

    ranks: list[int]

    def __init__(self, deck: Deck, qualifies_with: int) -> None:
        if deck.size < 2 * HAND_SIZE:
            raise ValueError(f"a deck of {deck.size} cards is too small for two hands of {HAND_SIZE}")
        self._deck = deck
        self.ranks = sorted({RANKS[a][b][c] for (a, b, c), _ in deck.deals((), HAND_SIZE)})
        self._place = {rank: place for place, rank in enumerate(self.ranks)}
        self._qualified = bisect_left(self.ranks, True, key=lambda rank: _is_at_least(rank, qualifies_with))
        self._tables: dict[Hand, list[int]] = {}

    def showdown(self, hand: Hand, face_up: Hand = ()) -> Showdown:
        """Count the dealer's hands that hold all the cards `face_up` and none of the physical cards of `hand`."""
        equal = self._place[RANKS[hand[0]][hand[1]][hand[2]]]
        above, qualified = equal + 1, self._qualified
        hidden = HAND_SIZE - len(face_up)
        below_equal = below_above = below_qualified = 0
        sign = 1
        for size in range(hidden):
            for some in combinations(hand, size):
                table = self._table(face_up + some)
                below_equal += sign * table[equal]
                below_above += sign * table[above]
                below_qualified += sign * table[qualified]
            sign = -sign
        for some in combinations(hand, hidden):
            a, b, c = face_up + some
            place = self._place[RANKS[a][b][c]]
            below_equal += sign * (place < equal)
            below_above += sign * (place < above)
            below_qualified += sign * (place < qualified)
        every = comb(self._deck.size - HAND_SIZE - len(face_up), hidden)
        if equal >= qualified:
            return Showdown(
                below_qualified, 0, 0, below_equal - below_qualified, below_above - below_equal, every - below_above
            )
        return Showdown(
            below_equal, below_above - below_equal, below_qualified - below_above, 0, 0, every - below_qualified
        )

    def _table(self, named: Hand) -> list[int]:
        """For every place in `ranks` and one past the last: the hands below it that hold these physical cards."""
        table = self._tables.get(named)
        if table is None:
            same = self._deck.renamed(tuple(sorted(named, reverse=True)))
            table = self._tables.get(same)
            if table is None:
                table = self._tables[same] = self._count(same)
            self._tables[named] = table
        return table

    def _count(self, named: Hand) -> list[int]:
        counts = [0] * len(self.ranks)
        for cards, ways in self._deck.deals(named, HAND_SIZE - len(named)):
            a, b, c = named + cards
            counts[self._place[RANKS[a][b][c]]] += ways
        orders = factorial(HAND_SIZE - len(named))
        below = accumulate(counts, initial=0)
        return list(below) if orders == 1 else [count // orders for count in below]


def _is_at_least(rank: int, high: int) -> bool:
    top = highest_card(rank)
    return top is None or top >= high
