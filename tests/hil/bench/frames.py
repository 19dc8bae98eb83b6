"""What passed on the ports of a bench during one test, and how it reads: names and numbers, cards only on request."""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from drivers.facts import CardDrawn, CardExposed
from drivers.framing import DELIMITER, FrameDecoder, encode_frame
from drivers.plugins import NameFrames, frame_namer
from drivers.sentences import printable
from drivers.tdp.codec.command_messages import OutcomeMessage
from drivers.tdp.codec.enums import StateFlag
from drivers.tdp.codec.fact_messages import FactMessage, Gap, State
from drivers.tdp.codec.fields import BadMessage
from drivers.tdp.codec.header import Header
from drivers.tdp.codec.messages import read_message
from drivers.tdp.codec.session_messages import HelloAnswer, Started
from drivers.tdp.host.auth import TRAILER_SIZE
from drivers.tdp.host.frame_names import name_frames
from drivers.transports.pcapng import read_capture

FRAMES_SHOWN: Final = 80
"""Of one device, the last ones before the failure and the few after it."""
OBJECTIONS_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Passed:
    """Bytes that passed together. `at_s`: the time of day in seconds; `connection` counts the openings of the port."""

    at_s: float
    connection: int
    to_host: bool
    data: bytes


def name_of(body: bytes) -> str:
    """A frame's body by message and numbers, such as "FACT seq 12 number 7 door_opened"."""
    return name_frames([(True, DELIMITER + encode_frame(body))])[0][2:]


@dataclass(slots=True)
class FrameLog:
    """By device, in order. `cards`: whether cards may be written out; the bytes hold them, and are never shown.

    `drivers`: by device, of those that are not talked to in TDP. `objections`: what was sent though the specification
    forbids it. `notes`: more for the report, by heading.
    """

    cards: bool
    drivers: Mapping[str, str] = field(default_factory=dict)
    passed: dict[str, list[Passed]] = field(default_factory=dict, repr=False)
    objections: list[str] = field(default_factory=list)
    notes: dict[str, list[str]] = field(default_factory=dict)

    def opened(self, device: str) -> int:
        """The number of a new connection."""
        pieces = self.passed.setdefault(device, [])
        return 1 + max((piece.connection for piece in pieces), default=0)

    def note(self, device: str, connection: int, data: bytes, *, to_host: bool) -> None:
        self.passed.setdefault(device, []).append(Passed(time.time(), connection, to_host, data))

    def add_recordings(self, device: str, files: Iterable[Path]) -> None:
        """What the daemon recorded of its own connections."""
        for file in files:
            for connection in read_capture(file):
                number = self.opened(device)
                for piece in connection.pieces:
                    self.passed[device].append(Passed(piece.at_ns / 1e9, number, piece.to_host, piece.data))

    def forbidden(self, device: str, what: str) -> None:
        """A device sent what it may not; each thing once."""
        objection = f"the {device} sent {what}"
        if objection not in self.objections and len(self.objections) < OBJECTIONS_SHOWN:
            self.objections.append(objection)

    def sections(self) -> Iterator[tuple[str, list[str]]]:
        """All that a report of a failure shows below it: headings and lines."""
        if self.objections:
            yield "What the specification forbids", self.objections
        yield from self.notes.items()
        for device, lines in self.lines():
            if lines:
                yield f"Frames of the {device}", lines

    def lines(self) -> Iterator[tuple[str, list[str]]]:
        """Device, and its last frames as text."""
        for device, pieces in self.passed.items():
            driver = self.drivers.get(device)
            lines = list(self._lines(pieces) if driver is None else self._named(pieces, frame_namer(driver)))
            left_out = len(lines) - FRAMES_SHOWN
            shown = lines[-FRAMES_SHOWN:]
            yield device, [f"... {left_out} earlier frames", *shown] if left_out > 0 else shown

    def _lines(self, pieces: list[Passed]) -> Iterator[str]:
        decoders: dict[bool, FrameDecoder] = {}
        connection = 0
        thrown_away = {True: 0, False: 0}
        for piece in pieces:
            if piece.connection != connection:
                connection = piece.connection
                decoders = {True: FrameDecoder(), False: FrameDecoder()}
                thrown_away = {True: 0, False: 0}
                yield f"---------- connection {connection}"
            decoder = decoders[piece.to_host]
            at = f"{piece.at_s - pieces[0].at_s:9.3f} s"
            for body in decoder.feed(piece.data):
                yield f"{at} {self._line(body, to_host=piece.to_host)}"
            junk = sum(decoder.counters.values())
            if junk > thrown_away[piece.to_host]:
                thrown_away[piece.to_host] = junk
                yield f"{at} {'<' if piece.to_host else '>'} junk"

    def _named(self, pieces: list[Passed], namer: NameFrames) -> Iterator[str]:
        """As `_lines`, of a protocol that another driver knows how to name."""
        for connection in sorted({piece.connection for piece in pieces}):
            yield f"---------- connection {connection}"
            of_it = [piece for piece in pieces if piece.connection == connection][-FRAMES_SHOWN:]
            shown = 0
            for last, piece in enumerate(of_it, start=1):
                names = namer([(earlier.to_host, earlier.data) for earlier in of_it[:last]])
                yield from (f"{piece.at_s - pieces[0].at_s:9.3f} s {name}" for name in names[shown:])
                shown = len(names)

    def _line(self, body: bytes, *, to_host: bool) -> str:
        name = f"{'<' if to_host else '>'} {name_of(body)}"
        try:
            header = Header.from_bytes(body)
            message, _ = read_message(header, body[:-TRAILER_SIZE] if header.authenticated else body)
            more = self._more(message)
        except BadMessage as error:
            more = f"cannot be read: {error}"
        return f"{name}  {more}".rstrip()

    def _more(self, message: object) -> str:
        match message:
            case HelloAnswer():
                who = f"{message.vendor} {message.model} {message.serial_number} {message.firmware_version}"
                return f"boot {message.boot.hex()} first sequence {message.first_sequence} {printable(who)}"
            case Started(gap=gap, first_number=first):
                return f"first number {first}{', gap' if gap else ''}"
            case State(flags=flags):
                return ", ".join(flag.name.lower() for flag in StateFlag if flags & flag and flag.name) or "at rest"
            case Gap(next_number=number):
                return f"next number {number}"
            case OutcomeMessage(reason=reason):
                return printable(reason)
            case FactMessage():
                fact, _ = message.fact()
                told = {
                    name: value
                    for name, value in msgspec.to_builtins(fact).items()
                    if name not in ("at_ms", "source", "fact")
                }
                if isinstance(fact, CardDrawn | CardExposed) and fact.card is not None and not self.cards:
                    told["card"] = "read, not shown"
                return " ".join(f"{name}={value}" for name, value in told.items())
            case _:
                return ""
