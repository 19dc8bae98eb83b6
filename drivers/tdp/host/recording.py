"""Recorded bytes of a TDP device, read without a session (drivers/tdp/spec.md sections 3.2 and 4.4).

Frames of a recording may have been lost on the wire and sent again later, in this session or the next: facts are told
in the order of their numbers, each once for each boot id.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final

import msgspec

from drivers.facts import DeviceFact
from drivers.framing import DELIMITER, FrameDecoder
from drivers.sequence import NUMBER_BITS, seq_add, seq_diff
from drivers.tdp.codec.fact_messages import FactMessage, Gap
from drivers.tdp.codec.fields import BadMessage
from drivers.tdp.codec.header import HEADER_SIZE, MAJOR, Header, session_id
from drivers.tdp.codec.messages import Message, UnknownMessageType, read_message
from drivers.tdp.codec.session_messages import HelloAnswer, Started
from drivers.tdp.host.auth import TRAILER_SIZE

MOST_EARLY: Final = 64
MOST_BOOTS: Final = 64


class _Facts:
    """The facts of one boot id. `due`: the number that comes next."""

    def __init__(self) -> None:
        self.due: int | None = None
        self.early: dict[int, FactMessage] = {}


class TdpRecording:
    """`at_ms` of every fact is the device's clock, as its spec says. Authenticated frames are read, not verified."""

    def __init__(self) -> None:
        self._decoder = FrameDecoder()
        self._counts: Counter[str] = Counter()
        self._boots: dict[bytes, _Facts] = {}
        self._sessions: dict[int, bytes] = {}
        self._decoder.feed(DELIMITER)  # a recording begins where somebody began to record: at a frame, as a rule

    @property
    def counters(self) -> dict[str, int]:
        """What could not be read, by reason."""
        return {**{name: count for name, count in self._decoder.counters.items() if count}, **self._counts}

    def feed(self, data: bytes) -> list[DeviceFact]:
        """The facts in the next bytes, each once."""
        return [fact for body in self._decoder.feed(data) for fact in self._frame(body)]

    def cut(self) -> list[DeviceFact]:
        """As `Recording` states. Facts that wait for one before them go on waiting: the device sends it again."""
        return self.feed(DELIMITER)

    def end(self) -> list[DeviceFact]:
        """The recording is over: count what is unfinished."""
        if self._decoder.pending:
            self._counts["bytes_of_an_unfinished_frame"] += self._decoder.pending
        return [fact for facts in self._boots.values() for fact in self._let_go(facts, keep=0)]

    def _frame(self, body: bytes) -> list[DeviceFact]:
        if len(body) < HEADER_SIZE:
            self._counts["frames_without_header"] += 1
            return []
        header = Header.from_bytes(body)
        if not header.to_host:
            self._counts["frames_of_the_host"] += 1
            return []
        if header.major != MAJOR:
            self._counts["other_version"] += 1
            return []
        if header.authenticated:
            body = body[:-TRAILER_SIZE]
        try:
            message, _ = read_message(header, body)
        except UnknownMessageType:
            self._counts["unknown_messages"] += 1
            return []
        except BadMessage:
            self._counts["bad_messages"] += 1
            return []
        self._counts["frames"] += 1
        return list(self._message(header, message))

    def _message(self, header: Header, message: Message) -> Iterator[DeviceFact]:
        match message:
            case HelloAnswer(nonce=nonce, boot=boot):
                self._sessions[session_id(nonce, boot)] = boot
                if len(self._sessions) > MOST_BOOTS:
                    del self._sessions[next(iter(self._sessions))]
            case Started(first_number=first) | Gap(next_number=first):
                facts = self._facts(header)
                if facts.due is None:
                    facts.due = first
                elif seq_diff(first, facts.due, NUMBER_BITS) > 0:
                    yield from self._let_go(facts, keep=0)
                    facts.due = first
            case FactMessage():
                yield from self._fact(self._facts(header), message)

    def _facts(self, header: Header) -> _Facts:
        boot = self._sessions.get(header.session, header.session.to_bytes(4, "little"))
        if boot not in self._boots and len(self._boots) == MOST_BOOTS:
            del self._boots[next(iter(self._boots))]
        return self._boots.setdefault(boot, _Facts())

    def _fact(self, facts: _Facts, message: FactMessage) -> Iterator[DeviceFact]:
        if facts.due is None:
            facts.due = message.number
        if seq_diff(message.number, facts.due, NUMBER_BITS) < 0 or message.number in facts.early:
            self._counts["repeated_facts"] += 1
            return
        facts.early[message.number] = message
        yield from self._let_go(facts, keep=MOST_EARLY)

    def _let_go(self, facts: _Facts, keep: int) -> Iterator[DeviceFact]:
        """What has its turn; what has not, once more than `keep` wait for one that does not come."""
        while facts.early and facts.due is not None:
            message = facts.early.pop(facts.due, None)
            if message is None:
                if len(facts.early) <= keep:
                    return
                due = facts.due
                facts.due = min(facts.early, key=lambda number: seq_diff(number, due, NUMBER_BITS))
                self._counts["missing_facts"] += seq_diff(facts.due, due, NUMBER_BITS)
                continue
            facts.due = seq_add(facts.due, 1, NUMBER_BITS)
            try:
                fact, _ = message.fact()
            except BadMessage:
                self._counts["unusable_facts"] += 1
                continue
            yield msgspec.structs.replace(fact, at_ms=message.clock_ms)
