"""The people's end of the control socket: JSON lines, one answer for each request."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from simulator.people.script import JsonObject

LINE_BYTES: Final = 1 << 20


class ControlClient:
    """Request ids are `name`-1, `name`-2 ...: unique in the life of a journal if `name` is.

    A connection that ends takes no request with it: after the next `connect` what was not answered is asked again,
    under the same id, so that nothing is done twice.
    """

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        self._name = name
        self._count = 0
        self._waiting: dict[str, tuple[bytes, asyncio.Future[JsonObject]]] = {}
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        """Raises OSError while nobody listens."""
        reader, self._writer = await asyncio.open_unix_connection(self._path, limit=LINE_BYTES)
        self._reading = asyncio.create_task(self._read(reader))
        for line, _ in self._waiting.values():
            self._writer.write(line)

    async def tell(self, actor: str, fact: JsonObject) -> JsonObject:
        """Say a fact; the answer comes once it is committed and applied."""
        return await self._request({"actor": actor, "fact": dict(fact)})

    async def ask(self, question: str) -> JsonObject:
        """The answer to a question such as `status`."""
        return await self._request({"ask": question})

    async def close(self) -> None:
        """Hang up. `connect` may follow."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        if self._writer is not None:
            self._writer.close()

    async def _request(self, request: Mapping[str, Any]) -> JsonObject:
        self._count += 1
        name = f"{self._name}-{self._count}"
        line = msgspec.json.encode({"id": name, **request}) + b"\n"
        answer: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self._waiting[name] = line, answer
        try:
            if self._writer is not None:
                self._writer.write(line)
            return await answer
        finally:
            self._waiting.pop(name, None)

    async def _read(self, reader: asyncio.StreamReader) -> None:
        with suppress(OSError):  # the same as an end: whoever owns the daemon says what became of it
            while line := await reader.readline():
                answer: JsonObject = msgspec.json.decode(line)
                _, waiting = self._waiting.get(str(answer.get("id")), (b"", None))
                if waiting is not None and not waiting.done():
                    waiting.set_result(answer)
