"""`firmware-bridge rank CARD...`: what three cards are, or six for the 6 Card Bonus."""

from typing import Annotated

import typer

from drivers.cards import RANKS, SUITS, Card
from firmware_bridge.cli.errors import CommandError
from firmware_bridge.core.ranking import best_of_six, category, rank_cards


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("rank")(rank)


def rank(
    cards: Annotated[list[str], typer.Argument(help="Cards like Qh or Td: three, or six for the 6 Card Bonus.")],
) -> None:
    """Say what three cards are called, or the best five of six (a player's three and the dealer's three)."""
    read = [_card(text) for argument in cards for text in argument.split()]
    if len(read) == 3:
        typer.echo(category(rank_cards(read)).value)
    elif len(read) == 6:
        best = best_of_six(read)
        typer.echo("nothing" if best is None else best.value)
    else:
        raise CommandError(f"{len(read)} cards are no hand: name three, or six for the 6 Card Bonus", 2)


def _card(text: str) -> Card:
    try:
        return Card(text)
    except ValueError as error:
        msg = f"there is no card {text!r}: write a rank of {RANKS} and a suit of {SUITS}, as in Qh"
        raise CommandError(msg, 2) from error
