"""The messages that pair a host with a device, for both ends of the wire (drivers/tdp/spec.md section 9.4)."""

from dataclasses import dataclass
from typing import ClassVar, Final, Self, TypeAlias

from drivers.tdp.codec.enums import MessageType, StopReason
from drivers.tdp.codec.fields import BadMessage, FieldReader

PUBLIC_SIZE: Final = 32
CONFIRMATION_SIZE: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCommit:
    """The host's commitment to its public key."""

    TYPE: ClassVar = MessageType.PAIR_COMMIT
    SEQUENCED: ClassVar = False
    commitment: bytes

    def to_bytes(self) -> bytes:
        return self.commitment

    @classmethod
    def read(cls, of: FieldReader) -> Self:
        return cls(commitment=of.take(PUBLIC_SIZE))


@dataclass(frozen=True, slots=True, kw_only=True)
class PairKey:
    """The device's public key."""

    TYPE: ClassVar = MessageType.PAIR_KEY
    SEQUENCED: ClassVar = False
    device_public: bytes

    def to_bytes(self) -> bytes:
        return self.device_public

    @classmethod
    def read(cls, of: FieldReader) -> Self:
        return cls(device_public=of.take(PUBLIC_SIZE))


@dataclass(frozen=True, slots=True, kw_only=True)
class PairReveal:
    """The host's public key, which the commitment was made to."""

    TYPE: ClassVar = MessageType.PAIR_REVEAL
    SEQUENCED: ClassVar = False
    host_public: bytes

    def to_bytes(self) -> bytes:
        return self.host_public

    @classmethod
    def read(cls, of: FieldReader) -> Self:
        return cls(host_public=of.take(PUBLIC_SIZE))


@dataclass(frozen=True, slots=True, kw_only=True)
class PairConfirm:
    """The host's proof that it has the common key; sent once a person has compared the fingerprints."""

    TYPE: ClassVar = MessageType.PAIR_CONFIRM
    SEQUENCED: ClassVar = False
    confirmation: bytes

    def to_bytes(self) -> bytes:
        return self.confirmation

    @classmethod
    def read(cls, of: FieldReader) -> Self:
        return cls(confirmation=of.take(CONFIRMATION_SIZE))


@dataclass(frozen=True, slots=True, kw_only=True)
class PairDone:
    """The device's proof that it has the common key, and has stored it."""

    TYPE: ClassVar = MessageType.PAIR_DONE
    SEQUENCED: ClassVar = False
    confirmation: bytes

    def to_bytes(self) -> bytes:
        return self.confirmation

    @classmethod
    def read(cls, of: FieldReader) -> Self:
        return cls(confirmation=of.take(CONFIRMATION_SIZE))


@dataclass(frozen=True, slots=True, kw_only=True)
class PairStop:
    """The host stops pairing."""

    TYPE: ClassVar = MessageType.PAIR_STOP
    SEQUENCED: ClassVar = False

    def to_bytes(self) -> bytes:
        return b""

    @classmethod
    def read(cls, of: FieldReader) -> Self:
        return cls()


@dataclass(frozen=True, slots=True, kw_only=True)
class PairStopped:
    """The device has stopped pairing, or never began."""

    TYPE: ClassVar = MessageType.PAIR_STOPPED
    SEQUENCED: ClassVar = False
    reason: StopReason

    def to_bytes(self) -> bytes:
        return bytes((self.reason,))

    @classmethod
    def read(cls, of: FieldReader) -> Self:
        code = of.u8()
        try:
            return cls(reason=StopReason(code))
        except ValueError as error:
            raise BadMessage(f"no such reason: {code}") from error


ToDevice: TypeAlias = PairCommit | PairReveal | PairConfirm | PairStop
ToHost: TypeAlias = PairKey | PairDone | PairStopped

TO_DEVICE: Final[tuple[type[ToDevice], ...]] = (PairCommit, PairReveal, PairConfirm, PairStop)
TO_HOST: Final[tuple[type[ToHost], ...]] = (PairKey, PairDone, PairStopped)
