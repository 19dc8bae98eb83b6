"""`firmware-bridge decode --driver NAME FILE`: what a device once said, as facts."""

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer

from drivers.errors import DriverNameError
from drivers.facts import DeviceFact
from drivers.plugins import Recording, open_recording
from drivers.transports.pcapng import CaptureError, is_capture, parse_capture
from firmware_bridge.cli.errors import CommandError
from firmware_bridge.core.facts import write_fact

PIECE_BYTES: Final = 65_536


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("decode")(decode)


def decode(
    driver: Annotated[str, typer.Option(help="The driver of the device that sent the bytes.")],
    file: Annotated[
        str,
        typer.Argument(help="What `capture` recorded, or bytes as the device sent them; - is standard input."),
    ],
) -> None:
    """Read what a device once said: its facts as JSON lines, then what was passed over, by reason.

    Times are the device's own, and 0 where it has no clock. Cards that lie face down are written out too.
    """
    try:
        recording = open_recording(driver)
    except DriverNameError as error:
        raise CommandError(str(error), 2) from error
    out = sys.stdout.buffer
    for fact in _facts(recording, file):
        out.write(write_fact(fact) + b"\n")
    out.write(msgspec.json.encode({"counters": recording.counters}, order="sorted") + b"\n")
    out.flush()


def _facts(recording: Recording, file: str) -> Iterator[DeviceFact]:
    pieces = _pieces(file)
    first = next(pieces, b"")
    if is_capture(first):
        try:
            connections = parse_capture(Path("standard input" if file == "-" else file), first + b"".join(pieces))
        except CaptureError as error:
            raise CommandError(str(error), 2) from error
        for connection in connections:
            for piece in connection.pieces:
                yield from recording.feed(piece.data) if piece.to_host else ()
            yield from recording.cut()
    else:
        for data in chain((first,), pieces):
            yield from recording.feed(data)
    yield from recording.end()


def _pieces(file: str) -> Iterator[bytes]:
    try:
        with nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as stream:
            while piece := stream.read(PIECE_BYTES):
                yield piece
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror or error}", 2) from error
