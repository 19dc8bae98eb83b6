"""`firmware-bridge status`: how the running daemon stands."""

import secrets
import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from drivers.sentences import printable
from firmware_bridge.cli.errors import CommandError
from firmware_bridge.cli.screen import Screen
from firmware_bridge.cli.table_pc.control_client import ask, control_socket
from firmware_bridge.daemon.control_socket import NOTHING
from firmware_bridge.daemon.status import RoundStatus, Status
from firmware_bridge.devices.link import DeviceState, LinkState
from firmware_bridge.wording.words import at_place, plain


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("status")(status)


def status(
    control: Annotated[Path | None, typer.Option(help="The daemon's control socket.")] = None,
    config: Annotated[Path | None, typer.Option(help="The configuration, which names the socket.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As one JSON object.")] = False,  # noqa: FBT002
) -> None:
    """Show the devices, the round, and what the floor has to rule on."""
    path = control_socket(control, config)
    _, answer = ask(path, {"id": secrets.token_hex(8), "ask": "status"})
    if answer.status == NOTHING:
        raise CommandError(answer.error or f"The daemon at {path} did not tell its status.")
    if as_json:
        sys.stdout.write(bytes(answer.status).decode() + "\n")
        return
    try:
        _show(Screen(), msgspec.json.decode(answer.status, type=Status))
    except msgspec.ValidationError as error:
        raise CommandError(f"The daemon at {path} is of another version: use its own command ({error}).") from error


def _show(console: Console, told: Status) -> None:
    console.print(Text(f"table {told.table}, house {told.house}, version {told.version}"))
    if told.trouble is not None:
        console.print(Text(f"nothing can be told now: {told.trouble}", style="bold red"))
    if told.waiting:
        waits = f" for {', '.join(told.lost)}" if told.lost else ""
        console.print(Text(f"facts waiting{waits}: {told.waiting}", style="yellow"))
    for line in _round_lines(told.round):
        console.print(line)
    for name, device in told.devices.items():
        if device.alarm is not None:
            console.print(Text(f"look into the {name}: {printable(device.alarm)}", style="bold red"))
    headings = ("device", "kind", "port", "link", "what it says of itself, or why it is not connected")
    devices = Table(*(Column(heading, overflow="fold") for heading in headings))
    for name, device in told.devices.items():
        style = "green" if device.link is LinkState.UP else "yellow"
        devices.add_row(name, device.kind, device.port, Text(device.link.value, style=style), _about(device))
    console.print(devices)


def _about(device: DeviceState) -> str:
    claims = device.claims
    if claims is not None:
        device_is = " ".join(part for part in (claims.vendor, claims.model, claims.serial_number) if part)
        answers = ""
        if device.answers_ms is not None:
            middle_ms, slowest_ms = device.answers_ms
            answers = f", answers within {middle_ms} ms, {slowest_ms} ms at worst"
        return printable(f"{device_is}, firmware {claims.firmware_version or 'not told'}{answers}")
    return printable(device.sentence or "")


def _round_lines(told: RoundStatus | None) -> list[Text]:
    if told is None:
        return [Text("no round yet")]
    lines = [Text(f"round {told.number}: {told.outcome.value}, {told.phase.value}; the deck is {told.deck.value}")]
    lines += [
        Text(f"held for the floor: {plain(hold.irregularity.value)}{at_place(hold.seat)}", style="bold red")
        for hold in told.holds
    ]
    places = ", ".join(f"{place}: {there.cards} ({there.verdict.value})" for place, there in told.places.items())
    return [*lines, Text(f"cards by place: {places}")] if places else lines
