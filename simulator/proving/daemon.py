"""The daemon as a child process: its configuration, its start, its end, and the tail of its log."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Final

from firmware_bridge.core.table_setup import TableSetup
from simulator.mechanics.world import RandomStreams

STOP_S: Final = 10.0
TAIL_LINES: Final = 12
# However this process ends, the daemon is asked to end too: PR_SET_PDEATHSIG is 1.
RUN: Final = (
    "import ctypes, signal, sys; ctypes.CDLL(None).prctl(1, signal.SIGTERM); "
    "from firmware_bridge.cli import main; sys.argv[0] = 'firmware-bridge'; main()"
)


class DaemonDiedError(Exception):
    """It ended though nobody asked it to; the text has its status and the last lines of its log."""


def write_config(
    folder: Path,
    house: str,
    setup: TableSetup,
    devices: Sequence[tuple[str, Path]],
    streams: RandomStreams,
    pairing: Collection[str] = (),
) -> Path:
    """table.toml and the key in `folder`. `devices`: kind and port; the key is the seed's, so that runs are alike.

    `pairing`: the devices that are to be paired; the keys of these are not there yet.
    """
    key = folder / "table.key"
    key.touch(mode=0o600)
    key.chmod(0o600)
    key.write_text(streams.token("table secret", 32).hex() + "\n", encoding="ascii")
    lines = ["[table]", 'name = "simulated"']
    lines += [f"deal = {_toml(setup.deal)}", f"decks = {setup.decks}", f"seats = {setup.seats}"]
    lines += [f"sensors = {_toml(setup.sensors)}", "", "[house]", f"file = {_toml(house)}", ""]
    lines += ["[journal]", 'file = "table.journal"', 'key = "table.key"', ""]
    lines += ["[sockets]", 'control = "control.sock"', 'feed = "feed.sock"']
    for kind, port in devices:
        lines += ["", "[[device]]", f"name = {_toml(kind)}", f"kind = {_toml(kind)}", 'driver = "tdp"']
        lines += [f"port = {_toml(f'serial:{port}')}"]
        lines += [f"key = {_toml(f'{kind}.key')}"] if kind in pairing else []
    config = folder / "table.toml"
    config.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return config


def _toml(value: str | bool) -> str:  # noqa: FBT001
    if isinstance(value, bool):
        return "true" if value else "false"
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Daemon:
    """`firmware-bridge run`, its output in `log`. It gets no Ctrl-C of the terminal: this process ends it."""

    def __init__(self, config: Path, log: Path) -> None:
        self._config = config
        self.log: Final = log
        self._process: asyncio.subprocess.Process | None = None
        self._watching: asyncio.Task[None] | None = None
        self._stopping = False

    @property
    def pid(self) -> int | None:
        """The number of the running process; None while there is none."""
        return None if self._process is None else self._process.pid

    async def start(self, on_death: Callable[[DaemonDiedError], None]) -> None:
        """Answers once the process runs, not once it is ready."""
        with self.log.open("ab") as output:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-c",
                RUN,
                "run",
                "--config",
                str(self._config),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self._stopping = False
        self._watching = asyncio.create_task(self._watch(self._process, on_death))

    async def kill(self) -> None:
        """As a power cut would: no signal handler runs."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> None:
        """Ask it to end, and make it end where it does not within STOP_S."""
        await self._end(signal.SIGTERM)

    async def _end(self, how: signal.Signals) -> None:
        self._stopping = True
        process = self._process
        if process is None:
            return
        if process.returncode is None:
            os.kill(process.pid, how)
            try:
                await asyncio.wait_for(process.wait(), STOP_S)
            except TimeoutError:
                process.kill()
                await process.wait()
        if self._watching is not None:
            await self._watching

    async def _watch(self, process: asyncio.subprocess.Process, on_death: Callable[[DaemonDiedError], None]) -> None:
        status = await process.wait()
        if not self._stopping:
            on_death(DaemonDiedError(f"The daemon ended with status {status}. The end of its log:\n{self.tail()}"))

    def tail(self) -> str:
        """The last lines of its log."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(f"    {line}" for line in lines[-TAIL_LINES:])
