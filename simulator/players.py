"""The people who sit at the table: what they wager, and whether they play. They see their own cards and no others."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, TypeAlias

import msgspec

from drivers.cards import Card

CHIP: Final = 500  # minor units; every stake is a number of these
QUEEN, SIX, FOUR = 10, 4, 2  # ranks as Card counts them
Wagers: TypeAlias = Mapping[str, int]
Chance: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1)]


class Custom(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How people wager in a house. `chances`: how likely a seat makes each wager; `fee`: per round, in minor units.

    `together`: the wagers that a seat has to make at once. `face_up`: cards of the dealer that are dealt face up.
    """

    chances: dict[str, Chance]
    together: tuple[str, ...] = ()
    fee: int = 0
    player_dealer: bool = False
    face_up: int = 0
    shuffle_every_round: bool = True
    fold_counted: bool = True


def worth_playing(cards: Sequence[Card]) -> bool:
    """Queen, six, four or better: the well-known dividing line (players here are no worse than that)."""
    ranks = sorted((card.rank for card in cards), reverse=True)
    if len({card.suit for card in cards}) == 1 or len(set(ranks)) < len(ranks):
        return True
    if ranks[0] - ranks[-1] == 2 or ranks == [12, 1, 0]:
        return True
    return ranks >= [QUEEN, SIX, FOUR]


@dataclass(slots=True)
class Crowd:
    """Who sits where. Seats are taken and left now and then, never all of them left."""

    randomness: random.Random
    places: tuple[int, ...]
    custom: Custom
    seated: tuple[int, ...] = ()

    def sit_down(self) -> tuple[int, ...]:
        """The seats taken in the next round, ascending."""
        if not self.seated:
            count = min(len(self.places), self.randomness.randint(3, 5))
            self.seated = tuple(sorted(self.randomness.sample(self.places, count)))
        elif self.randomness.random() < 0.2:
            self._change_one()
        return self.seated

    def _change_one(self) -> None:
        free = [place for place in self.places if place not in self.seated]
        taken = list(self.seated)
        if free and (len(taken) < 3 or self.randomness.random() < 0.5):
            taken.append(self.randomness.choice(free))
        elif len(taken) > 2:
            taken.remove(self.randomness.choice(taken))
        self.seated = tuple(sorted(taken))

    def wagers(self) -> dict[int, Wagers]:
        """Seat to its wagers, in minor units: at least one of the initial wagers each."""
        made: dict[int, Wagers] = {}
        for seat in self.sit_down():
            stakes: dict[str, int] = {}
            for name, chance in self.custom.chances.items():
                if self.randomness.random() < chance:
                    stakes[name] = CHIP * self.randomness.randint(1, 4)
            if not {"ante", "pair_plus"} & stakes.keys():
                stakes["ante"] = CHIP
            for name in self.custom.together:
                stakes.setdefault(name, CHIP)
            if self.custom.fee:
                stakes["fee"] = self.custom.fee
            made[seat] = stakes
        return made
