"""`firmware-bridge rank CARD...`: what three cards are, or six for the 6 Card Bonus."""

from collections.abc import Iterable
from typing import Annotated

import typer

from drivers.cards import RANKS, SUITS, Card
from firmware_bridge.cli.errors import CommandError
from firmware_bridge.hands import best_of_six, category, rank_cards


def register(app: typer.Typer) -> None:
    app.command("rank")(rank)


def rank(
    cards: Annotated[list[str], typer.Argument(help="Cards like Qh or Td; hands of three, or one set of six.")],
    six: Annotated[bool, typer.Option("--six", help="Take six cards as one set: the best five of them.")] = False,  # noqa: FBT002
) -> None:
    """Say what the cards make. Several hands of three are put in order, the best first, ties on one line."""
    read = [_card(text) for card in cards for text in card.split()]
    if six:
        if len(read) != 6:
            raise CommandError(f"--six takes six cards, not {len(read)}: the player's three and the dealer's three", 2)
        best = best_of_six(read)
        typer.echo("nothing" if best is None else best.value)
        return
    if not read or len(read) % 3:
        raise CommandError(f"a hand is three cards: {len(read)} make no whole hands", 2)
    hands = [read[start : start + 3] for start in range(0, len(read), 3)]
    for value in sorted({rank_cards(hand) for hand in hands}, reverse=True):
        tied = " = ".join(_text(hand) for hand in hands if rank_cards(hand) == value)
        typer.echo(f"{category(value).value}  {tied}")


def _text(hand: Iterable[Card]) -> str:
    return " ".join(str(card) for card in hand)


def _card(text: str) -> Card:
    try:
        return Card(text)
    except ValueError as error:
        msg = f"there is no card {text!r}: write a rank of {RANKS} and a suit of {SUITS}, as in Qh"
        raise CommandError(msg, 2) from error
