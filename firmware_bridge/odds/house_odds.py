"""What every wager of a house costs a player who plays it best."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from drivers.cards import RANKS
from firmware_bridge.core.rules.chosen_rules import Rules
from firmware_bridge.odds.ante import AntePlay, AnteRules, Deal, ante_play
from firmware_bridge.odds.deck import Deck
from firmware_bridge.odds.expectation import Expectation, pair_plus, six_card


@dataclass(frozen=True)
class HouseOdds:
    """The odds of each wager; None where the house does not offer it."""

    ante_play: AntePlay | None
    pair_plus: Expectation | None
    six_card: Expectation | None


def house_odds(rules: Rules, decks: int, watch: Callable[[Sequence[Deal]], Iterable[Deal]] = iter) -> HouseOdds:
    """Every wager under `rules`, dealt from `decks` full decks; `watch` sees the hands go by as in `ante_play`."""
    house, schedule = rules.house, rules.schedule
    deck = Deck.of_decks(decks)
    ante_rules = AnteRules(
        RANKS.index(house.settlement.qualifies_with),
        rules.nonqualify,
        schedule.ante_bonus,
        house.deal.dealer_face_up,
    )
    offered = house.wagers.offered
    return HouseOdds(
        ante_play(deck, ante_rules, watch) if "ante" in offered else None,
        pair_plus(deck, schedule.pair_plus) if "pair_plus" in offered else None,
        six_card(deck, schedule.six_card) if "six_card" in offered else None,
    )
