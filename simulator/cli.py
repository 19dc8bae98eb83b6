"""The command line `table-simulator`: what it needs is imported once signals end it without a trace."""

import importlib

from simulator.proving.signals import end_by_signals


def main() -> None:
    """Run a command of the simulator. Exits with its status."""
    end_by_signals()
    importlib.import_module("simulator.proving.commands").run()
