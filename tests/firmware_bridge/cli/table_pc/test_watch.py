"""`firmware-bridge watch`, as a process of its own on a feed that comes and goes."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from firmware_bridge.core import events as ev
from firmware_bridge.feed.server import Feed

pytestmark = pytest.mark.real

DEADLINE_S = 30
COMMAND = (sys.executable, "-c", "from firmware_bridge.cli import main; main()", "watch")


class Stored:
    def __init__(self) -> None:
        told = [ev.RoundOpened(seq=1, round=1, house="licensed", seats=(1,)), ev.DealOver(seq=2, round=1)]
        self.events = [(event.seq, msgspec.json.encode(event)) for event in told]

    def events_after(self, seq: int, limit: int) -> list[tuple[int, bytes]]:
        return self.events[seq : seq + limit]

    def last_seq(self) -> int:
        return len(self.events)


@asynccontextmanager
async def watching(*options: str) -> AsyncIterator[asyncio.subprocess.Process]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*COMMAND, *options, stdout=pipe, stderr=pipe)
    try:
        async with asyncio.timeout(DEADLINE_S):
            yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def line(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    return (await process.stdout.readline()).decode().rstrip("\n")


async def test_the_feed_is_shown_in_words_over_a_restart_of_the_daemon(tmp_path: Path) -> None:
    stored = Stored()
    feed = Feed(tmp_path / "feed", stored)
    await feed.start()
    async with watching("--feed", str(tmp_path / "feed")) as process:
        assert await line(process) == "round 1  opens under licensed: seats 1"
        assert await line(process) == "round 1  the deal is over"
        await feed.close()
        stored.events.append((3, b'{"event":"deck_in","seq":3,"round":1}'))
        feed = Feed(tmp_path / "feed", stored)
        await feed.start()
        assert await line(process) == "round 1  the deck is in"
        process.send_signal(signal.SIGINT)
        assert await process.communicate() == (b"", b"")
        assert process.returncode == 130
    await feed.close()


async def test_json_is_what_is_stored(tmp_path: Path) -> None:
    feed = Feed(tmp_path / "feed", Stored())
    await feed.start()
    async with watching("--feed", str(tmp_path / "feed"), "--json", "--after", "1") as process:
        assert json.loads(await line(process)) == {"event": "deal_over", "seq": 2, "round": 1, "at_ms": 0}
    await feed.close()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "say which feed"),
        (["--feed", "{folder}/none"], "nobody answers at"),
        (["--config", "{folder}/none.toml"], "none.toml"),
        (["--feed", "{folder}/feed", "--after", "9"], "there is no event 9 yet"),
    ],
)
async def test_what_cannot_be_watched_is_told(tmp_path: Path, options: list[str], sentence: str) -> None:
    feed = Feed(tmp_path / "feed", Stored())
    await feed.start()
    async with watching(*(option.format(folder=tmp_path) for option in options)) as process:
        out, err = await process.communicate()
    await feed.close()
    assert process.returncode not in (0, None)
    assert out == b""
    assert sentence in err.decode()
    assert "Traceback" not in err.decode()
    assert len(err.splitlines()) == 1


async def test_a_reader_of_the_words_that_goes_away_ends_it(tmp_path: Path) -> None:
    stored = Stored()
    feed = Feed(tmp_path / "feed", stored)
    await feed.start()
    piped = 'set -o pipefail; "$0" "$@" | head -n 1'
    command = ("/bin/bash", "-c", piped, *COMMAND, "--feed", str(tmp_path / "feed"))
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe)
    ending = asyncio.create_task(process.communicate())
    async with asyncio.timeout(DEADLINE_S):
        while not ending.done():  # only who writes hears of it, and two lines may be out before the reader is gone
            seq = stored.last_seq() + 1
            stored.events.append((seq, msgspec.json.encode(ev.DealOver(seq=seq, round=1))))
            feed.publish(stored.events[-1:])
            await asyncio.wait((ending,), timeout=0.05)
        said, errors = await ending
    assert (process.returncode, errors) == (141, b"")
    assert said == b"round 1  opens under licensed: seats 1\n"
    await feed.close()
