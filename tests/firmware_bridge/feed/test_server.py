"""Every event once, in order, to every client, however publishing and asking fall together."""

import asyncio
import contextlib
import json
import socket
import tempfile
from contextlib import aclosing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.feed.client import FeedRefused, follow, follow_once
from firmware_bridge.journal.errors import JournalFailed
from firmware_bridge.unix_sockets import SocketTaken, listen_at
from tests.firmware_bridge.feed.feeds import DEADLINE_S, Stored, ask, served, take, until


async def test_stored_events_come_first_then_live_ones(tmp_path: Path) -> None:
    stored = Stored(1203)
    async with served(tmp_path / "feed", stored) as feed, aclosing(follow_once(tmp_path / "feed", 3)) as events:
        assert await take(events, 1200) == list(range(4, 1204))
        feed.publish(stored.add(2))
        assert await take(events, 2) == [1204, 1205]


async def test_lines_are_the_stored_bytes(tmp_path: Path) -> None:
    stored = Stored(1)
    async with served(tmp_path / "feed", stored) as feed, aclosing(follow_once(tmp_path / "feed")) as events:
        feed.publish(stored.add(1))
        assert [(await anext(events)).line, (await anext(events)).line] == [line for _, line in stored.events]


async def test_an_event_that_is_stored_and_not_yet_told_comes_once(tmp_path: Path) -> None:
    stored = Stored(5)
    async with served(tmp_path / "feed", stored) as feed:
        feed.publish(stored.events[:3])
        async with aclosing(follow_once(tmp_path / "feed")) as events:
            assert await take(events, 3) == [1, 2, 3]
            feed.publish(stored.events[3:4])
            feed.publish(stored.events[4:5])
            feed.publish(stored.add(1))
            assert await take(events, 3) == [4, 5, 6]


async def test_telling_twice_or_leaving_out_changes_nothing(tmp_path: Path) -> None:
    stored = Stored()
    async with served(tmp_path / "feed", stored) as feed, aclosing(follow_once(tmp_path / "feed")) as events:
        feed.publish(stored.add(3))
        feed.publish(stored.events)
        assert await take(events, 3) == [1, 2, 3]
        feed.publish(stored.events[1:2])
        stored.add(1)
        feed.publish(stored.add(1))
        assert await take(events, 2) == [4, 5]
        feed.publish(stored.events)
        async with aclosing(follow_once(tmp_path / "feed")) as late:
            assert await take(late, 5) == [1, 2, 3, 4, 5]
        feed.publish(stored.add(1))
        assert await take(events, 1) == [6]


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_interleaving_gives_each_event_once_in_order(data: st.DataObject) -> None:
    async def play(path: Path) -> None:
        stored = Stored(data.draw(st.integers(0, 5)))
        told = len(stored.events) if data.draw(st.booleans()) else 0
        following = []
        async with served(path, stored, backlog=data.draw(st.sampled_from([3, 2000]))) as feed:
            for _ in range(data.draw(st.integers(1, 12))):
                match data.draw(st.sampled_from(["store", "tell", "ask", "turn"])):
                    case "store":
                        stored.add(data.draw(st.integers(0, 4)))
                    case "tell":
                        upto = data.draw(st.integers(told, len(stored.events)))
                        feed.publish(stored.events[told:upto])
                        told = max(told, upto)
                    case "ask":
                        after = data.draw(st.integers(0, len(stored.events)))
                        following.append((after, asyncio.create_task(_until_last(path, after, stored))))
                    case "turn":
                        for _ in range(data.draw(st.integers(1, 20))):
                            await asyncio.sleep(0)
            stored.add(1)
            stored.last = len(stored.events)  # type: ignore[attr-defined]
            feed.publish(stored.events[told:])
            async with asyncio.timeout(DEADLINE_S):
                for after, task in following:
                    assert await task == list(range(after + 1, len(stored.events) + 1))

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Path(folder) / "feed"))


async def _until_last(path: Path, after: int, stored: Stored) -> list[int]:
    seen = []
    async with aclosing(follow(path, after)) as events:
        async for event in events:
            seen.append(event.seq)
            if event.seq == getattr(stored, "last", None):
                break
    return seen


async def test_a_slow_client_is_cut_off_and_nobody_waits_for_it(tmp_path: Path) -> None:
    stored = Stored(padding=20_000)
    async with served(tmp_path / "feed", stored, backlog=20) as feed:
        reader, writer = await asyncio.open_unix_connection(tmp_path / "feed", limit=1 << 16)
        writer.write(b'{"after":0}\n')
        async with aclosing(follow_once(tmp_path / "feed")) as quick:
            for _ in range(120):
                feed.publish(stored.add(1))
                await take(quick, 1)
        async with asyncio.timeout(DEADLINE_S):
            lines = [json.loads(line) for line in (await _everything(reader)).splitlines()]
        writer.close()
        assert [line["seq"] for line in lines[:-1]] == list(range(1, len(lines)))
        assert lines[-1] == {"error": "too slow: more than 20 events behind", "after": len(lines) - 1}
        async with aclosing(follow_once(tmp_path / "feed", lines[-1]["after"])) as again:
            assert await take(again, 120 - lines[-1]["after"]) == list(range(len(lines), 121))


async def _everything(reader: asyncio.StreamReader) -> bytes:
    received = b""
    while part := await reader.read(1 << 16):
        received += part
    return received


async def test_a_client_that_takes_nothing_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firmware_bridge.feed.server._STALL_S", 0.05)
    monkeypatch.setattr("firmware_bridge.unix_sockets.LINGER_S", 0.05)
    stored = Stored(500, padding=20_000)
    async with served(tmp_path / "feed", stored) as feed:
        _reader, writer = await asyncio.open_unix_connection(tmp_path / "feed", limit=1 << 16)
        writer.write(b'{"after":0}\n')
        async with asyncio.timeout(DEADLINE_S):
            await until(lambda: bool(feed._clients))
            await until(lambda: not feed._clients)
        writer.close()


@pytest.mark.parametrize(
    "line",
    [b"\n", b"hello\n", b"[1]\n", b'{"after":-1}\n', b'{"after":"1"}\n', b'{"after":1.5}\n', b"{}\n",
     b'{"after":0,"x":1}\n', b"\xff\n", b"x" * 100_000 + b"\n"],
)  # fmt: skip
async def test_a_malformed_request_is_told(tmp_path: Path, line: bytes) -> None:
    async with served(tmp_path / "feed", Stored(3)):
        (answer,) = await ask(tmp_path / "feed", line)
        assert set(answer) == {"error"}
        assert '{"after": N}' in str(answer["error"])


async def test_a_cursor_of_another_journal_is_told(tmp_path: Path) -> None:
    async with served(tmp_path / "feed", Stored(3)):
        with pytest.raises(FeedRefused, match="no event 7 yet, the last one is 3"):
            await anext(follow(tmp_path / "feed", 7))


async def test_a_client_that_only_asks_gets_what_is_stored(tmp_path: Path) -> None:
    """Half closed, as a shell's pipe leaves it."""
    async with served(tmp_path / "feed", Stored(700)):
        reader, writer = await asyncio.open_unix_connection(tmp_path / "feed")
        writer.write(b'{"after":0}\n')
        writer.write_eof()
        async with asyncio.timeout(DEADLINE_S):
            assert len((await reader.read()).splitlines()) == 700
        writer.close()


async def test_a_client_that_goes_leaves_nothing_behind(tmp_path: Path) -> None:
    stored = Stored(3)
    async with served(tmp_path / "feed", stored) as feed:
        for _ in range(20):
            _, writer = await asyncio.open_unix_connection(tmp_path / "feed")
            writer.write(b'{"after":0}\n')
            writer.transport.abort()
        async with aclosing(follow_once(tmp_path / "feed")) as events:
            await take(events, 3)
            async with asyncio.timeout(DEADLINE_S):
                await until(lambda: len(feed._clients) == 1)


async def test_a_journal_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    stored = Stored(3)
    stored.error = JournalFailed("the disk is gone")
    async with served(tmp_path / "feed", stored):
        (answer,) = await ask(tmp_path / "feed", b'{"after":1}\n')
        assert answer == {"error": "the journal cannot be read: the disk is gone", "after": 1}


async def test_closing_says_why_and_takes_the_socket_away(tmp_path: Path) -> None:
    path = tmp_path / "feed"
    async with served(path, Stored(1)) as feed:
        asking = asyncio.create_task(ask(path, b'{"after":0}\n'))
        async with asyncio.timeout(DEADLINE_S):
            await until(lambda: any(client.cursor == 1 for client in feed._clients))
            await feed.close()
            assert (await asking)[-1] == {"error": "the daemon is stopping", "after": 1}
        assert not path.exists()


def test_a_socket_nobody_listens_at_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "feed"
    listen_at(path).close()
    assert path.exists()
    with contextlib.closing(listen_at(path)):
        assert path.stat().st_mode & 0o777 == 0o660


def test_a_socket_somebody_listens_at_is_left_to_him(tmp_path: Path) -> None:
    path = tmp_path / "feed"
    with contextlib.closing(listen_at(path)):
        with pytest.raises(SocketTaken, match=f"another process listens at {path}"):
            listen_at(path)
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as client:
            client.connect(str(path))


def test_a_file_that_is_no_socket_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "feed").write_text("mine")
    with pytest.raises(SocketTaken, match="no socket"):
        listen_at(tmp_path / "feed")
    assert (tmp_path / "feed").read_text() == "mine"


@pytest.mark.parametrize("name", ["no folder/feed", "x" * 150])
def test_a_path_that_cannot_be_made_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(SocketTaken, match="cannot be made"):
        listen_at(tmp_path / name)
