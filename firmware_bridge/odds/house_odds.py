"""What every wager of a house costs a player who plays it best."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from drivers.cards import RANKS
from firmware_bridge.houses.house import House, Nonqualify, Schedule
from firmware_bridge.houses.loader import against_the_house
from firmware_bridge.odds.ante import AntePlay, AnteRules, Deal, ante_play
from firmware_bridge.odds.deck import Deck
from firmware_bridge.odds.expectation import Expectation
from firmware_bridge.odds.own_hand import pair_plus, six_card

MOST_DECKS: Final = 8


class OddsRefused(ValueError):
    """Odds of a game that the house does not deal; the text is one sentence for the one who asked."""


@dataclass(frozen=True)
class Game:
    """One way to play at a house. Built by `choose_game`, which refuses what the house does not deal."""

    house: House
    schedule: Schedule
    decks: int
    nonqualify: Nonqualify


@dataclass(frozen=True)
class HouseOdds:
    """The odds of each wager; None where the house does not offer it."""

    ante_play: AntePlay | None
    pair_plus: Expectation | None
    six_card: Expectation | None


def choose_game(house: House, schedule_number: int | None, decks: int | None, nonqualify: str | None) -> Game:
    """The game as chosen: without a choice the first schedule, the fewest decks, the usual rule. Raises OddsRefused."""
    schedule = house.schedules[0] if schedule_number is None else house.schedule(schedule_number)
    if schedule is None:
        numbers = _listed(each.number for each in house.schedules)
        raise OddsRefused(f"{house.name} has no schedule {schedule_number}: name one of {numbers}")
    fewest, most = house.deal.decks_min, house.deal.decks_max
    decks = fewest if decks is None else decks
    if not fewest <= decks <= most:
        allowed = str(fewest) if fewest == most else f"{fewest} to {most}"
        against = against_the_house(schedule, decks) if 1 <= decks <= MOST_DECKS else None
        why = "" if against is None else f"; schedule {schedule.number} {against}"
        raise OddsRefused(f"{house.name} is not dealt from {decks} decks, its file allows {allowed}{why}")
    return Game(house, schedule, decks, _nonqualify(house, nonqualify))


def _nonqualify(house: House, chosen: str | None) -> Nonqualify:
    if chosen is None:
        return house.settlement.nonqualify_ante
    for option in house.settlement.nonqualify_ante_options:
        if option == chosen:
            return option
    options = _listed(house.settlement.nonqualify_ante_options)
    raise OddsRefused(f"{house.name} has no option nonqualify={chosen}: name one of {options}")


def house_odds(game: Game, watch: Callable[[Sequence[Deal]], Iterable[Deal]] = iter) -> HouseOdds:
    """Every wager of the game; `watch` sees the player's hands go by, as in `ante_play`."""
    offered = game.house.wagers.offered
    deck = Deck.of_decks(game.decks)
    rules = AnteRules(
        RANKS.index(game.house.settlement.qualifies_with),
        game.nonqualify,
        game.schedule.ante_bonus,
        game.house.deal.dealer_face_up,
    )
    return HouseOdds(
        ante_play(deck, rules, watch) if "ante" in offered else None,
        pair_plus(deck, game.schedule.pair_plus) if "pair_plus" in offered else None,
        six_card(deck, game.schedule.six_card) if "six_card" in offered else None,
    )


def _listed(things: Iterable[object]) -> str:
    return ", ".join(str(thing) for thing in things)
