"""`firmware-bridge journal`: what the journal holds, read beside the running daemon."""

import sys
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer

from drivers.facts import Fact
from firmware_bridge.cli.errors import CommandError
from firmware_bridge.cli.screen import Screen
from firmware_bridge.cli.table_pc.watch import show
from firmware_bridge.config import ConfigError, load_config
from firmware_bridge.core.events import read_event
from firmware_bridge.core.facts import read_fact
from firmware_bridge.journal.errors import JournalError
from firmware_bridge.journal.keys import read_keys
from firmware_bridge.journal.rows import StoredFact
from firmware_bridge.journal.store import Store
from firmware_bridge.secret_files import KeyFileError
from firmware_bridge.wording.render import Line, Renderer, Tone
from firmware_bridge.wording.words import plain, table_time

_NOT_SHOWN: Final = frozenset({"fact", "source", "at_ms", "version", "house", "table"})


class ShownFact(msgspec.Struct, frozen=True, kw_only=True):
    """One line of `journal show --json`: `fact` is null where it is sealed."""

    received: int
    device: str
    boot: str
    number: int
    actor: str | None
    source: str
    name: str
    at_ms: int
    wall_ms: int
    fact: msgspec.Raw | None
    events: tuple[msgspec.Raw, ...]


def register(app: typer.Typer) -> None:
    """Add the command's group to the program."""
    journal = typer.Typer(no_args_is_help=True, help="What the journal holds.")
    journal.command("show")(show_round)
    journal.callback()(_about)
    app.add_typer(journal, name="journal")


def _about() -> None:
    """What the journal holds."""


def show_round(
    round_number: Annotated[int | None, typer.Option("--round", min=1, help="Which round; else the last.")] = None,
    journal: Annotated[Path | None, typer.Option(help="The journal's file.")] = None,
    config: Annotated[Path | None, typer.Option(help="The daemon's configuration, which names it.")] = None,
    key: Annotated[Path | None, typer.Option(help="The key file: shows sealed facts, face-down cards too.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a fact.")] = False,  # noqa: FBT002
) -> None:
    """Print a round: its facts in the order they were applied, and what each caused.

    Facts that may carry a card are sealed without the key, whether the daemon's configuration names it or not.
    """
    path = _journal_file(journal, config)
    try:
        store = Store.open(path, None if key is None else read_keys(key), read_only=True)
        try:
            last = store.last_round()
            number = last if round_number is None else round_number
            facts = list(store.round_facts(number))
        finally:
            store.close()
    except (JournalError, KeyFileError) as error:
        raise CommandError(str(error)) from error
    if not facts:
        held = f"its last one is {last}" if last else "it holds none yet"
        raise CommandError(f"the journal {path} holds no round {number or 1}: {held}")
    if as_json:
        _print_json(facts)
    else:
        _print_lines(number, facts)


def _journal_file(journal: Path | None, config: Path | None) -> Path:
    if (journal is None) == (config is None):
        raise CommandError("say which journal: --journal FILE, or --config FILE of the daemon", 2)
    if journal is not None:
        return journal
    try:
        return load_config(config or Path()).journal_file
    except ConfigError as error:
        raise CommandError(str(error), 2) from error


def _print_json(facts: list[StoredFact]) -> None:
    for fact in facts:
        shown = ShownFact(
            received=fact.received,
            device=fact.origin.device,
            boot=fact.origin.boot,
            number=fact.origin.number,
            actor=fact.actor,
            source=fact.source,
            name=fact.name,
            at_ms=fact.at_ms,
            wall_ms=fact.wall_ms,
            fact=None if fact.body is None else msgspec.Raw(fact.body),
            events=tuple(msgspec.Raw(event) for event in fact.events),
        )
        sys.stdout.buffer.write(msgspec.json.encode(shown) + b"\n")
    sys.stdout.buffer.flush()


def _print_lines(number: int, facts: list[StoredFact]) -> None:
    console = Screen(highlight=False)
    renderer = Renderer()
    show(console, Line(f"round {number}: {len(facts)} facts", Tone.GOOD))
    for fact in facts:
        show(console, Line(f"{table_time(fact.at_ms)}  {fact.actor or fact.source}: {plain(fact.name)}{_fields(fact)}"))
        for body in fact.events:
            for line in renderer.lines(read_event(body)):
                show(console, Line(f"    -> {line.text}", Tone.QUIET if line.tone is Tone.PLAIN else line.tone))


def _fields(fact: StoredFact) -> str:
    """What the fact says beyond its name; fields that say nothing (a wager of 0) are left out."""
    if fact.body is None:
        return "  sealed"
    stored = msgspec.json.decode(fact.body, type=dict[str, msgspec.Raw])
    fact_read = read_fact(fact.body)
    silent = {field.name for field in msgspec.structs.fields(fact_read) if _is_silent(fact_read, field)}
    shown = [f"{name} {bytes(value).decode()}" for name, value in stored.items() if name not in silent | _NOT_SHOWN]
    return "  " + ", ".join(shown) if shown else ""


def _is_silent(fact: Fact, field: msgspec.structs.FieldInfo) -> bool:
    return bool(getattr(fact, field.name) == field.default)
