"""The contract between the daemon and what a device says on a wire.

A driver is sans-IO: it owns the session and its keys, is given bytes and the time, and answers with reports and
bytes to send. One driver object serves one connection; a new connection gets a new object. `now_ms` is the table's
monotonic clock, and the `at_ms` of every fact that a driver reports is on that clock.
"""

import enum
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import msgspec

from drivers.commands import Command, Outcome
from drivers.facts import DeviceFact


class DeviceKind(enum.Enum):
    """What a device is to the table; also the `source` of its facts."""

    SHUFFLER = "shuffler"
    SHOE = "shoe"
    LAYOUT = "layout"


class Claims(msgspec.Struct, frozen=True, kw_only=True):
    """What a device says of itself. Claims, not proofs."""

    kind: str
    vendor: str
    model: str
    serial_number: str
    firmware_version: str
    firmware_hash: str
    protocol: str


@dataclass(frozen=True, slots=True)
class Resume:
    """The last fact of this device that the journal holds: device boot id and number."""

    boot: str
    number: int


@dataclass(frozen=True, slots=True)
class NumberedFact:
    """A fact with its identity: (device, boot, number) occurs once in a journal, however often it is sent."""

    boot: str
    number: int
    fact: DeviceFact


@dataclass(frozen=True, slots=True)
class Heard:
    """Every fact of the device up to `at_ms` has been reported; `asked_at_ms` is when the host asked, where it did."""

    at_ms: int
    asked_at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class LinkUp:
    """The handshake is done. `gap`: facts since the resume point are lost for good."""

    claims: Claims
    boot: str
    gap: bool


@dataclass(frozen=True, slots=True)
class LinkDown:
    """The device is gone or cannot be talked to; `reason` is a sentence for a person. The driver is spent.

    `final`: a new connection would end the same way until a person does something (wrong device, wrong version).
    """

    reason: str
    final: bool = False


@dataclass(frozen=True, slots=True)
class CommandReport:
    """How far a command has come; `reason` is a sentence where it was refused."""

    command_id: int
    outcome: Outcome
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something on the wire that a person should look into; the connection goes on. The same one is told seldom."""

    sentence: str


Report: TypeAlias = NumberedFact | Heard | LinkUp | LinkDown | CommandReport | Alarm


@dataclass(frozen=True, slots=True)
class Step:
    """What a driver answers: reports in order, and bytes for the wire."""

    reports: tuple[Report, ...] = ()
    to_send: bytes = b""


class Driver(Protocol):
    """Never raises on any input; what it cannot use it counts in `counters`, by reason."""

    @property
    def counters(self) -> dict[str, int]:
        """How often something could not be used, by reason."""

    @property
    def wake_at_ms(self) -> int | None:
        """When `tick` wants to be called next; None while there is nothing to wait for."""
        ...

    def opened(self, *, nonce: bytes, key: bytes | None, resume: Resume | None, now_ms: int) -> Step:
        """The transport is open. `nonce` is 8 random bytes of this connection.

        With a `key` (32 bytes, of this device alone) the device is talked to in authenticated sessions or not at all:
        a driver that knows none answers with a final LinkDown.
        """
        ...

    def receive(self, data: bytes, now_ms: int) -> Step:
        """Bytes came, cut anywhere."""

    def durable(self, number: int, now_ms: int) -> Step:
        """Every fact up to `number` is committed: acknowledge it to the device."""
        ...

    def ask(self, now_ms: int) -> Step:
        """Ask for a sign of life right away; a `Heard` with this `asked_at_ms` follows."""
        ...

    def send(self, command: Command, now_ms: int) -> Step:
        """Send the command; its outcome follows as CommandReport, REFUSED or UNKNOWN where it cannot be had."""

    def tick(self, now_ms: int) -> Step:
        """The time is now `now_ms`: do what is due."""
