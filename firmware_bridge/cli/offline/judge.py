"""`firmware-bridge judge`: what a recording of facts comes to, round by round."""

import importlib.metadata
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer

from firmware_bridge.cli.errors import CommandError
from firmware_bridge.core.facts import BadFact, read_fact
from firmware_bridge.core.rules.house import House
from firmware_bridge.core.table_setup import TableSetup
from firmware_bridge.houses.loader import HouseError, load_house
from firmware_bridge.offline.judge import Judge, SetupRefused

_BAD_LINES: Final = 2


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("judge")(judge)


def judge(
    file: Annotated[str, typer.Argument(metavar="FACTS.jsonl", help="One fact a line; - is standard input.")],
    house: Annotated[str, typer.Option(help="A house by name, or a house file.")],
    table: Annotated[
        Path | None, typer.Option(help="The table's setup as TOML; without it: groups, no sensors, one deck.")
    ] = None,
) -> None:
    """Judge recorded facts: one JSON object a round. Status 2 if a line was no fact or had a bad field."""
    try:
        loaded = load_house(house)
    except HouseError as error:
        raise CommandError(str(error)) from error
    setup = _default_setup(loaded) if table is None else _read_setup(table)
    try:
        recording = Judge(loaded, setup, importlib.metadata.version("firmware-bridge"))
    except SetupRefused as error:
        raise CommandError(str(error)) from error
    bad_lines = _take_all(recording, file)
    encode = msgspec.json.Encoder().encode
    for row in recording.rows():
        sys.stdout.buffer.write(encode(row) + b"\n")
    sys.stdout.flush()
    if recording.unknown:
        named = ", ".join(f"{name} ({count})" for name, count in sorted(recording.unknown.items()))
        _tell(f"facts that this version does not know were passed over: {named}")
    if bad_lines:
        raise typer.Exit(_BAD_LINES)


def _take_all(recording: Judge, file: str) -> int:
    """Every line of the file; how many were no fact."""
    bad = 0
    for number, line in _lines(file):
        try:
            sentence = recording.take(read_fact(line))
        except BadFact as error:
            bad += 1
            sentence = str(error)
        if sentence is not None:
            _tell(f"line {number}: {sentence}")
    return bad


def _tell(sentence: str) -> None:
    print(f"firmware-bridge: {_printable(sentence)}", file=sys.stderr)


def _printable(sentence: str) -> str:
    """Names in a recording are other people's text: no control characters on a person's terminal."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in sentence)


def _lines(file: str) -> Iterator[tuple[int, bytes]]:
    """The lines that are not empty, with their numbers."""
    try:
        if file == "-":
            yield from _numbered(sys.stdin.buffer)
        else:
            with Path(file).open("rb") as stream:
                yield from _numbered(stream)
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror or error}") from error


def _numbered(stream: Iterator[bytes] | typer.FileBinaryRead) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(stream, 1):
        if line.strip():
            yield number, line


def _default_setup(house: House) -> TableSetup:
    return TableSetup(deal="group", decks=house.deal.decks_min, seats=house.deal.places)


def _read_setup(path: Path) -> TableSetup:
    try:
        tree = tomllib.loads(path.read_text("utf-8"))
        return msgspec.convert(tree, TableSetup)
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise CommandError(f"{path} is not TOML: {error}") from error
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$.")
        key = where.rstrip("`")
        raise CommandError(f"{path}: {key + ' is wrong: ' if key else ''}{what}") from error
