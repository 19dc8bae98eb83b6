"""Odds by dealing: every deal from a handful of physical cards, ranked and played by rules written here anew."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations

from firmware_bridge.core.ranking import SixCardHand
from firmware_bridge.core.terms import HandCategory

Strength = tuple[int, ...]

CATEGORIES = (
    HandCategory.HIGH_CARD,
    HandCategory.PAIR,
    HandCategory.FLUSH,
    HandCategory.STRAIGHT,
    HandCategory.THREE_OF_A_KIND,
    HandCategory.STRAIGHT_FLUSH,
)


@cache
def strength(hand: tuple[int, ...]) -> Strength:
    """Three card indices as (category's level, what counts ...)."""
    ranks = sorted((card // 4 for card in hand), reverse=True)
    suited = len({card % 4 for card in hand}) == 1
    if ranks == [12, 1, 0]:
        ranks = [1, 0, -1]
    if ranks[0] - 1 == ranks[1] == ranks[2] + 1:
        return (5 if suited else 3, ranks[0])
    counts = sorted(((ranks.count(rank), rank) for rank in set(ranks)), reverse=True)
    if counts[0][0] == 3:
        return (4, ranks[0])
    if suited:
        return (2, *ranks)
    return (1 if counts[0][0] == 2 else 0, *(rank for _, rank in counts))


def qualifies(dealer: Strength, high: int) -> bool:
    """Any category above high card, or a high card at least `high`."""
    return dealer[0] > 0 or dealer[1] >= high


def play_net(player: Strength, dealer: Strength, high: int, nonqualify: str) -> int:
    """What a played hand brings in antes, without bonus."""
    beats = (player > dealer) - (player < dealer)
    if qualifies(dealer, high):
        return 2 * beats
    return {"paid": 1, "compare": max(beats, 0), "compare_lose": beats}[nonqualify]


def split(cards: Sequence[int], number: int) -> Iterator[tuple[tuple[int, ...], list[int]]]:
    """Every choice of `number` of the physical cards, with those left."""
    places = range(len(cards))
    for chosen in combinations(places, number):
        yield tuple(cards[place] for place in chosen), [cards[place] for place in places if place not in chosen]


def ante_nets(
    cards: Sequence[int], high: int, nonqualify: str, bonus: Mapping[HandCategory, int], face_up: int
) -> Counter[int]:
    """Deals by net result in antes, each way for `face_up` of the dealer's cards to lie up dealt on its own."""
    nets: Counter[int] = Counter()
    for hand, left in split(cards, 3):
        player = strength(hand)
        extra = bonus.get(CATEGORIES[player[0]], 0)
        for shown, hidden_from in split(left, face_up):
            played = Counter(
                play_net(player, strength(shown + hidden), high, nonqualify) + extra
                for hidden, _ in split(hidden_from, 3 - face_up)
            )
            deals = sum(played.values())
            if sum(net * count for net, count in played.items()) > -deals:
                nets.update(played)
            else:
                nets[-1] += deals
    return nets


def categories(cards: Sequence[int]) -> Counter[HandCategory]:
    """Three-card hands by category."""
    return Counter(CATEGORIES[strength(hand)[0]] for hand in combinations(cards, 3))


def best_of_six(cards: Sequence[int]) -> SixCardHand | None:
    """The best five of six card indices, found by trying all six fives."""
    order = [*SixCardHand, None]
    return min((_five(five) for five in combinations(cards, 5)), key=order.index)


def _five(cards: Sequence[int]) -> SixCardHand | None:
    ranks = sorted(card // 4 for card in cards)
    counts = sorted((ranks.count(rank) for rank in set(ranks)), reverse=True)
    suited = len({card % 4 for card in cards}) == 1
    run = len(counts) == 5 and (ranks[4] - ranks[0] == 4 or ranks == [0, 1, 2, 3, 12])
    if run and suited:
        return SixCardHand.ROYAL_FLUSH if ranks[0] == 8 else SixCardHand.STRAIGHT_FLUSH
    if counts[0] >= 4:
        return SixCardHand.FOUR_OF_A_KIND
    if counts[:2] == [3, 2]:
        return SixCardHand.FULL_HOUSE
    if suited:
        return SixCardHand.FLUSH
    if run:
        return SixCardHand.STRAIGHT
    return SixCardHand.THREE_OF_A_KIND if counts[0] == 3 else None
