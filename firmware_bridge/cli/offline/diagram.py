"""`firmware-bridge diagram`: the round as a Mermaid state diagram."""

import typer

from firmware_bridge.core.game.machine import mermaid


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("diagram")(diagram)


def diagram() -> None:
    """Print the states of a round as a Mermaid diagram, made from the machine itself."""
    typer.echo(mermaid(), nl=False)
