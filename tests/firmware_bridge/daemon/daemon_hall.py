"""A whole daemon in this process, with devices of words at the ends of null modems and real sockets."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec

from drivers.driver import Heard, Step
from firmware_bridge.config import DeviceConfig, load_config
from firmware_bridge.daemon.daemon import NOBODY_WATCHES, Daemon, DaemonContext
from firmware_bridge.daemon.systemd import Notifier
from firmware_bridge.devices.link import LinkState
from firmware_bridge.houses.loader import load_house
from firmware_bridge.journal.keys import load_keys
from firmware_bridge.journal.store import Store
from tests.drivers.transports.ends.pty_end import until
from tests.firmware_bridge.devices.ends.line_driver import FarEnd, LineDriver, Ports

CONFIG = """
[table]
name = "test"
deal = "rotation"

[house]
file = "licensed"

[journal]
file = "table.journal"
key = "table.key"

[sockets]
control = "c.sock"
feed = "f.sock"

[[device]]
name = "shoe"
kind = "shoe"
driver = "words"
port = "serial:/dev/words"
"""


def write_config(folder: Path) -> Path:
    file = folder / "table.toml"
    file.write_text(CONFIG)
    return file


def context(folder: Path) -> DaemonContext:
    config = load_config(write_config(folder))
    keys = load_keys(config.journal_key)
    return DaemonContext(
        config=config,
        house=load_house(config.house),
        keys=keys,
        store=Store.open(config.journal_file, keys),
        version="1",
    )


class AnsweringDriver(LineDriver):
    """Its device answers every question at once."""

    def ask(self, now_ms: int) -> Step:
        return Step(reports=(Heard(at_ms=now_ms, asked_at_ms=now_ms),))


class Hall:
    """The daemon, its one device, and clients of its control socket."""

    def __init__(self, folder: Path, on: DaemonContext, notifier: Notifier = NOBODY_WATCHES) -> None:
        self.folder = folder
        self.context = on
        self.ports = Ports()
        self.daemon = Daemon(on, notifier=notifier, open_port=self.ports, new_driver=self._new_driver)
        self.running = asyncio.create_task(self.daemon.run())

    def _new_driver(self, _: DeviceConfig) -> AnsweringDriver:
        return AnsweringDriver()

    @property
    def shoe(self) -> FarEnd:
        return self.ports.far[-1]

    @property
    def shoe_is_up(self) -> bool:
        return self.daemon.status().devices["shoe"].link is LinkState.UP

    async def connect_shoe(self, boot: str = "A") -> None:
        await until(lambda: self.ports.open_now == 1 and b"hello" in self.shoe.heard)
        self.shoe.say(f"up {boot}")
        await until(lambda: self.daemon.status().lost == ())
        # The core knows of the shoe before the journal does: a gate closed now would catch that write.
        await self.daemon.caught_up()

    async def client(self) -> "Client":
        await until(lambda: (self.folder / "c.sock").exists() or self.running.done())
        return Client(*await asyncio.open_unix_connection(self.folder / "c.sock"))

    async def stop(self) -> None:
        self.daemon.stop()
        await self.running


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def say(self, line: bytes) -> None:
        self.writer.write(line + b"\n")

    async def hear(self) -> bytes:
        return await asyncio.wait_for(self.reader.readline(), 10)

    async def ask(self, **request: Any) -> dict[str, Any]:
        self.say(msgspec.json.encode(request))
        answer: dict[str, Any] = msgspec.json.decode(await self.hear())
        return answer

    async def tell(self, request: str, fact: str, **fields: Any) -> dict[str, Any]:
        return await self.ask(id=request, actor="dealer", fact={"fact": fact, **fields})


@contextlib.asynccontextmanager
async def running(folder: Path, notifier: Notifier = NOBODY_WATCHES) -> AsyncIterator[Hall]:
    """A daemon on the journal in `folder`; stopped at the end, its journal closed."""
    on = context(folder)
    hall = Hall(folder, on, notifier)
    try:
        yield hall
        await hall.stop()
    finally:
        hall.running.cancel()
        await asyncio.gather(hall.running, return_exceptions=True)
        on.store.close()
