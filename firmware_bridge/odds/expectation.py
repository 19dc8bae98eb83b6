"""A wager's mean result as an exact fraction."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Expectation:
    """`numerator` / `denominator`: the mean net result of one unit wagered, over all deals, not reduced."""

    numerator: int
    denominator: int

    @property
    def edge(self) -> float:
        """What the house keeps of one unit wagered; negative where the player has the better of it."""
        return -self.numerator / self.denominator
