"""`firmware-bridge settle FILE`: settles cases, one a line."""

import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from firmware_bridge.cli.errors import CommandError
from firmware_bridge.offline.settle import CaseBook, CaseRefused


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("settle")(settle)


def settle(
    file: Annotated[str, typer.Argument(help="A file with one case, or one case a line; - is standard input.")],
) -> None:
    """Settle deals told as JSON: one settlement a line, or {"refused": sentence} and status 2 at the end."""
    text = _read(file)
    cases = _cases(text)
    if not cases:
        raise CommandError(f"{file} holds no case: write one JSON object, or one a line", 2)
    book = CaseBook()
    refused = 0
    for place, case in enumerate(cases, 1):
        try:
            line = msgspec.json.encode(book.answer(case))
        except CaseRefused as error:
            refused += 1
            print(f"firmware-bridge: case {place}: {error}", file=sys.stderr)
            line = msgspec.json.encode({"refused": str(error)})
        sys.stdout.buffer.write(line + b"\n")
    if refused:
        sys.stdout.flush()
        raise typer.Exit(2)


def _read(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror or error}", 2) from error


def _cases(text: bytes) -> list[bytes]:
    """The whole text if it is one JSON value, or no line of it is an object of its own; else its lines."""
    if not text.strip():
        return []
    lines = [line for line in text.splitlines() if line.strip()]
    if (
        len(lines) == 1
        or _is_json(text)
        or not any(line.lstrip().startswith(b"{") and _is_json(line) for line in lines)
    ):
        return [text]
    return lines


def _is_json(text: bytes) -> bool:
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True
