"""A recording in place of its device; what is recorded here is spoken by hand."""

import asyncio
from pathlib import Path

import pytest

from drivers.errors import LinkLost, PortMissing, PortUnusable
from drivers.transports import replay
from drivers.transports.opening import new_opener
from drivers.transports.transport import Recorded
from tests.drivers.transports.conftest import FIRST, SECOND
from tests.drivers.transports.ends.pty_end import Host, until


async def test_each_opening_plays_the_next_connection_with_its_nonce(recording: str) -> None:
    open_port = new_opener()
    told: list[bytes] = []
    for nonce, data in ((FIRST, b"onetwo"), (SECOND, b"three")):
        host = Host()
        transport = await open_port(recording, host.on_data, host.on_lost)
        assert isinstance(transport, Recorded)
        assert transport.nonce == nonce
        transport.write(b"hello")
        transport.write(b"go on")
        await until(lambda: bool(host.lost))  # noqa: B023
        assert isinstance(host.lost[0], LinkLost)
        assert host.data == data
        await transport.close()
        told.append(host.data)
    with pytest.raises(PortMissing, match="has been played to its end"):
        await open_port(recording, Host().on_data, Host().on_lost)


async def test_an_answer_waits_for_the_question_but_not_for_ever(
    recording: str, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "PATIENCE_S", 3600)
    transport = await new_opener()(recording, host.on_data, host.on_lost)
    await asyncio.sleep(0.02)
    assert host.data == b""
    transport.write(b"hello")
    await until(lambda: host.data == b"one")
    await transport.close()
    monkeypatch.setattr(replay, "PATIENCE_S", 0.01)
    unanswered = Host()
    await new_opener()(recording, unanswered.on_data, unanswered.on_lost)
    await until(lambda: bool(unanswered.lost))
    assert unanswered.data == b"onetwo"


async def test_a_closed_recording_tells_nothing_more(recording: str, host: Host) -> None:
    transport = await new_opener()(recording, host.on_data, host.on_lost)
    transport.write(b"hello")
    await transport.close()
    await transport.close()
    await asyncio.sleep(0.01)
    assert (host.data, host.lost) == (b"", [])


async def test_what_is_no_recording_cannot_be_opened(tmp_path: Path, host: Host) -> None:
    file = tmp_path / "a.pcapng"
    with pytest.raises(PortUnusable, match="cannot be read"):
        await new_opener()(f"replay:{file}", host.on_data, host.on_lost)
    file.write_bytes(b"junk")
    with pytest.raises(PortUnusable, match="is no pcapng file"):
        await new_opener()(f"replay:{file}", host.on_data, host.on_lost)
