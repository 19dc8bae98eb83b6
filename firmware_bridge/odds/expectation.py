"""A wager's mean result as an exact fraction, and that of the wagers which the cards decide without any choice."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import factorial
from typing import TypeVar

from firmware_bridge.core.ranking import RANKS, SixCardHand, category
from firmware_bridge.core.six_card_bonus import count_six_cards
from firmware_bridge.core.terms import HandCategory
from firmware_bridge.odds.deck import Deck
from firmware_bridge.odds.showdown import HAND_SIZE

Named = TypeVar("Named")


@dataclass(frozen=True)
class Expectation:
    """`numerator` / `denominator`: the mean net result of one unit wagered, over all deals, not reduced."""

    numerator: int
    denominator: int

    @property
    def edge(self) -> float:
        """What the house keeps of one unit wagered; negative where the player has the better of it."""
        return -self.numerator / self.denominator


def pair_plus(deck: Deck, pays: Mapping[HandCategory, int]) -> Expectation:
    """Pair plus over all hands of three cards; a category that `pays` does not name loses."""
    ways: Counter[HandCategory] = Counter()
    for (a, b, c), share in deck.deals((), HAND_SIZE):
        ways[category(RANKS[a][b][c])] += share
    counts = {hand: share // factorial(HAND_SIZE) for hand, share in ways.items()}
    return _paid(counts, sum(counts.values()), pays)


def six_card(deck: Deck, pays: Mapping[SixCardHand, int]) -> Expectation:
    """The 6 Card Bonus over all sets of a player's three and the dealer's three cards; a hand not in `pays` loses."""
    counts = count_six_cards(deck.columns)
    return _paid({hand: counts[hand] for hand in pays}, sum(counts.values()), pays)


def _paid(counts: Mapping[Named, int], hands: int, pays: Mapping[Named, int]) -> Expectation:
    return Expectation(sum((pay + 1) * counts.get(hand, 0) for hand, pay in pays.items()) - hands, hands)
