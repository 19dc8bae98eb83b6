import asyncio
from typing import Any

import pytest

from drivers.facts import Fact
from firmware_bridge.core.events import BetsClosed
from firmware_bridge.core.facts import Decision, NoMoreBets
from firmware_bridge.daemon.control_socket import NotNow, Told
from firmware_bridge.daemon.intake import Answer, BarrierReached
from firmware_bridge.daemon.pending_requests import PendingRequests
from firmware_bridge.journal.errors import JournalFailed
from firmware_bridge.journal.rows import Origin, encoded

FACT = NoMoreBets(at_ms=5)
EVENTS = encoded((BetsClosed(seats=(1,)),))


class Journal:
    """What was told and answered before, by the request's id."""

    def __init__(self) -> None:
        self.facts: dict[str, Fact] = {}
        self.answers: dict[str, tuple[bytes, ...]] = {}
        self.error: Exception | None = None

    def told(self, origin: Origin) -> Fact | None:
        if self.error is not None:
            raise self.error
        return self.facts.get(origin.boot)

    def answer(self, origin: Origin) -> tuple[bytes, ...] | None:
        return self.answers.get(origin.boot)


def pending(journal: Journal) -> PendingRequests:
    reading: Any = journal
    return PendingRequests(reading)


async def test_an_answer_reaches_whoever_asked_and_whoever_asked_again() -> None:
    requests = pending(Journal())
    assert requests.known("a", FACT) is None
    first = requests.add_fact("a", FACT)
    again = requests.known("a", NoMoreBets(at_ms=9))
    assert again is first
    requests.answered(Answer("a", 5, EVENTS))
    assert await first == Told(5, (EVENTS[0].body,))


async def test_an_answer_that_nobody_waits_for_is_dropped() -> None:
    requests = pending(Journal())
    requests.answered(Answer("a", 5, EVENTS))
    told = requests.add_fact("a", FACT)
    assert not told.done()


async def test_an_id_of_an_earlier_run_gets_its_first_answer() -> None:
    journal = Journal()
    journal.facts["a"], journal.answers["a"] = FACT, (b"{}",)
    told = pending(journal).known("a", NoMoreBets(at_ms=900))
    assert told is not None
    assert await told == Told(5, (b"{}",))


async def test_what_was_received_and_not_applied_is_taken_again() -> None:
    journal = Journal()
    journal.facts["a"] = FACT
    assert pending(journal).known("a", FACT) is None


@pytest.mark.parametrize("stored", [True, False])
async def test_an_id_that_was_given_to_another_fact_is_refused(stored: bool) -> None:  # noqa: FBT001
    journal = Journal()
    requests = pending(journal)
    if stored:
        journal.facts["a"], journal.answers["a"] = FACT, ()
    else:
        requests.add_fact("a", FACT)
    told = requests.known("a", Decision(at_ms=5, seat=1, play=True))
    assert told is not None
    with pytest.raises(NotNow, match="This id was given to another fact before"):
        await told


async def test_a_journal_that_cannot_be_read_answers_not_now() -> None:
    journal = Journal()
    journal.error = JournalFailed("the disk refuses")
    told = pending(journal).known("a", FACT)
    assert told is not None
    with pytest.raises(NotNow, match=r"Nothing can be told now: the disk refuses\."):
        await told


async def test_barriers_are_told_apart_by_their_tokens() -> None:
    requests = pending(Journal())
    (one, first), (other, second) = requests.add_barrier(), requests.add_barrier()
    assert one != other
    requests.caught(BarrierReached(other, 3, 9))
    assert await second == BarrierReached(other, 3, 9)
    assert not first.done()


async def test_whoever_waits_is_told_when_nothing_will_come() -> None:
    requests = pending(Journal())
    told = requests.add_fact("a", FACT)
    _, caught = requests.add_barrier()
    requests.give_up("the daemon is stopping")
    for one in (told, caught):
        waiting: asyncio.Future[Any] = one
        with pytest.raises(NotNow, match="the daemon is stopping"):
            await waiting
    assert requests.known("a", FACT) is None
