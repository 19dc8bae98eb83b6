"""`firmware-bridge house`: the houses' files, explained, compared and listed."""

from typing import Annotated

import msgspec
import typer

from firmware_bridge.cli.errors import CommandError
from firmware_bridge.core.rules.house import House
from firmware_bridge.houses.explain import explain, side_by_side
from firmware_bridge.houses.loader import HouseError, built_in_houses, load_house


def register(app: typer.Typer) -> None:
    """Add the command's group to the program."""
    group = typer.Typer(no_args_is_help=True, help="The houses' rules: check a file, compare houses, list them.")
    group.command("check")(check)
    group.command("compare")(compare)
    group.command("list")(list_houses)
    app.add_typer(group, name="house")


def check(
    file: Annotated[str, typer.Argument(help="A house file, or the name of a house that comes with the program.")],
) -> None:
    """Read a house file and tell it back in sentences; an unusable one is refused with its key and line."""
    house = _load(file)
    typer.echo(f"The house {house.name}, after: {house.document}.")
    for sentence in explain(house):
        typer.echo(sentence)


def compare(
    houses: Annotated[list[str] | None, typer.Argument(help="Names or files; without any, the built-in ones.")] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a table.")] = False,
) -> None:
    """Show the rules by which houses differ, side by side."""
    loaded: dict[str, House] = {}
    for named in houses or built_in_houses():
        house = _load(named)
        loaded[house.name if house.name not in loaded else named] = house
    table = side_by_side(loaded)
    if as_json:
        typer.echo(msgspec.json.encode(table).decode())
        return
    from rich.table import Column, Table

    from firmware_bridge.cli.screen import Screen

    shown = Table(*(Column(heading, overflow="fold") for heading in ("rule", *loaded)), show_lines=True)
    for rule, row in table.items():
        shown.add_row(rule, *row.values())
    Screen().print(shown)


def list_houses() -> None:
    """Name the houses that come with the program, and what each is made after."""
    for name in built_in_houses():
        typer.echo(f"{name}: {load_house(name).document}")


def _load(named: str) -> House:
    try:
        return load_house(named)
    except HouseError as error:
        raise CommandError(str(error), 2) from error
