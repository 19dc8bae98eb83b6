"""`firmware-bridge run`: the daemon."""

import asyncio
import faulthandler
import os
import signal
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Final

import structlog
import typer

from drivers.errors import DriverNameError, PortNameError
from drivers.sentences import sentence
from firmware_bridge.cli.errors import CommandError
from firmware_bridge.config import Config, ConfigError, load_config
from firmware_bridge.core.rules.house import House
from firmware_bridge.daemon.daemon import Daemon, DaemonContext
from firmware_bridge.daemon.replay import ReplayDiffers
from firmware_bridge.daemon.systemd import notifier_of
from firmware_bridge.houses.configured import chosen_house
from firmware_bridge.journal.errors import JournalError
from firmware_bridge.journal.keys import load_keys
from firmware_bridge.journal.store import Store
from firmware_bridge.logs import LogEvent, LogLevel, place_of, start_logs
from firmware_bridge.secret_files import KeyFileError
from firmware_bridge.unix_sockets import SocketTaken

WRONG_CONFIG: Final = 2
CANNOT_GO_ON: Final = 1
DEFECT: Final = 70


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("run")(run)


def run(
    config: Annotated[Path, typer.Option(help="The configuration, a TOML file.")],
    log_level: Annotated[LogLevel, typer.Option(help="The least that is logged.")] = LogLevel.INFO,
) -> None:
    """Connect the machines of a table, follow its rounds and keep their record, until stopped."""
    start_logs(log_level)
    if sys.stderr is not None:
        faulthandler.enable()  # where it hung, without values, should the watchdog end it
    try:
        read = load_config(config)
        house = chosen_house(read)
    except ConfigError as error:
        raise CommandError(str(error), WRONG_CONFIG) from error
    try:
        context = _context(read, house)
    except (JournalError, KeyFileError) as error:
        raise CommandError(sentence(error), CANNOT_GO_ON) from error
    try:
        asyncio.run(_serve(context))
    except (PortNameError, DriverNameError) as error:
        raise CommandError(f"{config}: {sentence(error)}", WRONG_CONFIG) from error
    except (JournalError, KeyFileError, SocketTaken, ReplayDiffers) as error:
        raise CommandError(sentence(error), CANNOT_GO_ON) from error
    except Exception as error:  # noqa: BLE001 - the last one to see it; its text may quote a card
        told = (
            f"A defect stopped the daemon ({type(error).__name__} in {place_of(error)}): start it again and report it."
        )
        raise CommandError(told, DEFECT) from None
    finally:
        context.store.close()


def _context(config: Config, house: House) -> DaemonContext:
    keys = load_keys(config.journal_key)
    store = Store.open(config.journal_file, keys)
    if store.set_aside is not None:
        structlog.get_logger("journal").error(LogEvent.JOURNAL_SET_ASIDE, sentence=str(store.set_aside))
    return DaemonContext(config=config, house=house, keys=keys, store=store, version=version("firmware-bridge"))


async def _serve(context: DaemonContext) -> None:
    daemon = Daemon(context, notifier=notifier_of(os.environ))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, daemon.stop)
    await daemon.run()
