"""Hands of three cards by table lookup, and the best five of six for the 6 Card Bonus.

A rank is an integer: the higher beats the lower, equal ranks tie, and suits never break a tie. Cards are given by
their `index` (rank * 4 + suit), so identical cards of several decks are just equal indexes.
"""

import enum
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from drivers.cards import Card
from firmware_bridge.core.terms import HandCategory

_CATEGORY_SPAN: Final = 13**3
_LOW_TO_HIGH: Final = tuple(reversed(HandCategory))
_ACE_LOW_STRAIGHT: Final = (12, 1, 0)
_ACE: Final = 12

Table: TypeAlias = list[list[list[int]]]


class SixCardHand(enum.Enum):
    """The best five of six cards that the 6 Card Bonus can pay, highest first."""

    ROYAL_FLUSH = "royal_flush"
    STRAIGHT_FLUSH = "straight_flush"
    FOUR_OF_A_KIND = "four_of_a_kind"
    FULL_HOUSE = "full_house"
    FLUSH = "flush"
    STRAIGHT = "straight"
    THREE_OF_A_KIND = "three_of_a_kind"


def _rank_of(high: int, middle: int, low: int, *, suited: bool) -> int:
    """The rank of three card ranks (0..12), highest first."""
    ranks = (high, middle, low)
    in_sequence = ranks == _ACE_LOW_STRAIGHT or (high - middle == 1 and middle - low == 1)
    if in_sequence:
        level = 5 if suited else 3
        ranks = (1, 0, 0) if ranks == _ACE_LOW_STRAIGHT else (high, 0, 0)
    elif high == low:
        level = 4
    elif suited:
        level = 2
    elif high == middle:
        level = 1
        ranks = (high, low, 0)
    elif middle == low:
        level = 1
        ranks = (low, high, 0)
    else:
        level = 0
    return level * _CATEGORY_SPAN + ranks[0] * 169 + ranks[1] * 13 + ranks[2]


def _build() -> Table:
    """T[a][b][c]: rows are shared wherever the answer is the same, so that the table is small and quickly made.

    The answer depends on the three ranks and on whether the suits agree. For a pair (a, b) of unequal suits no c
    can make a flush: one row a pair of ranks serves them all. Where suits agree, only the c of that suit differ.
    Equal ranks are one object, which keeps the table small enough for the processor's caches.
    """
    one_object: dict[int, int] = {}
    unsuited: dict[tuple[int, int], list[int]] = {}
    one_suit: dict[tuple[int, int], list[int]] = {}
    for first in range(13):
        for second in range(first + 1):
            plain: list[int] = []
            suited: list[int] = []
            for third in range(13):
                if third > first:
                    ordered = third, first, second
                elif third > second:
                    ordered = first, third, second
                else:
                    ordered = first, second, third
                for row, is_suited in ((plain, False), (suited, True)):
                    value = _rank_of(*ordered, suited=is_suited)
                    row.append(one_object.setdefault(value, value))
            row = [value for value in plain for _ in range(4)]
            unsuited[first, second] = unsuited[second, first] = row
            one_suit[first, second] = one_suit[second, first] = suited
    table: Table = []
    same_suit: dict[tuple[int, int, int], list[int]] = {}
    for rank_pair, row in unsuited.items():
        for suit in range(4):
            copy = row.copy()
            copy[suit::4] = one_suit[rank_pair]
            same_suit[(*rank_pair, suit)] = copy
    for a in range(52):
        rank_a, suit_a = divmod(a, 4)
        table.append(
            [same_suit[rank_a, b >> 2, suit_a] if b & 3 == suit_a else unsuited[rank_a, b >> 2] for b in range(52)]
        )
    return table


RANKS: Final[Table] = _build()


def rank(a: int, b: int, c: int) -> int:
    """The rank of three cards by index, in any order; higher is better."""
    return RANKS[a][b][c]


def category(hand_rank: int) -> HandCategory:
    """What a rank is called."""
    return _LOW_TO_HIGH[hand_rank // _CATEGORY_SPAN]


def highest_card(hand_rank: int) -> int | None:
    """The rank (0..12) of the highest card of a high-card hand; None for anything better."""
    return hand_rank // 169 if hand_rank < _CATEGORY_SPAN else None


def rank_cards(cards: Iterable[Card]) -> int:
    """The rank of exactly three cards. Raises ValueError for another number."""
    a, b, c = (card.index for card in cards)
    return RANKS[a][b][c]


def best_of_six(cards: Iterable[Card]) -> SixCardHand | None:
    """The best five-card hand within the cards, None below three of a kind. Identical cards of several decks count."""
    counts = [0] * 13
    by_suit: list[list[int]] = [[] for _ in range(4)]
    for card in cards:
        counts[card.rank] += 1
        by_suit[card.suit].append(card.rank)
    return best_five(counts, next((ranks for ranks in by_suit if len(ranks) >= 5), None))


def best_five(counts: Sequence[int], suited: Iterable[int] | None) -> SixCardHand | None:
    """The same, from how many cards there are of each rank and the ranks of five or more cards of one suit."""
    if suited is not None:
        top = _run_top(suited)
        if top is not None:
            return SixCardHand.ROYAL_FLUSH if top == _ACE else SixCardHand.STRAIGHT_FLUSH
    most = max(counts)
    if most >= 4:
        return SixCardHand.FOUR_OF_A_KIND
    if most == 3 and (counts.count(3) > 1 or 2 in counts):
        return SixCardHand.FULL_HOUSE
    if suited is not None:
        return SixCardHand.FLUSH
    if _run_top(rank_ for rank_ in range(13) if counts[rank_]) is not None:
        return SixCardHand.STRAIGHT
    return SixCardHand.THREE_OF_A_KIND if most == 3 else None


def _run_top(ranks: Iterable[int]) -> int | None:
    """The top rank of the highest run of five among these ranks, the ace also below the deuce; None without one."""
    held = 0
    for rank_ in ranks:
        held |= 2 << rank_
    held |= held >> 13
    runs = held & held >> 1 & held >> 2 & held >> 3 & held >> 4
    return runs.bit_length() + 2 if runs else None
