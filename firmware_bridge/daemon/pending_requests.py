"""Who waits for an answer at the control socket, and what was answered before."""

import asyncio
import secrets
from typing import Final

import msgspec

from drivers.facts import Fact
from firmware_bridge.daemon.control_socket import NotNow, Told
from firmware_bridge.daemon.intake import Answer, BarrierReached
from firmware_bridge.daemon.ordering import OPERATOR
from firmware_bridge.journal.errors import JournalError
from firmware_bridge.journal.reading import Reading
from firmware_bridge.journal.rows import Origin

_OTHER_FACT: Final = "This id was given to another fact before: nothing was changed. Tell the fact under a new id."


class PendingRequests:
    """Facts by the id of their request, until they are answered; barriers by their token."""

    def __init__(self, journal: Reading) -> None:
        self._journal = journal
        self._facts: dict[str, tuple[Fact, asyncio.Future[Told]]] = {}
        self._barriers: dict[str, asyncio.Future[BarrierReached]] = {}

    def known(self, request: str, fact: Fact) -> asyncio.Future[Told] | None:
        """What becomes of a request whose id was used before; None where it was not, or its fact is not applied yet."""
        told: asyncio.Future[Told] = asyncio.get_running_loop().create_future()
        origin = Origin(OPERATOR, request, 0)
        try:
            waiting = self._facts.get(request)
            first = self._journal.told(origin) if waiting is None else waiting[0]
            events = None if waiting is not None else self._journal.answer(origin)
        except JournalError as error:
            told.set_exception(NotNow(f"Nothing can be told now: {error}."))
            return told
        if first is None:
            return None
        if msgspec.structs.replace(first, at_ms=fact.at_ms) != fact:
            told.set_exception(NotNow(_OTHER_FACT))
        elif waiting is not None:
            return waiting[1]
        elif events is None:
            return None
        else:
            told.set_result(Told(first.at_ms, events))
        return told

    def add_fact(self, request: str, fact: Fact) -> asyncio.Future[Told]:
        """Whoever sent the request waits for what this gives: the answer, once the fact is applied."""
        told: asyncio.Future[Told] = asyncio.get_running_loop().create_future()
        self._facts[request] = fact, told
        return told

    def add_barrier(self) -> tuple[str, asyncio.Future[BarrierReached]]:
        """A new barrier's token, and what is done once it is reached."""
        token = secrets.token_hex(8)
        self._barriers[token] = asyncio.get_running_loop().create_future()
        return token, self._barriers[token]

    def answered(self, answer: Answer) -> None:
        """Tell whoever waits. Nobody does after a restart."""
        if answer.request in self._facts:
            _, told = self._facts.pop(answer.request)
            told.set_result(Told(answer.at_ms, tuple(one.body for one in answer.events)))

    def caught(self, caught: BarrierReached) -> None:
        """That barrier is reached."""
        self._barriers.pop(caught.token).set_result(caught)

    def give_up(self, sentence: str) -> None:
        """Tell all who wait that they get no answer now, and why."""
        waiting: list[asyncio.Future[Told] | asyncio.Future[BarrierReached]] = [
            told for _, told in self._facts.values()
        ]
        waiting += self._barriers.values()
        self._facts.clear()
        self._barriers.clear()
        for one in waiting:
            one.set_exception(NotNow(sentence))
            one.exception()  # a client that has gone does not fetch it
