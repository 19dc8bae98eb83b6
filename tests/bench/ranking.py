"""Ranking three cards, beside the two libraries that can do it: `make bench`.

Everyone ranks the same 22,100 hands, from cards in the form it likes best, made beforehand, and through the least of
its calls that does the work. All must agree which hand beats which before anything is measured.
"""

import sys
from collections.abc import Callable
from itertools import combinations, pairwise
from typing import Final

import clubs
import pokerkit

from drivers.cards import FULL_DECK
from firmware_bridge.core.ranking import rank
from tests.bench.turns import best_times

ROUNDS: Final = 25
OURS: Final = "firmware-bridge"
AIMS: Final = {"clubs": 15, "pokerkit": 30}
HANDS: Final = tuple(combinations(range(len(FULL_DECK)), 3))


def _clubs() -> tuple[Callable[[], None], list[int]]:
    deck = [clubs.Card(str(card)) for card in FULL_DECK]
    hands = [[deck[a], deck[b], deck[c]] for a, b, c in HANDS]
    lookup = clubs.poker.Evaluator(4, 13, 3).table.lookup

    def run() -> None:
        for hand in hands:
            lookup(hand)

    return run, [-lookup(hand) for hand in hands]


def _pokerkit() -> tuple[Callable[[], None], list[int]]:
    deck = [next(pokerkit.Card.parse(str(card))) for card in FULL_DECK]
    hands = [(deck[a], deck[b], deck[c]) for a, b, c in HANDS]
    lookup = pokerkit.RhodeIslandHoldemLookup().get_entry

    def run() -> None:
        for hand in hands:
            lookup(hand)

    return run, [lookup(hand).index for hand in hands]


def _ours() -> tuple[Callable[[], None], list[int]]:
    def run() -> None:
        for a, b, c in HANDS:
            rank(a, b, c)

    return run, [rank(a, b, c) for a, b, c in HANDS]


def _agree(ours: list[int], theirs: list[int]) -> bool:
    """Whether both lists put the hands into the same order, ties included."""
    pairs = sorted(set(zip(ours, theirs, strict=True)))
    return all(low[0] < high[0] and low[1] < high[1] for low, high in pairwise(pairs))


def main() -> int:
    """Measure and print; 1 when a peer ranks otherwise."""
    runs: dict[str, Callable[[], None]] = {}
    runs[OURS], ours = _ours()
    for name, (run, theirs) in {"clubs": _clubs(), "pokerkit": _pokerkit()}.items():
        if not _agree(ours, theirs):
            print(f"{name} ranks three cards otherwise: nothing to compare", file=sys.stderr)
            return 1
        runs[name] = run
    best = best_times(runs, ROUNDS)
    print(f"ranking three cards, {len(HANDS):,} hands, best of {ROUNDS} rounds")
    for name, seconds in best.items():
        speed = f"{name:16} {seconds / len(HANDS) * 1e9:7.0f} ns a call {len(HANDS) / seconds / 1e6:7.2f} M/s"
        ratio = seconds / best[OURS]
        print(speed if name == OURS else f"{speed}   ratio {ratio:5.1f}, aim {AIMS[name]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
