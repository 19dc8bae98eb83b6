"""`firmware-bridge odds`: the exact odds of every wager of a house."""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, TypeAlias

import typer

from drivers.cards import RANKS, SUITS
from firmware_bridge.cli.errors import CommandError
from firmware_bridge.core.ranking import RANKS as HAND_RANKS
from firmware_bridge.core.ranking import category
from firmware_bridge.core.rules.chosen_rules import Rules, RulesRefused, choose_rules
from firmware_bridge.core.terms import HandCategory
from firmware_bridge.houses.loader import HouseError, load_house
from firmware_bridge.odds.ante import AntePlay, Deal
from firmware_bridge.odds.expectation import Expectation
from firmware_bridge.odds.house_odds import HouseOdds, house_odds
from firmware_bridge.odds.showdown import Hand

Told: TypeAlias = dict[str, int | float | str | None]


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command("odds")(odds)


def odds(
    house: Annotated[str, typer.Option(help="A house's name, or the path of its file.")],
    schedule: Annotated[
        int | None, typer.Option(help="The pay schedule's number; the house's first without it.")
    ] = None,
    decks: Annotated[int | None, typer.Option(help="Decks shuffled together; the fewest allowed without it.")] = None,
    option: Annotated[list[str] | None, typer.Option(help="A rule of the house chosen: nonqualify=paid.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a table.")] = False,  # noqa: FBT002
) -> None:
    """What every wager of a house costs a player who plays it best, exactly, by enumeration."""
    options = _options(option or [])
    try:
        chosen_house = load_house(house)
        number = chosen_house.schedules[0].number if schedule is None else schedule
        decks = chosen_house.deal.decks_min if decks is None else decks
        rules = choose_rules(chosen_house, schedule=number, decks=decks, options=options)
    except (HouseError, RulesRefused) as refusal:
        raise CommandError(str(refusal), 2) from refusal
    found = house_odds(rules, decks, _watch_on_terminal(rules))
    if as_json:
        print(json.dumps(_as_json(rules, decks, found)))
    else:
        _show(rules, decks, found)


def _options(texts: Sequence[str]) -> dict[str, str]:
    options = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise CommandError(f"the option {text!r} has no value: write --option NAME=VALUE", 2)
        options[name] = value
    return options


def _watch_on_terminal(rules: Rules) -> Callable[[Sequence[Deal]], Iterable[Deal]]:
    """A progress bar where the cards seen face up make it take long enough and a person looks on."""
    if not rules.house.deal.dealer_face_up or not sys.stderr.isatty():
        return iter
    from rich.progress import track

    from firmware_bridge.cli.screen import Screen

    console = Screen(stderr=True)
    return lambda deals: track(deals, "Playing every hand", console=console, transient=True)


def _as_json(rules: Rules, decks: int, found: HouseOdds) -> dict[str, int | str | Told | None]:
    ante_play = None
    if found.ante_play is not None:
        play_from = found.ante_play.play_from
        ante_play = {
            **_told(found.ante_play.expectation),
            "play_from": None if play_from is None else _hand_text(play_from),
        }
    return {
        "house": rules.house.name,
        "schedule": rules.schedule.number,
        "decks": decks,
        "ante_play": ante_play,
        "pair_plus": None if found.pair_plus is None else _told(found.pair_plus),
        "six_card": None if found.six_card is None else _told(found.six_card),
    }


def _told(expectation: Expectation) -> Told:
    return {
        "numerator": expectation.numerator,
        "denominator": expectation.denominator,
        "edge": expectation.edge,
    }


def _hand_text(hand: Hand) -> str:
    """`Q-6-4`, or `pair 2-2-3`: the ranks that count most come first."""
    ranks = sorted((card // len(SUITS) for card in hand), reverse=True)
    ranks.sort(key=ranks.count, reverse=True)
    name = category(HAND_RANKS[hand[0]][hand[1]][hand[2]])
    text = "-".join(RANKS[rank] for rank in ranks)
    return text if name is HandCategory.HIGH_CARD else f"{name.value.replace('_', ' ')} {text}"


def _show(rules: Rules, decks: int, found: HouseOdds) -> None:
    from rich.table import Table

    from firmware_bridge.cli.screen import Screen

    shoe = "1 deck" if decks == 1 else f"{decks} decks"
    table = Table(title=f"{rules.house.name}, schedule {rules.schedule.number}, {shoe}", title_justify="left")
    table.add_column("Wager")
    table.add_column("House edge", justify="right")
    table.add_column("Units won", justify="right")
    table.add_column("Deals", justify="right")
    table.add_column("Best play")
    if found.ante_play is not None:
        _add(
            table.add_row,
            "ante and play",
            found.ante_play.expectation,
            _best_play(found.ante_play, rules.house.deal.dealer_face_up),
        )
    if found.pair_plus is not None:
        _add(table.add_row, "pair plus", found.pair_plus, "")
    if found.six_card is not None:
        _add(table.add_row, "6 card bonus", found.six_card, "")
    console = Screen()
    console.print(table)
    if found.ante_play is not None:
        expectation = found.ante_play.expectation
        risk = -expectation.numerator / (expectation.denominator + found.ante_play.played)
        console.print(f"Of all that is wagered on ante and play the house keeps {risk:.6%}.", highlight=False)


def _add(add_row: Callable[..., None], wager: str, expectation: Expectation, best_play: str) -> None:
    add_row(wager, f"{expectation.edge:.6%}", f"{expectation.numerator:,}", f"{expectation.denominator:,}", best_play)


def _best_play(ante: AntePlay, face_up: int) -> str:
    if ante.play_from is not None:
        return f"play {_hand_text(ante.play_from)} or better"
    return "by own cards and the card seen" if face_up else "always fold"
