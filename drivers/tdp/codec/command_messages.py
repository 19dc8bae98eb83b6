"""The messages that ask a device for something, and what it answers (drivers/tdp/spec.md sections 5.10 to 5.13)."""

from dataclasses import dataclass
from typing import ClassVar, Final, Self

from drivers.commands import Outcome
from drivers.tdp.codec.enums import OUTCOME_CODES, MessageType, outcome_of
from drivers.tdp.codec.fields import U8, U32, U64, BadMessage, FieldReader, text_bytes

LONGEST_REASON: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping:
    """Section 5.10."""

    TYPE: ClassVar = MessageType.PING
    SEQUENCED: ClassVar = False
    id: int
    durable: int | None = None

    def to_bytes(self) -> bytes:
        given = self.durable is not None
        return U32.pack(self.id) + bytes((given,)) + U32.pack(self.durable or 0)

    @classmethod
    def read(cls, of: FieldReader) -> Self:
        ping, given, durable = of.u32(), of.u8() & 1, of.u32()
        if ping == 0:
            raise BadMessage("a ping's id is never 0")
        return cls(id=ping, durable=durable if given else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alive:
    """Section 5.11. `ping` is 0 where nobody asked."""

    TYPE: ClassVar = MessageType.ALIVE
    SEQUENCED: ClassVar = False
    ping: int
    clock_ms: int
    next_number: int

    def to_bytes(self) -> bytes:
        return U32.pack(self.ping) + U64.pack(self.clock_ms) + U32.pack(self.next_number)

    @classmethod
    def read(cls, of: FieldReader) -> Self:
        return cls(ping=of.u32(), clock_ms=of.u64(), next_number=of.u32())


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandMessage:
    """Section 5.12. `command` is a code of COMMAND_CODES, or one of a newer minor version."""

    TYPE: ClassVar = MessageType.COMMAND
    SEQUENCED: ClassVar = False
    id: int
    command: int

    def to_bytes(self) -> bytes:
        return U64.pack(self.id) + U8.pack(self.command)

    @classmethod
    def read(cls, of: FieldReader) -> Self:
        command_id, command = of.u64(), of.u8()
        if command_id == 0:
            raise BadMessage("a command's id is never 0")
        return cls(id=command_id, command=command)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeMessage:
    """Section 5.13. `reason` is empty unless refused."""

    TYPE: ClassVar = MessageType.OUTCOME
    SEQUENCED: ClassVar = True
    id: int
    outcome: Outcome
    reason: str = ""

    def to_bytes(self) -> bytes:
        return U64.pack(self.id) + U8.pack(OUTCOME_CODES[self.outcome]) + text_bytes(self.reason, LONGEST_REASON)

    @classmethod
    def read(cls, of: FieldReader) -> Self:
        return cls(id=of.u64(), outcome=outcome_of(of.u8()), reason=of.text(LONGEST_REASON))
