"""The messages of TDP as bytes and as values, for both ends of the wire (drivers/tdp/spec.md section 5)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final, Self, TypeAlias

from drivers.commands import Outcome
from drivers.facts import DeviceFact
from drivers.framing import encode_frame
from drivers.tdp.codec import pairing_messages as pairing
from drivers.tdp.codec.enums import OUTCOME_CODES, MessageType, outcome_of
from drivers.tdp.codec.fact_codec import fact_bytes, read_fact_fields
from drivers.tdp.codec.fields import U8, U16, U32, U64, BadMessage, FieldReader, text_bytes
from drivers.tdp.codec.header import HEADER_SIZE, MAJOR, MINOR, Header

NONCE_SIZE: Final = 8
BOOT_SIZE: Final = 8
HASH_SIZE: Final = 32
LONGEST_NAME: Final = 32
LONGEST_REASON: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """Section 5.1."""

    TYPE: ClassVar = MessageType.HELLO
    SEQUENCED: ClassVar = False
    nonce: bytes
    attempt: int = 0
    lowest_major: int = MAJOR
    highest_major: int = MAJOR
    key_id: int = 0

    def to_bytes(self) -> bytes:
        majors = bytes((self.lowest_major, self.highest_major))
        return self.nonce + U16.pack(self.attempt) + majors + U32.pack(self.key_id)

    @classmethod
    def read(cls, of: FieldReader) -> Self:
        return cls(
            nonce=of.take(NONCE_SIZE),
            attempt=of.u16(),
            lowest_major=of.u8(),
            highest_major=of.u8(),
            key_id=of.u32(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HelloAnswer:
    """Section 5.2. `clock_ms` is the device's clock; `kind` a KindCode where it is a known one."""

    TYPE: ClassVar = MessageType.HELLO_ANSWER
    SEQUENCED: ClassVar = False
    nonce: bytes
    attempt: int
    boot: bytes
    clock_ms: int
    kind: int
    lowest_major: int = MAJOR
    highest_major: int = MAJOR
    minor: int = MINOR
    capabilities: int
    decks: int
    ring_size: int
    first_sequence: int
    key_id: int = 0
    device_nonce: bytes = bytes(NONCE_SIZE)
    firmware_hash: bytes = bytes(HASH_SIZE)
    vendor: str
    model: str
    serial_number: str
    firmware_version: str

    def to_bytes(self) -> bytes:
        versions = bytes((self.kind, self.lowest_major, self.highest_major, self.minor))
        names = (self.vendor, self.model, self.serial_number, self.firmware_version)
        return b"".join(
            (
                self.nonce,
                U16.pack(self.attempt),
                self.boot,
                U64.pack(self.clock_ms),
                versions,
                U32.pack(self.capabilities),
                U8.pack(self.decks),
                U32.pack(self.ring_size),
                U16.pack(self.first_sequence),
                U32.pack(self.key_id),
                self.device_nonce,
                self.firmware_hash,
                bytes(3),
                *(text_bytes(name, LONGEST_NAME) for name in names),
            )
        )

    @classmethod
    def read(cls, of: FieldReader) -> Self:
        nonce, attempt, boot, clock_ms = of.take(NONCE_SIZE), of.u16(), of.take(BOOT_SIZE), of.u64()
        kind, lowest_major, highest_major, minor = of.take(4)
        capabilities, decks, ring_size, first_sequence = of.u32(), of.u8(), of.u32(), of.u16()
        key_id, device_nonce, firmware_hash = of.u32(), of.take(NONCE_SIZE), of.take(HASH_SIZE)
        of.take(3)
        return cls(
            nonce=nonce,
            attempt=attempt,
            boot=boot,
            clock_ms=clock_ms,
            kind=kind,
            lowest_major=lowest_major,
            highest_major=highest_major,
            minor=minor,
            capabilities=capabilities,
            decks=decks,
            ring_size=ring_size,
            first_sequence=first_sequence,
            key_id=key_id,
            device_nonce=device_nonce,
            firmware_hash=firmware_hash,
            vendor=of.text(LONGEST_NAME),
            model=of.text(LONGEST_NAME),
            serial_number=of.text(LONGEST_NAME),
            firmware_version=of.text(LONGEST_NAME),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Section 5.3. `resume` is boot id and number of the last durable fact."""

    TYPE: ClassVar = MessageType.START
    SEQUENCED: ClassVar = False
    resume: tuple[bytes, int] | None

    def to_bytes(self) -> bytes:
        if self.resume is None:
            return bytes(13)
        boot, number = self.resume
        return b"\x01" + boot + U32.pack(number)

    @classmethod
    def read(cls, of: FieldReader) -> Self:
        given, boot, number = of.u8() & 1, of.take(BOOT_SIZE), of.u32()
        return cls(resume=(boot, number) if given else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """Section 5.4."""

    TYPE: ClassVar = MessageType.STARTED
    SEQUENCED: ClassVar = True
    gap: bool
    first_number: int

    def to_bytes(self) -> bytes:
        return bytes((self.gap,)) + U32.pack(self.first_number)

    @classmethod
    def read(cls, of: FieldReader) -> Self:
        return cls(gap=bool(of.u8() & 1), first_number=of.u32())


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


HostMessage: TypeAlias = Hello | Start | Ack | Durable | Ping | CommandMessage | pairing.ToDevice
DeviceMessage: TypeAlias = HelloAnswer | Started | State | FactMessage | Gap | Alive | OutcomeMessage | pairing.ToHost
Message: TypeAlias = HostMessage | DeviceMessage

HOST_MESSAGES: Final[dict[int, type[HostMessage]]] = {
    known.TYPE: known for known in (Hello, Start, Ack, Durable, Ping, CommandMessage, *pairing.TO_DEVICE)
}
DEVICE_MESSAGES: Final[dict[int, type[DeviceMessage]]] = {
    known.TYPE: known
    for known in (HelloAnswer, Started, State, FactMessage, Gap, Alive, OutcomeMessage, *pairing.TO_HOST)
}


class UnknownMessageType(BadMessage):
    """A message of a newer minor version."""


def wire_frame(
    message: Message,
    *,
    session: int,
    sequence: int,
    acknowledgement: int,
    seal: Callable[[bytes], bytes] | None = None,
    major: int = MAJOR,
    minor: int = MINOR,
) -> bytes:
    """The frame of a message, its last byte the delimiter. `session` is 0 for the two hello messages; `seal` puts the
    trailer of an authenticated session behind header and payload.
    """
    header = Header(
        to_host=message.TYPE in DEVICE_MESSAGES,
        message_type=message.TYPE,
        session=session,
        sequence=sequence,
        acknowledgement=acknowledgement,
        authenticated=seal is not None,
        major=major,
        minor=minor,
    )
    body = header.to_bytes() + message.to_bytes()
    return encode_frame(body if seal is None else seal(body))


def read_message(header: Header, body: bytes) -> tuple[Message, int]:
    """The message after the header, and how many unknown bytes follow its last known field.

    Raises UnknownMessageType, BadMessage. Direction, version and session are the caller's to judge.
    """
    known: type[Message] | None
    known = DEVICE_MESSAGES.get(header.message_type) if header.to_host else HOST_MESSAGES.get(header.message_type)
    if known is None:
        raise UnknownMessageType(f"unknown message type {header.message_type:#04x}")
    reader = FieldReader(body[HEADER_SIZE:])
    message = known.read(reader)
    return message, reader.rest
