"""The daemon as a whole, its devices and disk in the tests' hands."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import structlog
from pytest_mock import MockerFixture

from firmware_bridge.core.facts import Wager
from firmware_bridge.daemon import daemon as module
from firmware_bridge.daemon.replay import ReplayDiffers
from firmware_bridge.journal.errors import JournalConflict, JournalDamaged, JournalFull
from firmware_bridge.journal.rows import Origin, Write, event_body
from firmware_bridge.journal.store import Store
from tests.drivers.transports.ends.pty_end import until
from tests.firmware_bridge.daemon.daemon_hall import Hall, context, running

FULL = JournalFull("the disk of the journal is full: make room")


async def test_a_fact_told_is_answered_once_it_is_stored(tmp_path: Path) -> None:
    async with running(tmp_path) as hall:
        await hall.connect_shoe()
        client = await hall.client()
        answer = await client.tell("one", "wager", seat=1, ante=500)
        assert answer["accepted"] is True
        assert [event["seq"] for event in answer["events"]]
        stored = hall.context.store.told(Origin("operator", "one", 0))
        assert stored == Wager(at_ms=answer["at_ms"], seat=1, ante=500)


async def test_a_fact_that_does_not_fit_is_refused_with_a_sentence(tmp_path: Path) -> None:
    async with running(tmp_path) as hall:
        await hall.connect_shoe()
        client = await hall.client()
        answer = await client.tell("one", "ruling", ruling="continue")
        assert answer["accepted"] is False
        assert answer["sentence"]


async def test_an_id_gets_its_first_answer_for_ever(tmp_path: Path) -> None:
    line = b'{"id":"one","actor":"dealer","fact":{"fact":"wager","seat":1,"ante":500}}'
    async with running(tmp_path) as hall:
        await hall.connect_shoe()
        client, other = await hall.client(), await hall.client()
        client.say(line)
        other.say(line)
        first = await client.hear()
        assert await other.hear() == first
        client.say(line)
        assert await client.hear() == first
    async with running(tmp_path) as hall:
        client = await hall.client()
        client.say(line)
        assert await client.hear() == first


async def test_an_id_given_to_another_fact_is_an_error(tmp_path: Path, mocker: MockerFixture) -> None:
    gate = _gate(mocker)
    async with running(tmp_path) as hall:
        await hall.connect_shoe()
        client, other = await hall.client(), await hall.client()
        await client.ask(id="b", ask="applied")
        gate.clear()
        client.say(b'{"id":"one","actor":"dealer","fact":{"fact":"wager","seat":1,"ante":500}}')
        await until(lambda: bool(hall.daemon._open._facts))
        assert "another fact" in (await other.tell("one", "wager", seat=1, ante=900))["error"]
        gate.set()
        assert b'"accepted":true' in await client.hear()
        assert "another fact" in (await other.tell("one", "wager", seat=1, ante=900))["error"]


async def test_requests_are_taken_in_order_without_waiting_for_answers(tmp_path: Path) -> None:
    async with running(tmp_path) as hall:
        await hall.connect_shoe()
        client = await hall.client()
        for seat in (1, 2, 3):
            fact = f'{{"fact":"wager","seat":{seat},"ante":500}}'
            client.say(f'{{"id":"{seat}","actor":"dealer","fact":{fact}}}'.encode())
        answers = [await client.hear() for _ in range(3)]
        assert [answer[:8] for answer in answers] == [b'{"id":"1', b'{"id":"2', b'{"id":"3']


async def test_a_devices_fact_is_acknowledged_when_it_is_durable_and_not_before(
    tmp_path: Path, mocker: MockerFixture
) -> None:
    gate = _gate(mocker)
    async with running(tmp_path) as hall:
        await hall.connect_shoe()
        gate.clear()
        hall.shoe.say("draw 7 Qh")
        client = await hall.client()
        await client.ask(id="s", ask="status")
        assert b"durable" not in hall.shoe.heard
        assert hall.context.store.last("shoe") is None
        gate.set()
        await until(lambda: b"durable 7" in hall.shoe.heard)
        last = hall.context.store.last("shoe")
        assert last is not None
        assert (last.boot, last.number) == ("A", 7)


async def test_a_new_connection_resumes_after_what_is_durable(tmp_path: Path) -> None:
    async with running(tmp_path) as hall:
        await hall.connect_shoe()
        hall.shoe.say("fact 7")
        await until(lambda: b"durable 7" in hall.shoe.heard)
    async with running(tmp_path) as hall:
        await until(lambda: hall.ports.open_now == 1 and b"hello" in hall.shoe.heard)
        assert hall.shoe.heard.split()[2] == b"A/7"
        await hall.connect_shoe()
        hall.shoe.say("fact 7", "fact 8")
        await until(lambda: b"durable 8" in hall.shoe.heard)
        numbers = [row.origin.number for row in hall.context.store.applied() if row.origin.device == "shoe"]
        assert numbers == [7, 8]


async def test_a_full_disk_holds_the_dealing_and_room_lets_it_go_on(tmp_path: Path, mocker: MockerFixture) -> None:
    trouble = _failing(mocker, lambda: FULL)
    async with running(tmp_path) as hall:
        await hall.connect_shoe()
        client = await hall.client()
        trouble.set()
        answer = await client.tell("one", "wager", seat=1, ante=500)
        assert "the disk of the journal is full" in answer["error"]
        assert "later" in answer["error"]
        assert (await client.ask(id="s", ask="status"))["status"]["trouble"] == str(FULL)
        assert "the disk of the journal is full" in (await client.ask(id="b", ask="applied"))["error"]
        await until(lambda: hall.ports.open_now == 0)
        trouble.clear()
        await hall.connect_shoe()
        assert (await client.tell("one", "wager", seat=1, ante=500))["accepted"] is True
        hall.shoe.say("fact 1")
        await until(lambda: b"durable 1" in hall.shoe.heard)


async def test_what_a_failed_commit_took_along_is_told_again_and_counted_once(
    tmp_path: Path, mocker: MockerFixture
) -> None:
    trouble = _failing(mocker, lambda: FULL)
    async with running(tmp_path) as hall:
        await hall.connect_shoe()
        trouble.set()
        hall.shoe.say("fact 1")
        await until(lambda: hall.ports.open_now == 0)
        assert b"durable" not in hall.ports.far[0].heard
        trouble.clear()
        await hall.connect_shoe()
        hall.shoe.say("fact 1", "fact 2")
        await until(lambda: b"durable 2" in hall.shoe.heard)
        numbers = [row.origin.number for row in hall.context.store.applied() if row.origin.device == "shoe"]
        assert numbers == [1, 2]


async def test_a_disk_that_is_full_at_the_start_is_waited_for(tmp_path: Path, mocker: MockerFixture) -> None:
    mocker.patch.object(module, "FIRST_RETRY_S", 0.01)
    trouble = _failing(mocker, lambda: FULL)
    trouble.set()
    async with running(tmp_path) as hall:
        client = await hall.client()
        await until(lambda: hall.daemon.status().trouble is not None)
        assert "error" in await client.tell("one", "wager", seat=1, ante=500)
        trouble.clear()
        await hall.connect_shoe()
        assert (await client.tell("one", "wager", seat=1, ante=500))["accepted"] is True


async def test_a_stop_is_possible_while_the_disk_hangs(tmp_path: Path, mocker: MockerFixture) -> None:
    mocker.patch.object(module, "STOP_DEADLINE_S", 0.2)
    gate = _gate(mocker)
    on = context(tmp_path)
    hall = Hall(tmp_path, on)
    await hall.connect_shoe()
    gate.clear()
    hall.shoe.say("fact 1")
    await until(lambda: hall.daemon._intake.last.get("shoe") is not None)
    hall.daemon.stop()
    await asyncio.wait_for(hall.running, 10)
    gate.set()
    on.store.close()


async def test_a_journal_that_contradicts_the_core_makes_it_anew(tmp_path: Path, mocker: MockerFixture) -> None:
    mocker.patch.object(module, "FIRST_RETRY_S", 0.01)
    trouble = _failing(mocker, lambda: JournalConflict("the journal expects another event"))
    trouble.set()
    async with running(tmp_path) as hall:
        await until(lambda: hall.daemon.status().trouble is not None)
        trouble.clear()
        await hall.connect_shoe()
        await until(lambda: hall.context.store.highest().applied == 2)


async def test_a_stop_is_possible_while_the_disk_is_full(tmp_path: Path, mocker: MockerFixture) -> None:
    trouble = _failing(mocker, lambda: FULL)
    trouble.set()
    async with running(tmp_path) as hall:
        await until(lambda: hall.daemon.status().trouble is not None)


async def test_a_damaged_journal_ends_the_daemon(tmp_path: Path, mocker: MockerFixture) -> None:
    trouble = _failing(mocker, lambda: JournalDamaged("the journal is damaged"))
    on = context(tmp_path)
    hall = Hall(tmp_path, on)
    client = await hall.client()
    await client.ask(id="b", ask="applied")
    trouble.set()
    client.say(b'{"id":"one","actor":"dealer","fact":{"fact":"no_more_bets"}}')
    with pytest.raises(JournalDamaged):
        await hall.running
    on.store.close()


async def test_a_stop_leaves_no_socket_no_port_and_no_lock(tmp_path: Path) -> None:
    async with running(tmp_path) as hall:
        await hall.connect_shoe()
        client = await hall.client()
        hall.daemon.stop()
        await hall.running
        assert await client.hear() == b""
    assert hall.ports.open_now == 0
    assert not (tmp_path / "c.sock").exists()
    assert not (tmp_path / "f.sock").exists()
    context(tmp_path).store.close()


async def test_what_was_handed_in_before_a_stop_is_stored(tmp_path: Path, mocker: MockerFixture) -> None:
    gate = _gate(mocker)
    async with running(tmp_path) as hall:
        client = await hall.client()
        await client.ask(id="b", ask="applied")
        gate.clear()
        client.say(b'{"id":"one","actor":"dealer","fact":{"fact":"no_more_bets"}}')
        await until(lambda: bool(hall.daemon._open._facts))
        hall.daemon.stop()
        gate.set()
        await hall.running
    store = context(tmp_path).store
    assert store.told(Origin("operator", "one", 0)) is not None
    store.close()


async def test_a_journal_that_replays_to_other_events_is_refused(tmp_path: Path, mocker: MockerFixture) -> None:
    async with running(tmp_path) as hall:
        await hall.connect_shoe()
        client = await hall.client()
        await client.tell("one", "wager", seat=1, ante=500)
    real = event_body
    mocker.patch(
        "firmware_bridge.daemon.replay.event_body", lambda event: real(event).replace(b'"at_ms":', b'"at_ms": ')
    )
    on = context(tmp_path)
    with pytest.raises(ReplayDiffers) as told:
        Hall(tmp_path, on)
    assert "This version reads the journal differently: fact " in str(told.value)
    assert "\n" not in str(told.value)
    on.store.close()


async def test_no_log_line_names_a_card(tmp_path: Path, mocker: MockerFixture) -> None:
    with structlog.testing.capture_logs() as lines:
        async with running(tmp_path) as hall:
            await hall.connect_shoe()
            client = await hall.client()
            await client.tell("w", "wager", seat=1, ante=500)
            await client.tell("b", "no_more_bets")
            hall.shoe.say(*(f"draw {draw} {card}" for draw, card in enumerate(("Qh", "Td", "7c"), start=1)))
            await until(lambda: b"durable 3" in hall.shoe.heard)
            await client.tell("i", "card_identified", seat=1, index=1, card="Ks")
            hall.shoe.say("raise Qh")
            await until(lambda: hall.ports.open_now == 0 or len(hall.ports.far) > 1)
    told = "\n".join(str(line) for line in lines)
    assert "card_drawn" in told
    assert not [card for card in ("Qh", "Td", "7c", "Ks") if card in told]


async def test_the_status_tells_devices_and_round(tmp_path: Path) -> None:
    async with running(tmp_path) as hall:
        client = await hall.client()
        status = (await client.ask(id="s", ask="status"))["status"]
        assert (status["table"], status["house"], status["lost"]) == ("test", "licensed", ["shoe"])
        await hall.connect_shoe()
        status = (await client.ask(id="s", ask="status"))["status"]
        assert status["lost"] == []
        assert status["devices"]["shoe"]["link"] == "up"


def _gate(mocker: MockerFixture) -> threading.Event:
    """While the event is cleared, commits wait."""
    gate = threading.Event()
    gate.set()
    real = Store.commit

    def commit(store: Store, writes: Sequence[Write]) -> frozenset[int]:
        gate.wait(20)
        return real(store, writes)

    mocker.patch.object(Store, "commit", commit)
    return gate


def _failing(mocker: MockerFixture, error: Callable[[], Exception]) -> threading.Event:
    """While the event is set, commits fail."""
    trouble = threading.Event()
    real = Store.commit

    def commit(store: Store, writes: Sequence[Write]) -> frozenset[int]:
        if trouble.is_set():
            raise error()
        return real(store, writes)

    mocker.patch.object(Store, "commit", commit)
    return trouble
