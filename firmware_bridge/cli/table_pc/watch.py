"""`firmware-bridge watch`: the feed in a terminal."""

import asyncio
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from drivers.sentences import printable
from firmware_bridge.cli.errors import CommandError
from firmware_bridge.cli.screen import Screen
from firmware_bridge.config import ConfigError, load_config
from firmware_bridge.core.events import BadLine, read_event
from firmware_bridge.feed.client import FeedMissing, FeedRefused, follow
from firmware_bridge.wording.render import Line, Renderer, Tone

STYLES: Final = {Tone.QUIET: "dim", Tone.PLAIN: "", Tone.GOOD: "green", Tone.WARN: "yellow", Tone.ALERT: "bold red"}


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("watch")(watch)


def watch(
    feed: Annotated[Path | None, typer.Option(help="The daemon's feed socket.")] = None,
    config: Annotated[Path | None, typer.Option(help="The daemon's configuration, which names the socket.")] = None,
    after: Annotated[int, typer.Option(min=0, help="Start after this event.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="The events as they are, one a line.")] = False,  # noqa: FBT002
) -> None:
    """Show what happens at the table, as it happens."""
    path = feed_socket(feed, config)
    try:
        asyncio.run(_print_json(path, after) if as_json else _print_lines(path, after))
    except (FeedMissing, FeedRefused, BadLine) as error:
        raise CommandError(str(error)) from error
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def feed_socket(feed: Path | None, config: Path | None) -> Path:
    """The socket that the options name. Raises CommandError."""
    if (feed is None) == (config is None):
        raise CommandError("say which feed: --feed SOCKET, or --config FILE of the daemon", 2)
    if feed is not None:
        return feed
    try:
        return load_config(config or Path()).feed_socket
    except ConfigError as error:
        raise CommandError(str(error), 2) from error


def show(console: Console, line: Line) -> None:
    """Print a line; on a terminal in the colour of its tone."""
    console.print(Text(printable(line.text), style=STYLES[line.tone]), soft_wrap=True)


async def _print_json(path: Path, after: int) -> None:
    async with aclosing(follow(path, after)) as events:
        async for event in events:
            sys.stdout.buffer.write(event.line + b"\n")
            sys.stdout.buffer.flush()


async def _print_lines(path: Path, after: int) -> None:
    console = Screen(highlight=False)
    renderer = Renderer()
    async with aclosing(follow(path, after)) as events:
        async for event in events:
            for line in renderer.lines(read_event(event.line)):
                show(console, line)
