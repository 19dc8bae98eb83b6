"""Measuring several things beside each other on a machine that does other work too."""

from collections.abc import Callable, Mapping
from time import process_time


def best_times(runs: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The best CPU time of each in s. In a round all take their turn, so that a busy machine slows everyone alike."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            begun = process_time()
            run()
            best[name] = min(best[name], process_time() - begun)
    return best
