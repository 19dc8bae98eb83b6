"""The best five of six cards over every set of six.

The sets are counted by their ranks alone, and those with five or six cards of one suit then moved to where they belong.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, combinations_with_replacement
from math import comb, prod
from types import MappingProxyType
from typing import Final, TypeAlias

from drivers.cards import RANKS
from firmware_bridge.core.ranking import SixCardHand

Best: TypeAlias = SixCardHand | None

RANK_COUNT: Final = len(RANKS)
SET_SIZE: Final = 6
_RUN: Final = 5
_ROYAL_MASK: Final = 0b11111 << RANK_COUNT - _RUN
_BEFORE_FLUSH: Final = (SixCardHand.FOUR_OF_A_KIND, SixCardHand.FULL_HOUSE)


@cache
def count_six_cards(columns: tuple[tuple[int, ...], ...]) -> Mapping[Best, int]:
    """How many sets of six cards make each hand, None for those below three of a kind.

    `columns`: for each suit, how many cards of each of the 13 ranks there are, deuces first.
    """
    copies = [sum(of_rank) for of_rank in zip(*columns, strict=True)]
    counts: Counter[Best] = Counter()
    for repeats, ways in _ways_by_repeats(copies).items():
        counts[_by_repeats(repeats)] += ways
    straights = sum(_straights(copies))
    counts[None] -= straights
    counts[SixCardHand.STRAIGHT] += straights
    for column, suits in Counter(columns).items():
        for without_suits, best, ways in _suited(column, copies):
            counts[without_suits] -= suits * ways
            counts[best] += suits * ways
    return MappingProxyType({hand: counts[hand] for hand in (*SixCardHand, None)})


def _ways_by_repeats(copies: Sequence[int]) -> dict[tuple[int, ...], int]:
    """Sets of six by how often their ranks repeat, most often first: (2, 1, 1, 1, 1) is one pair."""
    ways: dict[tuple[int, ...], int] = {(): 1}
    for of_rank in copies:
        grown: Counter[tuple[int, ...]] = Counter(ways)
        for repeats, before in ways.items():
            for taken in range(1, min(of_rank, SET_SIZE - sum(repeats)) + 1):
                grown[tuple(sorted((*repeats, taken), reverse=True))] += before * comb(of_rank, taken)
        ways = grown
    return {repeats: count for repeats, count in ways.items() if sum(repeats) == SET_SIZE}


def _by_repeats(repeats: Sequence[int]) -> Best:
    most, second, *_ = (*repeats, 0)
    if most >= 4:
        return SixCardHand.FOUR_OF_A_KIND
    if most == 3:
        return SixCardHand.FULL_HOUSE if second >= 2 else SixCardHand.THREE_OF_A_KIND
    return None


def _straights(copies: Sequence[int]) -> Iterator[int]:
    """Sets of six, whatever their suits, with five ranks in sequence: six ranks, or five with one of them twice."""
    for ranks in combinations(range(RANK_COUNT), SET_SIZE):
        if _has_run(_mask(ranks)):
            yield prod(copies[rank] for rank in ranks)
    for ranks in combinations(range(RANK_COUNT), _RUN):
        if _has_run(_mask(ranks)):
            yield prod(copies[rank] for rank in ranks) * sum(copies[rank] - 1 for rank in ranks) // 2


def _suited(column: Sequence[int], copies: Sequence[int]) -> Iterator[tuple[Best, Best, int]]:
    """Sets with five or six cards of the suit that holds `column`, by (hand without regard to suits, hand, sets)."""
    left_over = [of_rank - own for of_rank, own in zip(copies, column, strict=True)]
    for ranks, ways in _of_one_suit(column, SET_SIZE):
        mask = _mask(ranks)
        plain = _without_suits(ranks, mask)
        yield plain, _with_suit(mask, plain), ways
    for ranks, ways in _of_one_suit(column, _RUN):
        mask = _mask(ranks)
        plains: Counter[Best] = Counter()
        for rank, left in enumerate(left_over):
            plains[_without_suits((*ranks, rank), mask | 1 << rank)] += left
        for plain, left in plains.items():
            yield plain, _with_suit(mask, plain), ways * left


def _of_one_suit(column: Sequence[int], number: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Every choice of `number` ranks from one suit, with the ways to choose the cards."""
    if max(column) <= 1:
        for ranks in combinations((rank for rank in range(RANK_COUNT) if column[rank]), number):
            yield ranks, 1
        return
    for ranks in combinations_with_replacement(range(RANK_COUNT), number):
        ways = prod(comb(column[rank], taken) for rank, taken in Counter(ranks).items())
        if ways:
            yield ranks, ways


def _without_suits(ranks: Sequence[int], mask: int) -> Best:
    if mask.bit_count() >= _RUN:
        return SixCardHand.STRAIGHT if _has_run(mask) else None
    return _by_repeats(sorted(Counter(ranks).values(), reverse=True))


def _with_suit(mask: int, plain: Best) -> Best:
    """The hand, where the ranks of `mask` are of one suit and the cards make `plain` without regard to suits."""
    if mask & _ROYAL_MASK == _ROYAL_MASK:
        return SixCardHand.ROYAL_FLUSH
    if _has_run(mask):
        return SixCardHand.STRAIGHT_FLUSH
    return plain if plain in _BEFORE_FLUSH else SixCardHand.FLUSH


def _mask(ranks: Sequence[int]) -> int:
    mask = 0
    for rank in ranks:
        mask |= 1 << rank
    return mask


def _has_run(mask: int) -> bool:
    """Whether five ranks follow one another; the ace stands above the king and below the deuce."""
    mask = mask << 1 | mask >> RANK_COUNT - 1
    return bool(mask & mask >> 1 & mask >> 2 & mask >> 3 & mask >> 4)
