"""The people's end of the control socket: JSON lines, one answer for each request."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from simulator.steps import Told

LINE_BYTES: Final = 1 << 20


class ControlLostError(Exception):
    """The daemon closed the door, or never opened it."""


class ControlClient:
    """Request ids are `name`-1, `name`-2 ...: unique in the life of a journal if `name` is."""

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        self._name = name
        self._count = 0
        self._waiting: dict[str, asyncio.Future[Told]] = {}
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None
        self._lost = False

    async def connect(self) -> None:
        """Raises OSError while nobody listens."""
        reader, self._writer = await asyncio.open_unix_connection(self._path, limit=LINE_BYTES)
        self._reading = asyncio.create_task(self._read(reader))

    async def tell(self, actor: str, fact: Told) -> Told:
        """Say a fact; the answer comes once it is committed and applied. Raises ControlLostError."""
        return await self._request({"actor": actor, "fact": dict(fact)})

    async def ask(self, question: str) -> Told:
        """Raises ControlLostError."""
        return await self._request({"ask": question})

    async def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        if self._writer is not None:
            self._writer.close()

    async def _request(self, request: Mapping[str, Any]) -> Told:
        if self._lost or self._writer is None:
            msg = "the daemon does not answer any more"
            raise ControlLostError(msg)
        self._count += 1
        name = f"{self._name}-{self._count}"
        answer: asyncio.Future[Told] = asyncio.get_running_loop().create_future()
        self._waiting[name] = answer
        self._writer.write(msgspec.json.encode({"id": name, **request}) + b"\n")
        return await answer

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            while line := await reader.readline():
                answer: Told = msgspec.json.decode(line)
                waiting = self._waiting.pop(str(answer.get("id")), None)
                if waiting is not None and not waiting.done():
                    waiting.set_result(answer)
        except OSError:
            pass  # the same as an end: told below
        finally:
            self._lost = True
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(ControlLostError("the daemon closed its control socket"))
