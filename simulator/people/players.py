"""The people who sit at the table: what they wager, and whether they play. They see their own cards and no others."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, TypeAlias

import msgspec

from drivers.cards import Card

CHIP: Final = 500  # minor units; every stake is a number of these
QUEEN_SIX_FOUR: Final = [10, 4, 2]  # ranks as Card counts them
Wagers: TypeAlias = Mapping[str, int]
Chance: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1)]


class Custom(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How people wager in a house. `chances`: how likely a seat makes each wager; `tips`: the dealer's, beside it.

    `fee`: a seat's for a round, in minor units. `face_up`: cards of the dealer's three that are dealt face up.
    `player_dealer`: one of the seats holds the position. `fold_counted`: folded hands are spread and counted.
    """

    chances: dict[str, Chance]
    tips: dict[str, Chance] = {}
    fee: int = 0
    player_dealer: bool = False
    face_up: int = 0
    fold_counted: bool = False


def worth_playing(cards: Sequence[Card]) -> bool:
    """Queen, six, four or better: the well-known dividing line."""
    ranks = sorted((card.rank for card in cards), reverse=True)
    if len({card.suit for card in cards}) == 1 or len(set(ranks)) < len(ranks):
        return True
    if ranks[0] - ranks[-1] == 2 or ranks == [12, 1, 0]:
        return True
    return ranks >= QUEEN_SIX_FOUR


@dataclass(slots=True)
class Crowd:
    """Who sits where. Seats are taken and left now and then; some always stay taken."""

    randomness: random.Random
    places: tuple[int, ...]
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


def wagers(custom: Custom, randomness: random.Random) -> Wagers:
    """What one seat wagers, in minor units: at least one wager, and a tip only beside the wager it goes with."""
    made = {
        name: CHIP * randomness.randint(1, 4) for name, chance in custom.chances.items() if randomness.random() < chance
    }
    if not made:
        made[next(iter(custom.chances))] = CHIP
    for tip, chance in custom.tips.items():
        if tip.removeprefix("tip_") in made and randomness.random() < chance:
            made[tip] = CHIP
    if custom.fee:
        made["fee"] = custom.fee
    return made
