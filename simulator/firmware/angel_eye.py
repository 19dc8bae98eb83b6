"""The shoe's end of the Angel Eye protocol, written from drivers/angel_eye/spec.md: bytes in, bytes out.

Every telegram goes out three times; what becomes of the copies is decided by `Copies`.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Final, TypeAlias

from drivers.angel_eye.telegrams import ACK, NAK, Bcc, Telegram, command_bytes
from drivers.cards import RANKS, Card
from drivers.commands import CommandKind
from drivers.facts import CardDrawn, CutCard, DeviceFact
from simulator.firmware.motors import Motors, RefusedError

COPIES: Final = 3
SEQUENCES: Final = b"CDEF0123456789AB"
LONGEST_COMMAND: Final = 64

_SUITS: Final = {"d": 1, "c": 2, "s": 3, "h": 4}
_COMMAND: Final = re.compile(rb"\x02OP([A-Z]{2})([0-9]{2})\x03[0-9A-F]{2}")
_MOVES: Final = {(b"LK", 2): CommandKind.LOCK, (b"LK", 1): CommandKind.UNLOCK}

CopiesOnTheWire: TypeAlias = Callable[[bytes], Sequence[bytes]]
"""What goes out for one telegram: its copies, whole or not."""


def three_whole(telegram: bytes) -> Sequence[bytes]:
    """Every telegram three times, as the shoe sends it."""
    return (telegram,) * COPIES


class Careless:
    """Drops some copies and cuts some off, but always leaves one whole."""

    def __init__(self, chance: Random, drop: float, cut: float) -> None:
        self._chance = chance
        self._drop = drop
        self._cut = cut

    def __call__(self, telegram: bytes) -> Sequence[bytes]:
        """The copies of a telegram as they arrive."""
        whole = self._chance.randrange(COPIES)
        return [telegram if place == whole else self._harmed(telegram) for place in range(COPIES)]

    def _harmed(self, telegram: bytes) -> bytes:
        what = self._chance.random()
        if what < self._drop:
            return b""
        if what < self._drop + self._cut:
            return telegram[: self._chance.randrange(len(telegram))]
        return telegram


class AngelEyeFirmware:
    """A shoe that was just switched on. It keeps nothing that it has told."""

    def __init__(self, motors: Motors, *, bcc: Bcc = Bcc.WITHOUT_STX, copies: CopiesOnTheWire = three_whole) -> None:
        self.counters: Final[Counter[str]] = Counter()
        self._motors = motors
        self._bcc = bcc
        self._copies = copies
        self._told = 0
        self._draws = 0
        self._locked = False
        self._received = b""

    def switched_on(self) -> bytes:
        """Start and stand-by."""
        self._told = 0
        return self._tell("S") + self._tell("P")

    def report(self, fact: DeviceFact) -> bytes:
        """What the shoe says of something that happened; it has no word for some facts."""
        match fact:
            case CardDrawn(card=None):
                self._draws += 1
                return self._tell("E", b"\xc1") + self._tell("e", b"\x81")
            case CardDrawn(card=Card() as card):
                self._draws += 1
                return self._tell("D", self._drawn(card))
            case CutCard():
                return self._tell("C")
        return b""

    def result(self) -> bytes:
        """The shoe believes that a game of its own has ended."""
        return self._tell("G", b"\x91")

    def receive(self, data: bytes) -> bytes:
        """Bytes came from the host; what the shoe answers at once."""
        received = self._received + data
        end = 0
        out = b""
        for command in _COMMAND.finditer(received):
            end = command.end()
            out += self._command(command[0], command[1], int(command[2]))
        self._received = received[end:][-LONGEST_COMMAND:]
        return out

    def _command(self, text: bytes, kind: bytes, number: int) -> bytes:
        if text != command_bytes(kind.decode("ascii"), number, self._bcc):
            self.counters["bad_bcc"] += 1
            return bytes((NAK,)) + b"1"
        move = _MOVES.get((kind, number))
        if move is not None:
            try:
                self._motors.take_up(move)
            except RefusedError:
                return bytes((NAK,)) + b"3"
            self._locked = move is CommandKind.LOCK
        elif (kind, number) != (b"GP", 0):
            return bytes((NAK,)) + b"2"
        self.counters[kind.decode("ascii")] += 1
        return bytes((ACK,)) + self._tell("L", b"\x81" if self._locked else b"\x80")

    def _drawn(self, card: Card) -> bytes:
        rank = (RANKS.index(str(card)[0]) + 1) % len(RANKS) + 1
        return bytes((0x80 | self._draws % 16, 0x80 | _SUITS[str(card)[1]] << 4 | rank))

    def _tell(self, code: str, payload: bytes = b"") -> bytes:
        sequence = SEQUENCES[self._told % len(SEQUENCES)]
        self._told += 1
        return b"".join(self._copies(Telegram(sequence, ord(code), payload).to_bytes()))
