"""The feed: every event in order to whoever asks, from any point on, over a Unix socket in JSON lines.

A client sends `{"after": N}` and gets every event with a higher seq: first what is stored, then what happens. The
newest events lie in one buffer that all clients share; a client that cannot keep up with it is cut off, its last
line being `{"error": sentence, "after": N}`: asking again after N goes on without a hole. Without "after" the request
itself was wrong.
"""

import asyncio
import contextlib
import itertools
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final, Protocol

import msgspec

from firmware_bridge.journal.errors import JournalError
from firmware_bridge.unix_sockets import UnixServer, part

BACKLOG: Final = 2000
_CHUNK: Final = 500
_FIRST_LINE_BYTES: Final = 4096
_FIRST_LINE_S: Final = 10.0
_STALL_S: Final = 30.0


class History(Protocol):
    """Where older events are read: `journal/store.py`, opened for reading, is one. Called in threads."""

    def events_after(self, seq: int, limit: int) -> list[tuple[int, bytes]]:
        """At most `limit` events after number `seq`, in order: number and JSON of each."""

    def last_seq(self) -> int:
        """The number of the last event; 0 before the first."""


class _Asked(msgspec.Struct, forbid_unknown_fields=True):
    after: Annotated[int, msgspec.Meta(ge=0, le=2**62)]


class _LastLine(msgspec.Struct, omit_defaults=True):
    """Why the connection ends; `after` is there where asking again after that event goes on."""

    error: str
    after: int | None = None


class _SentOff(Exception):
    """The connection ends with this last line."""

    def __init__(self, last_line: _LastLine) -> None:
        super().__init__(last_line.error)
        self.last_line = last_line


class _Client:
    """`cursor`: the seq of the last event handed to its connection; `live` once it takes from the buffer."""

    def __init__(self, task: asyncio.Task[None], writer: asyncio.StreamWriter) -> None:
        self.task = task
        self.writer = writer
        self.cursor: int | None = None
        self.live = False
        self.last_line: _LastLine | None = None

    def cut_off(self, reason: str) -> None:
        """Whoever has not asked yet hears nothing: a last line without `after` would say that the request was wrong."""
        if self.last_line is None:
            if self.cursor is not None:
                self.last_line = _LastLine(reason, self.cursor)
            self.task.cancel()


class Feed:
    """Serves at `path` between `start` and `close`; `publish` is told what was committed, in order."""

    def __init__(self, path: Path, history: History, *, backlog: int = BACKLOG) -> None:
        self._server = UnixServer(path, self._serve, _FIRST_LINE_BYTES)
        self._history = history
        self._backlog = backlog
        self._recent: deque[tuple[int, bytes]] = deque(maxlen=backlog)
        self._news = asyncio.Event()
        self._clients: set[_Client] = set()

    async def start(self) -> None:
        """Listen. Raises SocketTaken."""
        await self._server.start()

    @property
    def serving(self) -> bool:
        """Are connections taken?"""
        return self._server.serving

    def publish(self, events: Sequence[tuple[int, bytes]]) -> None:
        """Tell every client of (seq, JSON) that the journal holds now. Never waits."""
        newest = self._recent[-1][0] if self._recent else None
        for client in self._clients:
            if newest is not None and client.live and newest - (client.cursor or 0) > self._backlog:
                client.cut_off(f"too slow: more than {self._backlog} events behind")
        for seq, line in events:
            if newest is not None and seq != newest + 1:
                self._recent.clear()  # what is missing here is read from the history
            self._recent.append((seq, line))
            newest = seq
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def close(self, reason: str = "the daemon is stopping") -> None:
        """Stop listening and send every client off with `reason`. A second call does nothing."""
        if not self._server.stop():
            return
        for client in tuple(self._clients):
            client.cut_off(reason)
        await asyncio.gather(*(client.task for client in self._clients), return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or not self._server.started:
            await part(writer)
            return
        client = _Client(task, writer)
        self._clients.add(client)
        try:
            await self._follow(client, await self._asked(reader), reader)
        except _SentOff as sent_off:
            client.last_line = sent_off.last_line
        except JournalError as error:
            client.last_line = _LastLine(f"the journal cannot be read: {error}", client.cursor)
        except asyncio.CancelledError:
            if client.last_line is None:
                raise
        except OSError:
            pass  # the client has gone
        finally:
            self._clients.discard(client)
            await part(writer, b"" if client.last_line is None else msgspec.json.encode(client.last_line) + b"\n")

    async def _follow(self, client: _Client, cursor: int, reader: asyncio.StreamReader) -> None:
        gone = asyncio.create_task(_wait_until_gone(reader))
        try:
            while True:
                client.cursor = cursor
                news = self._news
                batch = self._from_recent(cursor)
                client.live = batch is not None
                if batch is None:
                    batch = await asyncio.to_thread(self._history.events_after, cursor, _CHUNK)
                if batch:
                    cursor = batch[-1][0]
                    await self._send(client, cursor, b"".join(line + b"\n" for _, line in batch))
                elif gone.done():
                    return
                else:
                    waiting = asyncio.create_task(news.wait())
                    await asyncio.wait((waiting, gone), return_when=asyncio.FIRST_COMPLETED)
                    waiting.cancel()
        finally:
            gone.cancel()

    async def _send(self, client: _Client, cursor: int, lines: bytes) -> None:
        client.writer.write(lines)
        client.cursor = cursor
        try:
            async with asyncio.timeout(_STALL_S):
                await client.writer.drain()
        except TimeoutError as error:
            raise _SentOff(_LastLine(f"too slow: nothing was taken for {_STALL_S:.0f} s", cursor)) from error

    def _from_recent(self, cursor: int) -> list[tuple[int, bytes]] | None:
        """What the buffer holds after `cursor`; None where older events are needed first."""
        if not self._recent or cursor < self._recent[0][0] - 1:
            return None
        start = min(cursor + 1 - self._recent[0][0], len(self._recent))
        return list(itertools.islice(self._recent, start, start + _CHUNK))

    async def _asked(self, reader: asyncio.StreamReader) -> int:
        form = 'send {"after": N} and a line feed first, N being the seq of the last event you have, 0 for all'
        try:
            async with asyncio.timeout(_FIRST_LINE_S):
                line = await reader.readline()
            after = msgspec.json.decode(line, type=_Asked).after
        except TimeoutError as error:
            raise _SentOff(_LastLine(f"nothing was asked in {_FIRST_LINE_S:.0f} s: {form}")) from error
        except ValueError as error:  # too long, not JSON, or not of that form
            raise _SentOff(_LastLine(f"this is not a request: {form}")) from error
        newest = self._recent[-1][0] if self._recent else 0
        if after > newest:
            newest = max(newest, await asyncio.to_thread(self._history.last_seq))
        if after > newest:
            told = f"there is no event {after} yet, the last one is {newest}: start again after 0 if the journal is new"
            raise _SentOff(_LastLine(told))
        return after


async def _wait_until_gone(reader: asyncio.StreamReader) -> None:
    """A client has nothing more to say; what it sends is thrown away."""
    with contextlib.suppress(OSError):
        while await reader.read(_FIRST_LINE_BYTES):
            pass
