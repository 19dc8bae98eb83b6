"""How far a player-dealer's wager covers the others' stacks. Money in minor units."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from firmware_bridge.core.rules.house import Coverage

StackResult: TypeAlias = Literal["win", "lose", "push"]


@dataclass(frozen=True, slots=True)
class PositionWager:
    """Who holds the position, what covers the others' wagers, and whose stack has action first."""

    seat: int
    wager: int
    action_seat: int


@dataclass(slots=True)
class Bank:
    """The player-dealer's wager while stacks have their action one after the other.

    `gross`: every unit won or lost uses it up. `bankroll`: it pays and collects, wins no more than it was, and at
    nothing the round is over. Pushes use nothing, but have action only while something is left.
    """

    wager: int
    coverage: Coverage
    net: int = 0
    _used: int = field(default=0, init=False)

    def cover(self, stake: int, result: StackResult) -> int:
        """How much of the stake has action; what is won or lost of it is booked."""
        left = self.wager - self._used if self.coverage == "gross" else self.wager + self.net
        if left <= 0:
            return 0
        if result == "push":
            return stake
        if result == "win":
            action = min(stake, left)
            self.net -= action
        else:
            action = min(stake, left if self.coverage == "gross" else self.wager - self.net)
            self.net += action
        self._used += action
        return action


def in_action_order(seats: list[int], action_seat: int) -> list[int]:
    """The seats clockwise, beginning with the action seat or the first after it."""
    return sorted(seats, key=lambda seat: (seat < action_seat, seat))
