"""`firmware-bridge decode --driver NAME FILE`: what a device once said, as facts."""

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer

from drivers.errors import DriverNameError
from drivers.recordings import open_recording
from firmware_bridge.cli.errors import CommandError
from firmware_bridge.facts import write_fact

PIECE_BYTES: Final = 65_536


def register(app: typer.Typer) -> None:
    app.command("decode")(decode)


def decode(
    driver: Annotated[str, typer.Option(help="The driver of the device that sent the bytes.")],
    file: Annotated[str, typer.Argument(help="Bytes as the device sent them; - is standard input.")],
) -> None:
    """Read recorded bytes of a device: its facts as JSON lines, then what was passed over, by reason.

    Times are the device's own, and 0 where it has no clock.
    """
    try:
        recording = open_recording(driver)
    except DriverNameError as error:
        raise CommandError(str(error), 2) from error
    out = sys.stdout.buffer
    for piece in _pieces(file):
        for fact in recording.feed(piece):
            out.write(write_fact(fact) + b"\n")
    for fact in recording.end():
        out.write(write_fact(fact) + b"\n")
    out.write(msgspec.json.encode({"counters": recording.counters}, order="sorted") + b"\n")
    out.flush()


def _pieces(file: str) -> Iterator[bytes]:
    try:
        with nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as stream:
            while piece := stream.read(PIECE_BYTES):
                yield piece
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror or error}", 2) from error
