"""The command line: each command is a room of its own, imported only when it is asked for."""

import importlib
import sys
from typing import Final

from firmware_bridge.cli.ending import told_ending
from firmware_bridge.cli.errors import CommandError

INTERRUPTED: Final = 130

COMMANDS: Final = {
    "run": "firmware_bridge.cli.table_pc.run",
    "pair": "firmware_bridge.cli.table_pc.pair",
    "tell": "firmware_bridge.cli.table_pc.tell",
    "status": "firmware_bridge.cli.table_pc.status",
    "watch": "firmware_bridge.cli.table_pc.watch",
    "journal": "firmware_bridge.cli.offline.journal",
    "judge": "firmware_bridge.cli.offline.judge",
    "settle": "firmware_bridge.cli.offline.settle",
    "rank": "firmware_bridge.cli.offline.rank",
    "house": "firmware_bridge.cli.offline.house",
    "odds": "firmware_bridge.cli.offline.odds",
    "decode": "firmware_bridge.cli.offline.decode",
    "diagram": "firmware_bridge.cli.offline.diagram",
    "doctor": "firmware_bridge.cli.table_pc.doctor",
    "suggest-udev": "firmware_bridge.cli.table_pc.suggest_udev",
}


def main() -> None:
    """Run the command named first, or show all of them. Exits with the command's status."""
    try:
        with told_ending("firmware-bridge"):
            _run()
    except CommandError as error:
        print(f"firmware-bridge: {error}", file=sys.stderr)
        sys.exit(error.status)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _run() -> None:
    import typer  # as late as the commands: by now Ctrl-C is no defect

    app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
    app.callback()(_about)
    named = [sys.argv[1]] if len(sys.argv) > 1 and sys.argv[1] in COMMANDS else list(COMMANDS)
    for name in named:
        importlib.import_module(COMMANDS[name]).register(app)
    app()


def _about() -> None:
    """Between the machines of a Three Card Poker table and the game."""
