"""The messages that begin a session: who is there, and from which fact on it reports (drivers/tdp/spec.md sections
5.1 to 5.4).
"""

from dataclasses import dataclass
from typing import ClassVar, Final, Self

from drivers.tdp.codec.enums import MessageType
from drivers.tdp.codec.fields import U8, U16, U32, U64, FieldReader, text_bytes
from drivers.tdp.codec.header import MAJOR, MINOR

NONCE_SIZE: Final = 8
BOOT_SIZE: Final = 8
HASH_SIZE: Final = 32
LONGEST_NAME: Final = 32


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
