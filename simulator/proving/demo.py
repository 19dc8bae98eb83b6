"""A session at a simulated table on ptys, dealt through the real daemon and shown as it happens."""

import asyncio
import signal
import sys
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, Protocol

import msgspec
from rich.table import Table
from rich.text import Text

from firmware_bridge.cli.screen import Screen
from firmware_bridge.cli.table_pc.watch import show
from firmware_bridge.core.events import read_event
from firmware_bridge.wording.render import Renderer
from simulator.people.script import JsonObject
from simulator.people.table_session import load_catalogue, table_session
from simulator.proving.bench import Bench, BenchSession
from simulator.proving.signals import NUMBERS, end_by_signals, ignore_signals, status_of

DOLLAR: Final = 100


class Outcome(msgspec.Struct, frozen=True):
    """How the rounds of a run ended."""

    rounds: int
    dealt: int
    void: int
    held: int


@dataclass(slots=True)
class Tally:
    """Counted off the feed."""

    opened: set[int] = field(default_factory=set)
    void: set[int] = field(default_factory=set)
    settled: set[int] = field(default_factory=set)
    flags: Counter[str] = field(default_factory=Counter)
    nets: Counter[str] = field(default_factory=Counter)
    hands: Counter[str] = field(default_factory=Counter)

    def count(self, event: JsonObject) -> None:
        """Count what the event says of a round."""
        match event["event"]:
            case "round_opened":
                self.opened.add(event["round"])
            case "round_void":
                self.void.add(event["round"])
            case "round_settled":
                self.settled.add(event["round"])
                for seat, settled in event["seats"].items():
                    self.nets[seat] += settled["net"]
                    self.hands[seat] += 1
            case "irregularity":
                self.flags[event["irregularity"]] += 1

    @property
    def outcome(self) -> Outcome:
        """What the session has come to."""
        dealt, void = self.settled - self.void, self.void
        return Outcome(len(self.opened), len(dealt), len(void), len(self.opened - dealt - void))


class Display(Protocol):
    """Where the demo's events are shown."""

    def event(self, line: bytes, event: JsonObject) -> None:
        """Show one event; `line` is its JSON as it came."""

    def end(self, tally: Tally) -> None:
        """Show what the session has come to."""


class JsonLines:
    """The feed's events as they came, one a line, and the outcome at the end."""

    def event(self, line: bytes, event: JsonObject) -> None:
        """Print the line as it came."""
        self._print(line)

    def end(self, tally: Tally) -> None:
        """Print the outcome as one more line of JSON."""
        self._print(msgspec.json.encode(tally.outcome))

    def _print(self, line: bytes) -> None:
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()


class ForPeople:
    """The feed in words, and a summary."""

    def __init__(self) -> None:
        self._console = Screen(highlight=False)
        self._renderer = Renderer()

    def event(self, line: bytes, event: JsonObject) -> None:
        """Print the event in words, an empty line before each round."""
        if event["event"] == "round_opened":
            self._console.print()
        for shown in self._renderer.lines(read_event(line)):
            show(self._console, shown)

    def end(self, tally: Tally) -> None:
        """Print the outcome in a sentence."""
        outcome = tally.outcome
        table = Table()
        for heading in ("seat", "rounds", "up or down"):
            table.add_column(heading, justify="right")
        for seat in sorted(tally.hands, key=int):
            net = tally.nets[seat]
            style = "green" if net > 0 else "red" if net < 0 else ""
            table.add_row(seat, str(tally.hands[seat]), Text(f"{net / DOLLAR:+,.2f}", style=style))
        self._console.print()
        self._console.print(table)
        self._console.print(f"{outcome.rounds} rounds: {outcome.dealt} dealt, {outcome.void} void, {outcome.held} held")
        told = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in sorted(tally.flags.items()))
        self._console.print(f"flagged: {told or 'nothing'}")


async def play_demo(played: BenchSession, rounds: int, folder: Path, display: Display) -> None:
    """Deal `rounds` and show them. Leaves no process and no pty, however it ends.

    Raises DaemonDiedError, BenchStuckError, StuckRoundError, SystemExit after a signal, and OSError of the output.
    """
    tally = Tally()
    catalogue = load_catalogue()

    def on_event(line: bytes, event: JsonObject) -> None:
        tally.count(event)
        display.event(line, event)

    async with Signals(), Bench(played, catalogue, folder, on_event) as bench:
        for written in islice(
            table_session(catalogue, Path(played.house).stem, bench.table.equipment, bench.streams), rounds
        ):
            await bench.perform(bench.dealer.play(written))
    display.end(tally)


async def hold_devices(played: BenchSession, rounds: int, folder: Path) -> None:
    """Devices on ptys for a daemon that somebody runs by hand; with `rounds`, people who deal as soon as it runs.

    Ends when the rounds are dealt, or by a signal. Raises as `play_demo`.
    """
    catalogue = load_catalogue()
    async with Signals(), Bench(played, catalogue, folder) as bench:
        for kind in played.pairing:
            print(f"Pair the {kind.value}: firmware-bridge pair {kind.value} --config {bench.config}", flush=True)
            await bench.pair(kind, partial(print, flush=True))
        print(f"The devices are there. Now run: firmware-bridge run --config {bench.config}", flush=True)
        if not rounds:
            await asyncio.Event().wait()
        await bench.join(None)
        drawn = table_session(catalogue, played.house, bench.table.equipment, bench.streams)
        for written in islice(drawn, rounds):
            await bench.perform(bench.dealer.play(written))
        print(f"{rounds} rounds are dealt.")


class Signals:
    """Within it, a signal that asks for the end cancels the task, which then ends as SystemExit."""

    def __init__(self) -> None:
        self._caught: int | None = None
        self._task: asyncio.Task[object] | None = None

    async def __aenter__(self) -> None:
        self._task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        for number in NUMBERS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                # Not the loop's own handlers: when those are removed, a signal has its default effect for a moment.
                signal.signal(number, lambda caught, _: loop.call_soon_threadsafe(self._catch, caught))

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._caught is None:
            end_by_signals()
            return
        ignore_signals()
        if kind is asyncio.CancelledError:
            raise SystemExit(status_of(self._caught))

    def _catch(self, number: int) -> None:
        if self._caught is None and self._task is not None:
            self._caught = number
            self._task.cancel()
