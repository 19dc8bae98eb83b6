"""The rules a round is played by: a house, and what the table has chosen within it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from firmware_bridge.core.rules.frequencies import against_the_house
from firmware_bridge.core.rules.house import Coverage, House, Nonqualify, Schedule

Value = TypeVar("Value", bound=str)


class RulesRefused(ValueError):
    """The house does not offer what was chosen; the text says what, and what it does offer, in one sentence."""


@dataclass(frozen=True, slots=True)
class Rules:
    """`coverage` is None where no player-dealer covers the wagers."""

    house: House
    schedule: Schedule
    nonqualify: Nonqualify
    coverage: Coverage | None


def choose_rules(house: House, *, schedule: int, decks: int, options: Mapping[str, str]) -> Rules:
    """The rules of `house` under a schedule, a number of decks, and options `nonqualify` and `coverage`.

    Raises RulesRefused.
    """
    chosen = house.schedule(schedule)
    if chosen is None:
        numbers = ", ".join(str(known.number) for known in house.schedules)
        msg = f"the house {house.name} has no schedule {schedule}: it has {numbers}"
        raise RulesRefused(msg)
    if not house.deal.decks_min <= decks <= house.deal.decks_max:
        against = against_the_house(chosen, decks) if decks > 1 else None
        if against is not None:
            msg = f"schedule {schedule} of the house {house.name} {against}"
            raise RulesRefused(msg)
        msg = f"the house {house.name} plays with {house.deal.decks_min} to {house.deal.decks_max} decks, not {decks}"
        raise RulesRefused(msg)
    nonqualify: Nonqualify = house.settlement.nonqualify_ante
    coverage: Coverage | None = house.position.coverage if house.position else None
    for name, value in options.items():
        if name == "nonqualify":
            nonqualify = _among(house, name, value, house.settlement.nonqualify_ante_options)
        elif name == "coverage" and house.position is not None:
            coverage = _among(house, name, value, house.position.coverage_options)
        else:
            known = "nonqualify and coverage" if house.position else "nonqualify"
            msg = f"the house {house.name} has no option {name!r}: it has {known}"
            raise RulesRefused(msg)
    return Rules(house, chosen, nonqualify, coverage)


def _among(house: House, name: str, value: str, offered: tuple[Value, ...]) -> Value:
    for known in offered:
        if known == value:
            return known
    msg = f"the house {house.name} does not offer {name} = {value!r}: it offers {', '.join(offered)}"
    raise RulesRefused(msg)
