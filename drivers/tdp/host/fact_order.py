"""Facts in the order of their numbers, each once, on the table's clock (drivers/tdp/spec.md sections 4.5 and 8.5)."""

from collections import Counter, deque
from dataclasses import dataclass
from typing import Final

import msgspec

from drivers.driver import DeviceKind, Heard, NumberedFact
from drivers.sequence import NUMBER_BITS, seq_add, seq_diff
from drivers.tdp.codec.command_messages import Alive
from drivers.tdp.codec.fact_codec import UnknownFactCode
from drivers.tdp.codec.fact_messages import FactMessage
from drivers.tdp.codec.fields import BadMessage
from drivers.tdp.codec.session_messages import Started
from drivers.tdp.host.clock_sync import ClockMap
from drivers.tdp.host.rtt import Question

SIGNS_REMEMBERED: Final = 64


class FactsBroken(Exception):
    """No further fact of this session can be trusted; the text is a sentence for a person."""


@dataclass(frozen=True, slots=True)
class _Sign:
    """An ALIVE that counts as heard once every fact before `next_number` is here."""

    clock_ms: int
    next_number: int
    asked_at_ms: int | None


class FactOrder:
    """`next_number` is the number of the fact that is due; None until `begin`. `counts` takes what is passed over.

    `durable`: every fact up to this number is committed; None before one is.
    """

    def __init__(self, kind: DeviceKind, counts: Counter[str]) -> None:
        self.clock: Final = ClockMap()
        self.next_number: int | None = None
        self.durable: int | None = None
        self._kind = kind
        self._counts = counts
        self._boot = ""
        self._told_again: int | None = None  # the next of the facts from before the resume point, where it sends them
        self._floor_ms = 0
        self._signs: deque[_Sign] = deque(maxlen=SIGNS_REMEMBERED)

    def begin(self, boot: bytes, started: Started, resume: tuple[bytes, int] | None) -> bool:
        """Whether facts after the resume point are lost for good. Raises FactsBroken."""
        self._boot, self.next_number = boot.hex(), started.first_number
        if resume is None or resume[0] != boot:
            return started.gap
        self.durable = resume[1]
        wanted = seq_add(resume[1], 1, NUMBER_BITS)
        ahead = seq_diff(started.first_number, wanted, NUMBER_BITS)
        if ahead < 0:
            if started.gap:
                raise FactsBroken(self._counted_anew())
            self.next_number, self._told_again = wanted, started.first_number
        return started.gap or ahead > 0

    def take(self, message: FactMessage, now_ms: int) -> NumberedFact | None:
        """The fact, if it is the one that is due and this version knows it. Raises FactsBroken."""
        due = self.next_number
        ahead = -1 if due is None else seq_diff(message.number, due, NUMBER_BITS)
        if ahead < 0:
            if message.number != self._told_again:
                raise FactsBroken(self._counted_anew())
            self._counts["repeated_facts"] += 1
            self._told_again = seq_add(message.number, 1, NUMBER_BITS)
            return None
        if ahead > 0:
            raise FactsBroken(
                f"Facts of the {self._kind.value} are missing: number {message.number} came where {due} was due."
            )
        try:
            fact, extra = message.fact()
        except UnknownFactCode:
            self._counts["unknown_facts"] += 1
            self.next_number = seq_add(message.number, 1, NUMBER_BITS)
            return None
        except BadMessage as error:
            raise FactsBroken(self._unusable(message.number, str(error))) from error
        if fact.source != self._kind.value:
            raise FactsBroken(self._unusable(message.number, f"it is a fact of a {fact.source}"))
        if extra:
            self._counts["longer_messages"] += 1
        self.next_number = seq_add(message.number, 1, NUMBER_BITS)
        timed = msgspec.structs.replace(fact, at_ms=self._table_ms(message.clock_ms, now_ms))
        return NumberedFact(boot=self._boot, number=message.number, fact=timed)

    def has_passed(self, number: int) -> bool:
        """The fact of that number has been reported, or passed over."""
        return self.next_number is not None and seq_diff(number, self.next_number, NUMBER_BITS) < 0

    def committed(self, number: int) -> bool:
        """Every fact up to `number` is; whether that is news."""
        if self.durable is not None and seq_diff(number, self.durable, NUMBER_BITS) <= 0:
            return False
        self.durable = number
        return True

    def alive(self, message: Alive, question: Question | None) -> None:
        """`question`: the one that it answers, sent when the device had told every fact before the one that was due.

        Raises FactsBroken.
        """
        due = None if question is None else question.due
        if due is not None and seq_diff(message.next_number, due, NUMBER_BITS) < 0:
            raise FactsBroken(self._counted_anew())
        asked_at_ms = None if question is None else question.at_ms
        self._signs.append(_Sign(message.clock_ms, message.next_number, asked_at_ms))

    def heard(self, now_ms: int) -> list[Heard]:
        """The signs of life before which no fact is missing any more."""
        reports: list[Heard] = []
        while self._signs and self.next_number is not None:
            sign = self._signs[0]
            if seq_diff(self.next_number, sign.next_number, NUMBER_BITS) < 0:
                break
            self._signs.popleft()
            if sign.asked_at_ms is not None:
                self._floor_ms = max(self._floor_ms, sign.asked_at_ms)  # the device read its clock after the question
            reports.append(Heard(self._table_ms(sign.clock_ms, now_ms), sign.asked_at_ms))
        return reports

    def _table_ms(self, device_ms: int, now_ms: int) -> int:
        """Not after the arrival, and not before anything that was reported already."""
        self._floor_ms = max(self._floor_ms, min(self.clock.table_ms(device_ms), now_ms))
        return self._floor_ms

    def _counted_anew(self) -> str:
        return (
            f"The {self._kind.value} has lost its facts but keeps its boot id, so that their numbers would "
            "come twice: switch it off and on; if that does not help, its firmware is faulty."
        )

    def _unusable(self, number: int, why: str) -> str:
        return (
            f"Fact number {number} of the {self._kind.value} cannot be used ({why}): "
            "its firmware is faulty; switch it off and on, and update it."
        )
