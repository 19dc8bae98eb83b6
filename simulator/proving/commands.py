"""The commands of `table-simulator`: a table to look at, and devices for a daemon that is run by hand."""

import asyncio
import enum
import math
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import typer

from drivers.driver import DeviceKind
from firmware_bridge.cli.ending import BROKEN_PIPE, abandon_output, told_ending
from firmware_bridge.core.table_setup import TableSetup
from firmware_bridge.houses.loader import HouseError, load_house
from simulator.people.floor import StuckRoundError
from simulator.proving.bench import BenchSession, BenchStuckError
from simulator.proving.daemon import DaemonDiedError
from simulator.proving.demo import ForPeople, JsonLines, hold_devices, play_demo

LONGEST_SOCKET_PATH: Final = 107
LONGEST_SOCKET_NAME: Final = "control.sock"


class RigChoice(enum.Enum):
    """The rig as an option of the command line."""

    group = "group"
    rotation = "rotation"


class UsageError(Exception):
    """An option cannot be used as it is given; one sentence."""


def run() -> None:
    """Run the command that the arguments name. Exits with its status."""
    app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
    app.callback()(_about)
    app.command("demo")(demo)
    app.command("devices")(devices)
    try:
        with told_ending("table-simulator"):
            app()
    except (UsageError, HouseError) as error:
        print(f"table-simulator: {error}", file=sys.stderr)
        sys.exit(2)
    except (DaemonDiedError, BenchStuckError, StuckRoundError) as error:
        print(f"table-simulator: {error}", file=sys.stderr)
        sys.exit(1)


def _about() -> None:
    """A simulated Three Card Poker table: the other end of every wire."""


HouseOption = Annotated[str, typer.Option(help="A house of the project's, or the path of a house file.")]
SeedOption = Annotated[int, typer.Option(help="The same seed gives the same cards and the same incidents.")]
RigOption = Annotated[RigChoice, typer.Option(help="Groups of three from the shuffler, or single cards from the shoe.")]
PaceOption = Annotated[
    float, typer.Option(min=0, max=1000, help="How long people take: 1 is brisk, 2 twice as long, 0 no time at all.")
]


def demo(
    house: HouseOption = "licensed",
    rounds: Annotated[int, typer.Option(min=1, help="How many rounds are dealt.")] = 10,
    seed: SeedOption = 42,
    rig: RigOption = RigChoice.group,
    pace: PaceOption = 1.0,
    as_json: Annotated[  # noqa: FBT002
        bool, typer.Option("--json", help="The feed's events, one a line, and the outcome last.")
    ] = False,
    keep: Annotated[
        Path | None, typer.Option(help="Keep configuration, journal and logs in this folder, which is new or empty.")
    ] = None,
) -> None:
    """Deal rounds at a simulated table through the real daemon, and show them as they happen."""
    played = _session(house, rig, seed, pace)
    if sys.stdout is None:
        raise UsageError("The output is closed: open it, or send it to /dev/null.")
    with _folder(keep) as folder:
        try:
            asyncio.run(play_demo(played, rounds, folder, JsonLines() if as_json else ForPeople()))
        except BrokenPipeError:
            abandon_output()
            raise typer.Exit(BROKEN_PIPE) from None


def devices(
    folder: Annotated[Path, typer.Argument(help="Where ports, configuration and sockets lie: a new or empty folder.")],
    house: HouseOption = "licensed",
    rounds: Annotated[int, typer.Option(min=0, help="Deal as many as soon as the daemon runs; 0: just be there.")] = 0,
    seed: SeedOption = 42,
    rig: RigOption = RigChoice.group,
    pace: PaceOption = 1.0,
    pairing: Annotated[
        list[DeviceKind] | None, typer.Option(help="A device that is to be paired first: it is in pairing mode.")
    ] = None,
) -> None:
    """Hold a simulated table's devices on ptys for a daemon that is run by hand, and say how to run it."""
    first = tuple(dict.fromkeys(pairing or ()))
    played = replace(_session(house, rig, seed, pace), own_daemon=False, pairing=first)
    with _folder(folder) as place:
        asyncio.run(hold_devices(played, rounds, place))


def _session(house: str, rig: RigChoice, seed: int, pace: float) -> BenchSession:
    """Raises HouseError, UsageError."""
    if not math.isfinite(pace):
        raise UsageError("--pace must be a number: 1 is brisk, 0 no time at all.")
    rules = load_house(house)
    setup = TableSetup(deal=rig.value, decks=rules.deal.decks_min, seats=rules.deal.places, sensors=True)
    return BenchSession(_absolute(house), rules.name, setup, seed, pace)


def _absolute(house: str) -> str:
    """A path goes into a file in another folder."""
    return str(Path(house).resolve()) if "/" in house or house.endswith(".toml") else house


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    """Where everything of the run lies: a temporary folder that vanishes with it, or the one to keep."""
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="table-") as folder:
            yield _roomy(Path(folder))
        return
    try:
        keep.mkdir(parents=True, exist_ok=True)
        taken = any(keep.iterdir())
    except OSError as error:
        raise UsageError(f"The folder {keep} cannot be used ({error.strerror}): name another.") from error
    if taken:
        raise UsageError(f"The folder {keep} is not empty: name a new one, or empty it.")
    yield _roomy(keep.resolve())


def _roomy(folder: Path) -> Path:
    if len(str(folder / LONGEST_SOCKET_NAME).encode()) > LONGEST_SOCKET_PATH:
        raise UsageError(f"The path {folder} is too long for a socket in it: use a folder with a shorter path.")
    return folder
