"""How often each hand comes from a shoe of several decks, and what a pay table is worth there. Exact integers."""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations_with_replacement
from math import comb

from firmware_bridge.hands import SixCardHand, best_five
from firmware_bridge.terms import HandCategory


def three_card_counts(decks: int) -> dict[HandCategory, int]:
    """Hands of each category among the `comb(52 * decks, 3)` that three cards of the shoe can make."""
    cube = decks**3
    straight_flush = 48 * cube
    identical = comb(decks, 3)
    return {
        HandCategory.STRAIGHT_FLUSH: straight_flush,
        HandCategory.THREE_OF_A_KIND: 13 * comb(4 * decks, 3),
        HandCategory.STRAIGHT: 720 * cube,
        HandCategory.FLUSH: 4 * comb(13 * decks, 3) - straight_flush - 52 * identical,
        HandCategory.PAIR: 13 * comb(4 * decks, 2) * 48 * decks - 52 * comb(decks, 2) * 12 * decks,
        HandCategory.HIGH_CARD: 16_440 * cube,
    }


def pair_plus_total(pays: Mapping[HandCategory, int], decks: int) -> tuple[int, int]:
    """What one unit wins in sum over all hands, and the number of hands: the expectation as a fraction, unreduced."""
    counts = three_card_counts(decks)
    won = sum(count * pays.get(category, -1) for category, count in counts.items())
    return won, comb(52 * decks, 3)


def six_card_counts(decks: int) -> dict[SixCardHand | None, int]:
    """Sets of each best hand among the `comb(52 * decks, 6)` that six cards of the shoe can make; None = nothing.

    First every set by its ranks alone, then those with five or six cards of one suit are moved to where they belong.
    """
    of_rank = [comb(4 * decks, copies) for copies in range(7)]
    of_card = [comb(decks, copies) for copies in range(7)]
    totals: Counter[SixCardHand | None] = Counter()
    for ranks in combinations_with_replacement(range(13), 6):
        counts = _counted(ranks)
        totals[best_five(counts, None)] += _ways(counts, of_rank)
    for held in (5, 6):
        for suited in combinations_with_replacement(range(13), held):
            counts = _counted(suited)
            ways = 4 * _ways(counts, of_card)
            if not ways:
                continue
            if held == 6:
                _move(totals, counts, suited, ways)
                continue
            for other in range(13):
                counts[other] += 1
                _move(totals, counts, suited, ways * 3 * decks)
                counts[other] -= 1
    return {hand: totals[hand] for hand in (*SixCardHand, None)}


def _move(totals: Counter[SixCardHand | None], counts: list[int], suited: tuple[int, ...], ways: int) -> None:
    totals[best_five(counts, None)] -= ways
    totals[best_five(counts, suited)] += ways


def _counted(ranks: tuple[int, ...]) -> list[int]:
    counts = [0] * 13
    for rank in ranks:
        counts[rank] += 1
    return counts


def _ways(counts: list[int], choices: list[int]) -> int:
    ways = 1
    for copies in counts:
        if copies:
            ways *= choices[copies]
    return ways


def six_card_total(pays: Mapping[SixCardHand, int], decks: int) -> tuple[int, int]:
    """As `pair_plus_total`, for the 6 Card Bonus."""
    counts = six_card_counts(decks)
    won = sum(count * (-1 if hand is None else pays.get(hand, -1)) for hand, count in counts.items())
    return won, comb(52 * decks, 6)


def pay_table_edges(
    pair_plus: Mapping[HandCategory, int], six_card: Mapping[SixCardHand, int], decks: int
) -> dict[str, Fraction]:
    """The house's edge on each of the two wagers that a pay table alone decides; an empty table is left out."""
    edges: dict[str, Fraction] = {}
    if pair_plus:
        edges["pair_plus"] = -Fraction(*pair_plus_total(pair_plus, decks))
    if six_card:
        edges["six_card"] = -Fraction(*six_card_total(six_card, decks))
    return edges
