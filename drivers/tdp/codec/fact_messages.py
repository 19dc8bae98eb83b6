"""The messages that carry what a device reports, and say what of it is stored (drivers/tdp/spec.md 5.5 to 5.9)."""

from dataclasses import dataclass
from typing import ClassVar, Self

from drivers.commands import Outcome
from drivers.facts import DeviceFact
from drivers.tdp.codec.enums import OUTCOME_CODES, MessageType, outcome_of
from drivers.tdp.codec.fact_codec import fact_bytes, read_fact_fields
from drivers.tdp.codec.fields import U8, U16, U32, U64, FieldReader


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Section 5.5. `flags` holds StateFlags; `last_command` 0 and `last_outcome` None where there was no command."""

    TYPE: ClassVar = MessageType.STATE
    SEQUENCED: ClassVar = True
    clock_ms: int
    flags: int
    last_command: int = 0
    last_outcome: Outcome | None = None

    def to_bytes(self) -> bytes:
        outcome = 0 if self.last_outcome is None else OUTCOME_CODES[self.last_outcome]
        return U64.pack(self.clock_ms) + U16.pack(self.flags) + U64.pack(self.last_command) + U8.pack(outcome)

    @classmethod
    def read(cls, of: FieldReader) -> Self:
        clock_ms, flags, last_command, code = of.u64(), of.u16(), of.u64(), of.u8()
        outcome = outcome_of(code) if code else None
        return cls(clock_ms=clock_ms, flags=flags, last_command=last_command, last_outcome=outcome)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactMessage:
    """Section 5.6. The fields stay bytes here, so that number and clock can be read of facts not known yet."""

    TYPE: ClassVar = MessageType.FACT
    SEQUENCED: ClassVar = True
    number: int
    clock_ms: int
    code: int
    fields: bytes

    @classmethod
    def of(cls, number: int, fact: DeviceFact) -> Self:
        """`fact.at_ms` is on the device's clock. Raises ValueError for a value that has no room on the wire."""
        code, fields = fact_bytes(fact)
        return cls(number=number, clock_ms=fact.at_ms, code=code, fields=fields)

    def fact(self) -> tuple[DeviceFact, int]:
        """The fact, `at_ms` on the device's clock, and how many unknown bytes follow it.

        Raises UnknownFactCode, BadMessage.
        """
        reader = FieldReader(self.fields)
        fact = read_fact_fields(self.code, self.clock_ms, reader)
        return fact, reader.rest

    def to_bytes(self) -> bytes:
        return U32.pack(self.number) + U64.pack(self.clock_ms) + U8.pack(self.code) + self.fields

    @classmethod
    def read(cls, of: FieldReader) -> Self:
        return cls(number=of.u32(), clock_ms=of.u64(), code=of.u8(), fields=of.take(of.rest))


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Section 5.7."""

    TYPE: ClassVar = MessageType.GAP
    SEQUENCED: ClassVar = True
    next_number: int

    def to_bytes(self) -> bytes:
        return U32.pack(self.next_number)

    @classmethod
    def read(cls, of: FieldReader) -> Self:
        return cls(next_number=of.u32())


@dataclass(frozen=True, slots=True, kw_only=True)
class Ack:
    """Section 5.8: the header says it all."""

    TYPE: ClassVar = MessageType.ACK
    SEQUENCED: ClassVar = False

    def to_bytes(self) -> bytes:
        return b""

    @classmethod
    def read(cls, of: FieldReader) -> Self:
        return cls()


@dataclass(frozen=True, slots=True, kw_only=True)
class Durable:
    """Section 5.9."""

    TYPE: ClassVar = MessageType.DURABLE
    SEQUENCED: ClassVar = False
    number: int

    def to_bytes(self) -> bytes:
        return U32.pack(self.number)

    @classmethod
    def read(cls, of: FieldReader) -> Self:
        return cls(number=of.u32())
