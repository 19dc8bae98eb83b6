"""What a seat has wagered, whether the house takes it, and how the table's limits cut it. Money in minor units."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from firmware_bridge.core.rules.house import House

OWN: Final = ("ante", "pair_plus", "six_card")
TIPS: Final = (("tip_play", "ante"), ("tip_ante", "ante"), ("tip_pair_plus", "pair_plus"))

LIMITED: Final = (*OWN, *(tip for tip, _ in TIPS))


class SeatWagers(msgspec.Struct, frozen=True, kw_only=True):
    """The stakes before the deal; 0 = none. The play wager equals the ante and is placed by deciding to play."""

    ante: int = 0
    pair_plus: int = 0
    six_card: int = 0
    tip_ante: int = 0
    tip_pair_plus: int = 0
    tip_play: int = 0
    fee: int = 0

    def stake(self, name: str) -> int:
        """The wager of that name, in minor units; 0 where there is none."""
        return int(getattr(self, name))

    def named(self) -> dict[str, int]:
        """The stakes that are not 0, by name."""
        return {name: self.stake(name) for name in self.__struct_fields__ if self.stake(name)}


def wagers_refusal(house: House, wagers: SeatWagers) -> str | None:
    """Why the house does not take these wagers together, as the end of a sentence about the seat; None if it does."""
    for name in OWN:
        if wagers.stake(name) and name not in house.wagers.offered:
            return f"has a {name} wager, which the house {house.name} does not offer"
    for tip, beside in TIPS:
        if not wagers.stake(tip):
            continue
        if tip not in house.wagers.tips:
            return f"has a {tip}, which the house {house.name} does not offer"
        if not wagers.stake(beside):
            return f"has a {tip} without a wager of the player's own on the {beside}"
    if not any(wagers.stake(name) for name in OWN):
        return "has no wager of the player's own"
    for name in house.wagers.required:
        if not wagers.stake(name):
            return f"has no {name}, which the house {house.name} demands"
    if wagers.fee and house.wagers.fee == "none":
        return f"has paid a fee, but the house {house.name} takes none"
    return None


def fee_refusal(house: House, wagers: SeatWagers) -> str | None:
    """Why the fee is not the one of the house's tiers; None where it is, or where the house lists none."""
    tiers = house.wagers.fee_tiers
    if not tiers:
        return None
    for tier in tiers:
        if wagers.ante <= tier.ante_up_to:
            if wagers.fee == tier.fee:
                return None
            return f"has paid a fee of {wagers.fee} on an ante of {wagers.ante}: the fee is {tier.fee}"
    return f"has an ante of {wagers.ante}, above the highest tier of fees ({tiers[-1].ante_up_to})"


@dataclass(frozen=True, slots=True)
class Limits:
    """Per wager; 0 = none. In force from `from_ms` on."""

    minimum: int
    maximum: int
    from_ms: int = 0


def limits_at(limits: Sequence[Limits], at_ms: int) -> Limits:
    """Those in force: the last announced of those whose time has come."""
    return next(known for known in reversed(limits) if known.from_ms <= at_ms)


def limits_refusal(house: House, limits: Limits, wagers: SeatWagers) -> str | None:
    """Why the limits refuse the wagers, as the end of a sentence about the seat.

    The minimum is for the player's own wagers; the maximum is for tips too.
    """
    for name in LIMITED:
        stake = wagers.stake(name)
        if name in OWN and 0 < stake < limits.minimum:
            return f"has {stake} on the {name}, below the table's minimum of {limits.minimum}"
        if 0 < limits.maximum < stake and house.wagers.above_maximum == "refused":
            return f"has {stake} on the {name}, above the table's maximum of {limits.maximum}"
    return None


def cut_to_limits(limits: Limits, wagers: SeatWagers) -> tuple[SeatWagers, dict[str, int]]:
    """The wagers that stand, and what is over the maximum and goes back, by name."""
    returned = {
        name: wagers.stake(name) - limits.maximum for name in LIMITED if 0 < limits.maximum < wagers.stake(name)
    }
    kept = {name: wagers.stake(name) - returned.get(name, 0) for name in wagers.__struct_fields__}
    return SeatWagers(**kept), returned
