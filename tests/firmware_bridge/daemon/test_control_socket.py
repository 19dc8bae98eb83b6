"""The control socket: what it understands, what it answers to what it does not, and how it is opened and closed."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.facts import Fact
from firmware_bridge.core.facts import CardIdentified, NoMoreBets, Seats
from firmware_bridge.daemon.control_socket import (
    LINE_BYTES,
    OPERATOR_FACTS,
    BadRequest,
    ControlSocket,
    NotNow,
    Told,
    read_operator_fact,
)
from firmware_bridge.daemon.intake import BarrierReached
from firmware_bridge.daemon.status import Status
from firmware_bridge.unix_sockets import SocketTaken
from tests.drivers.transports.ends.pty_end import until
from tests.firmware_bridge.daemon.daemon_hall import Client

STATUS = Status(
    table="t", house="h", version="1", at_ms=5, trouble=None, applied=0, waiting=0, lost=(), round=None, devices={}
)


class Counter:
    """Takes every fact; answers when the test says so."""

    def __init__(self) -> None:
        self.facts: list[tuple[str, str, Fact]] = []
        self.told: list[asyncio.Future[Told]] = []

    def tell(self, request: str, actor: str, fact: Fact) -> asyncio.Future[Told]:
        self.facts.append((request, actor, fact))
        self.told.append(asyncio.get_running_loop().create_future())
        return self.told[-1]

    def caught_up(self) -> asyncio.Future[BarrierReached]:
        caught: asyncio.Future[BarrierReached] = asyncio.get_running_loop().create_future()
        caught.set_result(BarrierReached("token", 3, 8))
        return caught

    def status(self) -> Status:
        return STATUS


@pytest.fixture
def counter() -> Counter:
    return Counter()


@pytest.fixture
async def client(tmp_path: Path, counter: Counter) -> AsyncIterator[Client]:
    control = ControlSocket(tmp_path / "c.sock", counter)
    await control.start()
    connected = Client(*await asyncio.open_unix_connection(tmp_path / "c.sock"))
    yield connected
    connected.writer.close()
    await control.close()


async def test_a_fact_is_handed_in_with_its_actor_and_answered_with_its_events(
    client: Client, counter: Counter
) -> None:
    client.say(b'{"id":"a","actor":"dealer","fact":{"fact":"seats","seats":[1,2]}}')
    await until(lambda: bool(counter.told))
    assert counter.facts == [("a", "dealer", Seats(at_ms=0, seats=(1, 2)))]
    counter.told[0].set_result(Told(77, (b'{"event":"bets_closed","seq":1}',)))
    assert msgspec.json.decode(await client.hear()) == {
        "id": "a",
        "accepted": True,
        "at_ms": 77,
        "events": [{"event": "bets_closed", "seq": 1}],
    }


async def test_a_refused_fact_is_answered_with_the_sentence(client: Client, counter: Counter) -> None:
    client.say(b'{"id":"a","actor":"dealer","fact":{"fact":"no_more_bets"}}')
    await until(lambda: bool(counter.told))
    counter.told[0].set_result(Told(77, (b'{"event":"fact_refused","sentence":"No."}',)))
    assert msgspec.json.decode(await client.hear()) == {"id": "a", "accepted": False, "sentence": "No."}


async def test_what_cannot_be_taken_now_is_an_error(client: Client, counter: Counter) -> None:
    client.say(b'{"id":"a","actor":"dealer","fact":{"fact":"no_more_bets"}}')
    await until(lambda: bool(counter.told))
    counter.told[0].set_exception(NotNow("The disk is full."))
    assert msgspec.json.decode(await client.hear()) == {"id": "a", "error": "The disk is full."}


async def test_answers_come_in_the_order_of_the_requests(client: Client, counter: Counter) -> None:
    client.say(b'{"id":"a","actor":"dealer","fact":{"fact":"no_more_bets"}}\n{"id":"b","ask":"applied"}')
    await until(lambda: bool(counter.told))
    counter.told[0].set_result(Told(1, ()))
    assert b'"id":"a"' in await client.hear()
    assert msgspec.json.decode(await client.hear()) == {"id": "b", "applied": 3, "seq": 8}


async def test_the_status_is_told(client: Client) -> None:
    answer = await client.ask(id="s", ask="status")
    assert answer == {"id": "s", "status": msgspec.json.decode(msgspec.json.encode(STATUS))}


@pytest.mark.parametrize(
    ("line", "name", "told"),
    [
        (b"hello", None, "not a JSON object"),
        (b"[1]", None, "cannot be read"),
        (b'{"id":' + b"[" * 5000, None, "`$.id`"),
        (b'{"actor":"d"}', None, "`id`"),
        (b'{"id":""}', None, "`$.id`"),
        (b'{"id":7}', None, "`$.id`"),
        (b'{"id":"a"}', "a", '"fact" or "ask"'),
        (b'{"id":"a","ask":"applied","fact":{}}', "a", '"fact" or "ask"'),
        (b'{"id":"a","ask":"everything"}', "a", "`$.ask`"),
        (b'{"id":"a","new":1}', "a", "`new`"),
        (b'{"id":"a","fact":{"fact":"no_more_bets"}}', "a", 'needs an "actor"'),
        (b'{"id":"a","actor":"d","fact":null}', "a", "must be a JSON object"),
        (b'{"id":"a","actor":"d","fact":{"fact":"card_drawn"}}', "a", "no such fact to tell: known are"),
        (b'{"id":"a","actor":"d","fact":{"fact":["x"]}}', "a", "no such fact to tell"),
        (b'{"id":"a","actor":"d","fact":{"fact":"no_more_bets","at_ms":5}}', "a", "leave out at_ms"),
        (b'{"id":"a","actor":"d","fact":{"fact":"wager","seat":1,"anti":5}}', "a", "it has seat, ante, pair_plus"),
        (b'{"id":"a","actor":"d","fact":{"fact":"wager","seat":1,"ante":-5}}', "a", "`$.ante`"),
        (b'{"id":"a","actor":"d","fact":{"fact":"wager"}}', "a", "`seat`"),
        (b'{"id":"a","actor":"d","fact":{"fact":"decision","seat":1,"play":1}}', "a", "`$.play`"),
        (b'{"id":"\xff"}', None, "not a JSON object"),
    ],
)
async def test_what_cannot_be_understood_is_answered_in_a_sentence(
    client: Client, counter: Counter, line: bytes, name: str | None, told: str
) -> None:
    client.say(line)
    answer: dict[str, Any] = msgspec.json.decode(await client.hear())
    assert answer["id"] == name
    assert told in answer["error"]
    assert answer["error"].endswith(".")
    assert counter.facts == []
    assert (await client.ask(id="s", ask="status"))["id"] == "s"


async def test_a_line_too_long_ends_the_connection(client: Client) -> None:
    client.say(b"x" * (2 * LINE_BYTES))
    answer = msgspec.json.decode(await client.hear())
    assert "longer than" in answer["error"]
    assert await client.hear() == b""


async def test_who_leaves_early_takes_nobody_along(tmp_path: Path, client: Client, counter: Counter) -> None:
    leaving = Client(*await asyncio.open_unix_connection(tmp_path / "c.sock"))
    leaving.say(b'{"id":"a","actor":"d","fact":{"fact":"no_more_bets"}}')
    await until(lambda: bool(counter.told))
    leaving.writer.transport.abort()
    counter.told[0].set_result(Told(1, ()))
    assert (await client.ask(id="s", ask="status"))["id"] == "s"


async def test_who_has_said_all_still_gets_the_answers(tmp_path: Path, client: Client, counter: Counter) -> None:
    done = Client(*await asyncio.open_unix_connection(tmp_path / "c.sock"))
    done.say(b'{"id":"a","actor":"d","fact":{"fact":"no_more_bets"}}')
    done.writer.write_eof()
    await until(lambda: bool(counter.told))
    counter.told[0].set_result(Told(1, ()))
    assert b"accepted" in await done.hear()
    assert await done.hear() == b""


async def test_the_socket_is_for_its_user_and_group_alone_and_goes_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "c.sock"
    control = ControlSocket(path, Counter())
    await control.start()
    assert os.stat(path).st_mode & 0o777 == 0o660
    with pytest.raises(SocketTaken, match="another process listens at"):
        await ControlSocket(path, Counter()).start()
    await control.close()
    await control.close()
    assert not os.path.exists(path)  # noqa: ASYNC240


async def test_a_socket_that_nobody_listens_at_is_replaced(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(tmp_path / "c.sock"))
    control = ControlSocket(tmp_path / "c.sock", Counter())
    await control.start()
    await control.close()


async def test_closing_sends_off_who_is_still_there(tmp_path: Path, counter: Counter) -> None:
    control = ControlSocket(tmp_path / "c.sock", counter)
    await control.start()
    there = Client(*await asyncio.open_unix_connection(tmp_path / "c.sock"))
    there.say(b'{"id":"a","actor":"d","fact":{"fact":"no_more_bets"}}')
    await until(lambda: bool(counter.told))
    counter.told[0].set_exception(NotNow("The daemon is stopping."))
    await control.close()
    assert b"stopping" in await there.hear()
    assert await there.hear() == b""


def test_every_operator_fact_can_be_told() -> None:
    assert len(OPERATOR_FACTS) == 21
    assert read_operator_fact(b'{"fact":"no_more_bets"}') == NoMoreBets(at_ms=0)
    identified = read_operator_fact(b'{"fact":"card_identified","seat":"dealer","index":3,"card":"Qd"}')
    assert isinstance(identified, CardIdentified)


@given(st.binary(max_size=200) | st.from_regex(rb'\{"fact":"(seats|wager|ruling)"[^}]{0,40}\}'))
def test_no_bytes_make_anything_but_a_fact_or_a_sentence(line: bytes) -> None:
    try:
        read_operator_fact(line)
    except BadRequest as error:
        assert "\n" not in str(error)  # noqa: PT017
