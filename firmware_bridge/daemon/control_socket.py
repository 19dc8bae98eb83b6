"""The way in for people: a Unix socket where facts are told and questions asked, one JSON object a line.

    {"id": "8f1", "actor": "dealer", "fact": {"fact": "wager", "seat": 1, "ante": 500}}
    {"id": "8f1", "accepted": true, "at_ms": 73125, "events": [...]}    or    {..., "accepted": false, "sentence": ...}

An answer is sent once the fact is durable and applied. An id is one fact for ever: repeated, it gets the first
answer. {"id": ..., "ask": "status"} and {"id": ..., "ask": "applied"} (answered when everything received before is
applied) change nothing. What cannot be understood is answered by {"id": ..., "error": sentence}. Answers come in the
order of the requests of their connection. The answer to "applied" has the number of facts applied in the life of the
journal, and as "seq" the last event that they caused.
"""

import asyncio
import contextlib
from pathlib import Path
from typing import Annotated, Final, Literal, Protocol, TypeAlias

import msgspec

from drivers.facts import Fact
from firmware_bridge.core.facts import KNOWN
from firmware_bridge.daemon.intake import BarrierReached
from firmware_bridge.daemon.status import Status
from firmware_bridge.unix_sockets import LINGER_S, UnixServer, part

LINE_BYTES: Final = 65_536
_OUTSTANDING: Final = 64

OPERATOR_FACTS: Final = {name: kind for (source, name), kind in KNOWN.items() if source == "operator"}
NOTHING: Final = msgspec.Raw(b"")
_STAMPED: Final = ("at_ms", "source")

Id: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=128)]
Actor: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]


class NotNow(Exception):
    """The daemon takes no facts at present; the text is a sentence."""


class BadRequest(ValueError):
    """A request that cannot be understood; the text is a sentence that quotes nothing of it but names."""


class Told(msgspec.Struct, frozen=True):
    """A fact's first answer: when it was stamped, and the events it caused as JSON."""

    at_ms: int
    events: tuple[bytes, ...]


class Table(Protocol):
    """What the socket speaks for."""

    def tell(self, request: str, actor: str, fact: Fact) -> asyncio.Future[Told]:
        """Hand a fact in. The future raises NotNow where it could not be kept."""
        ...

    def caught_up(self) -> asyncio.Future[BarrierReached]:
        """Done once everything received before now is applied, and durable."""
        ...

    def status(self) -> Status:
        """What `status` shows, as of now."""


class _Request(msgspec.Struct, forbid_unknown_fields=True):
    id: Id
    actor: Actor | None = None
    fact: msgspec.Raw = NOTHING
    ask: Literal["status", "applied"] | None = None


class _Id(msgspec.Struct):
    id: Id


class Accepted(msgspec.Struct, frozen=True):
    """The answer to a fact that was applied; `events` are its events as stored, `at_ms` when it happened."""

    id: str
    at_ms: int
    events: tuple[msgspec.Raw, ...]
    accepted: Literal[True] = True


class Refused(msgspec.Struct, frozen=True):
    """The answer to a fact that does not fit; nothing has changed."""

    id: str
    sentence: str
    accepted: Literal[False] = False


class Failed(msgspec.Struct, frozen=True):
    """The answer to a line that is no request, or cannot be served now; `id` is None where none could be read."""

    id: str | None
    error: str


class _StatusAnswer(msgspec.Struct, frozen=True):
    id: str
    status: Status


class _AppliedAnswer(msgspec.Struct, frozen=True):
    id: str
    applied: int
    seq: int


class _EventHead(msgspec.Struct):
    event: str
    sentence: str = ""


_REQUEST: Final = msgspec.json.Decoder(_Request)
_ID: Final = msgspec.json.Decoder(_Id)
_EVENT_HEAD: Final = msgspec.json.Decoder(_EventHead)
_JSON_OBJECT: Final = msgspec.json.Decoder(dict[str, object])

Answer: TypeAlias = Accepted | Refused | Failed | _StatusAnswer | _AppliedAnswer
Answers: TypeAlias = asyncio.Queue[asyncio.Future[Answer] | None]


def read_operator_fact(line: bytes | msgspec.Raw) -> Fact:
    """A fact as people tell it: no time and no source, and no field that the fact does not have. Raises BadRequest."""
    try:
        fields = _JSON_OBJECT.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadRequest('"fact" must be a JSON object, such as {"fact": "no_more_bets"}') from None
    name = fields.pop("fact", None)
    kind = OPERATOR_FACTS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise BadRequest(f"there is no such fact to tell: known are {', '.join(OPERATOR_FACTS)}")
    if given := [key for key in _STAMPED if key in fields]:
        raise BadRequest(f"leave out {given[0]}: facts told here are stamped on arrival")
    known = [field.encode_name for field in msgspec.structs.fields(kind) if field.name not in _STAMPED]
    unknown = next((key for key in fields if key not in known), None)
    if unknown is not None:
        raise BadRequest(f"the fact {name} has no such field; it has {', '.join(known) or 'none'}")
    try:
        return msgspec.convert({**fields, "at_ms": 0, "source": "operator"}, kind)
    except msgspec.ValidationError as error:
        raise BadRequest(f"the fact {name} cannot be read: {error}") from None


class ControlSocket:
    """Serves at `path` between `start` and `close`."""

    def __init__(self, path: Path, table: Table) -> None:
        self._server = UnixServer(path, self._serve, LINE_BYTES)
        self._table = table
        self._clients: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen. Raises SocketTaken."""
        await self._server.start()

    @property
    def serving(self) -> bool:
        """Are connections taken?"""
        return self._server.serving

    async def close(self) -> None:
        """Stop listening, and end every connection after the answers that are ready. A second call does nothing."""
        if not self._server.stop():
            return
        for client in tuple(self._clients):
            client.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or not self._server.started:
            await part(writer)
            return
        self._clients.add(task)
        answers = Answers(maxsize=_OUTSTANDING)
        listening = asyncio.create_task(self._listen(reader, answers))
        answering = asyncio.create_task(_answer(writer, answers))
        try:
            await asyncio.wait((listening, answering), return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait((answering,), timeout=None if listening.done() else 0)
        except asyncio.CancelledError:  # the daemon is stopping: what is answered already still goes out
            listening.cancel()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(answers.put(None), LINGER_S)
                await asyncio.wait((answering,), timeout=LINGER_S)
        finally:
            self._clients.discard(task)
            listening.cancel()
            answering.cancel()
            await asyncio.gather(listening, answering, return_exceptions=True)
            await part(writer)

    async def _listen(self, reader: asyncio.StreamReader, answers: Answers) -> None:
        try:
            while True:
                line = await reader.readuntil(b"\n")
                await answers.put(self._hear(line))
        except asyncio.LimitOverrunError:
            told = f"This line is longer than {LINE_BYTES} bytes: the connection is closed."
            await answers.put(_ready(Failed(None, told)))
        except (asyncio.IncompleteReadError, OSError):
            pass  # the client has said all it had to say
        await answers.put(None)

    def _hear(self, line: bytes) -> asyncio.Future[Answer]:
        """Understand and hand in at once, so that requests are taken in the order of their arrival."""
        try:
            request = _REQUEST.decode(line)
            return self._hand_in(request)
        except BadRequest as error:
            return _ready(Failed(_id_of(line), f"{error}."))
        except (msgspec.ValidationError, UnicodeDecodeError) as error:
            return _ready(Failed(_id_of(line), f"This request cannot be read: {error}."))
        except (msgspec.DecodeError, RecursionError):
            return _ready(Failed(None, "This is not a JSON object on one line."))

    def _hand_in(self, request: _Request) -> asyncio.Future[Answer]:
        if (request.fact == NOTHING) == (request.ask is None):
            raise BadRequest('a request has either "fact" or "ask"')
        if request.ask == "status":
            return _ready(_StatusAnswer(request.id, self._table.status()))
        if request.ask == "applied":
            return asyncio.ensure_future(_applied(request.id, self._table.caught_up()))
        if request.actor is None:
            raise BadRequest('a fact needs an "actor": who tells it')
        fact = read_operator_fact(request.fact)
        return asyncio.ensure_future(_told(request.id, self._table.tell(request.id, request.actor, fact)))


async def _told(request: str, told: asyncio.Future[Told]) -> Answer:
    try:
        done = await asyncio.shield(told)
    except NotNow as error:
        return Failed(request, str(error))
    for line in done.events:
        head = _EVENT_HEAD.decode(line)
        if head.event == "fact_refused":
            return Refused(request, head.sentence)
    return Accepted(request, done.at_ms, tuple(msgspec.Raw(line) for line in done.events))


async def _applied(request: str, caught_up: asyncio.Future[BarrierReached]) -> Answer:
    try:
        caught = await asyncio.shield(caught_up)
        return _AppliedAnswer(request, caught.applied, caught.seq)
    except NotNow as error:
        return Failed(request, str(error))


def _ready(answer: Answer) -> asyncio.Future[Answer]:
    ready: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
    ready.set_result(answer)
    return ready


def _id_of(line: bytes) -> str | None:
    try:
        return _ID.decode(line).id
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


async def _answer(writer: asyncio.StreamWriter, answers: Answers) -> None:
    while (answer := await answers.get()) is not None:
        writer.write(msgspec.json.encode(await answer) + b"\n")
        await writer.drain()
