"""`firmware-bridge doctor`: what is wrong with this table PC, in words."""

import sys
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from drivers.sentences import printable
from firmware_bridge.cli.screen import Screen
from firmware_bridge.doctor.context import context_of
from firmware_bridge.doctor.examination import examine
from firmware_bridge.doctor.findings import Finding, Health, exit_status
from firmware_bridge.doctor.machine import Machine

_STYLES: Final = {Health.OK: "green", Health.UNKNOWN: "cyan", Health.WARNING: "yellow", Health.WRONG: "bold red"}
_IN_ALL: Final = {
    0: "All is well.",
    1: "Nothing is wrong for certain, but see the lines above.",
    2: "Something is wrong.",
}


class Report(msgspec.Struct, frozen=True):
    """What `doctor --json` prints; `status` is the program's exit status."""

    findings: list[Finding]
    status: int


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("doctor")(doctor)


def doctor(
    config: Annotated[Path, typer.Option(help="The configuration, a TOML file.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of lines.")] = False,
) -> None:
    """Check this machine from kernel to configuration. Ends with 0 where all is well, 1 after a warning, 2 if not."""
    areas = list(examine(context_of(Machine(), config)))
    findings = [finding for _, found in areas for finding in found]
    status = exit_status(findings)
    if as_json:
        sys.stdout.buffer.write(msgspec.json.encode(Report(findings, status)) + b"\n")
    else:
        _show(Screen(highlight=False, soft_wrap=True), areas, status)
    raise typer.Exit(status)


def _show(console: Console, areas: list[tuple[str, list[Finding]]], status: int) -> None:
    for heading, findings in areas:
        if findings:
            console.print(Text(heading, style="bold"))
        for finding in findings:
            mark = Text(f"  {finding.health.value:<8}", style=_STYLES[finding.health])
            console.print(mark + Text(printable(finding.sentence)))
    console.print(Text(_IN_ALL[status], style="bold"))
