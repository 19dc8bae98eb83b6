"""How often each hand comes from a shoe of several decks, and what a pay table is worth there. Exact integers."""

from collections.abc import Mapping
from fractions import Fraction
from math import comb

from firmware_bridge.core.ranking import SixCardHand
from firmware_bridge.core.rules.house import Schedule
from firmware_bridge.core.six_card_bonus import count_six_cards
from firmware_bridge.core.terms import HandCategory


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


def six_card_counts(decks: int) -> Mapping[SixCardHand | None, int]:
    """Sets of each best hand among the `comb(52 * decks, 6)` that six cards of the shoe can make; None = nothing."""
    return count_six_cards(((decks,) * 13,) * 4)


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


def against_the_house(schedule: Schedule, decks: int) -> str | None:
    """What is wrong with a schedule's pay tables on so many decks: a table that gives the player the edge, or None."""
    for wager, edge in pay_table_edges(schedule.pair_plus, schedule.six_card, decks).items():
        if edge < 0:
            return (
                f"pays {wager} so that on {decks} decks the player has the edge, {float(-edge):.6%} of the wager: "
                f"lower the pays or the number of decks"
            )
    return None
