"""Ante and play: the mean result of the player who plays every hand that does better than folding."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import factorial
from operator import mul
from typing import Final, TypeAlias

from firmware_bridge.core.ranking import RANKS, category
from firmware_bridge.core.rules.house import Nonqualify
from firmware_bridge.core.terms import HandCategory
from firmware_bridge.odds.deck import Deck
from firmware_bridge.odds.expectation import Expectation
from firmware_bridge.odds.showdown import HAND_SIZE, DealerHands, Hand

Deal: TypeAlias = tuple[Hand, int]
Nets: TypeAlias = tuple[int, ...]

FOLDED: Final = -1
_QUALIFIED: Final = (2, 0, -2)
_UNQUALIFIED: Final[Mapping[Nonqualify, Nets]] = {
    "paid": (1, 1, 1),
    "compare": (1, 0, 0),
    "compare_lose": (1, 0, -1),
}


@dataclass(frozen=True)
class AnteRules:
    """What decides ante and play.

    The dealer qualifies with the card of rank `qualifies_with` (0..12) high or better; `nonqualify` says what becomes
    of the ante otherwise. `bonus` is paid on the ante, whatever the dealer has. The player sees `face_up` of the
    dealer's cards.
    """

    qualifies_with: int
    nonqualify: Nonqualify
    bonus: Mapping[HandCategory, int]
    face_up: int


@dataclass(frozen=True)
class AntePlay:
    """Ante and play, played best. `nets`: deals by the net result in antes; `played`: deals in which play is wagered.

    `play_from`: the lowest hand, highest card first, from which up every hand is played. None where the dealer's cards
    seen decide with it, and where even the best hand folds.
    """

    nets: Mapping[int, int]
    played: int
    play_from: Hand | None

    @property
    def expectation(self) -> Expectation:
        """The mean net result per ante."""
        return Expectation(sum(net * deals for net, deals in self.nets.items()), sum(self.nets.values()))


def ante_play(deck: Deck, rules: AnteRules, watch: Callable[[Sequence[Deal]], Iterable[Deal]] = iter) -> AntePlay:
    """Play whatever does better than folding, knowing one's own cards and those of the dealer's that lie face up.

    Which of the dealer's three cards lie face up is chance: every choice counts as a deal of its own.
    `watch` passes the player's hands on, and may show how many are done. Raises ValueError for a deck too small.
    """
    dealer = DealerHands(deck, rules.qualifies_with)
    outcomes = (*_UNQUALIFIED[rules.nonqualify], *_QUALIFIED)
    bonuses = {rank: rules.bonus.get(category(rank), 0) for rank in dealer.ranks}
    nets: Counter[int] = Counter()
    played = 0
    examples: dict[int, Hand] = {}
    folding: set[int] = set()
    for hand, ways in watch(deck.deals((), HAND_SIZE)):
        rank = RANKS[hand[0]][hand[1]][hand[2]]
        examples[rank] = hand
        results = [net + bonuses[rank] for net in outcomes]
        for face_up, shown_ways in deck.deals(hand, rules.face_up):
            showdown = dealer.showdown(hand, face_up)
            hands = sum(showdown)
            weight = ways * shown_ways
            if sum(map(mul, results, showdown)) > FOLDED * hands:
                played += weight * hands
                for net, count in zip(results, showdown, strict=True):
                    nets[net] += weight * count
            else:
                folding.add(rank)
                nets[FOLDED] += weight * hands
    always = [rank for rank in dealer.ranks if rank > max(folding, default=-1)]
    orders = factorial(HAND_SIZE) * factorial(rules.face_up)
    return AntePlay(
        {net: deals // orders for net, deals in sorted(nets.items()) if deals},
        played // orders,
        examples[always[0]] if always and not rules.face_up else None,
    )
