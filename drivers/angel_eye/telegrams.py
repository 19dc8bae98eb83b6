"""Telegrams of an Angel Eye shoe, and commands to it, as bytes (drivers/angel_eye/spec.md section 2).

Pure and bounded: whatever arrives, the decoder holds at most one telegram's worth of bytes and always goes on.
"""

import enum
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import xor
from typing import Final, TypeAlias

STX: Final = 0x02
ETX: Final = 0x03
ENQ: Final = 0x05
ACK: Final = 0x06
NAK: Final = 0x15
LONGEST_BODY: Final = 128
"""Bytes after ENQ and before ETX: with more, it was no telegram."""

_PRINTABLE: Final = range(0x21, 0x7F)
_LOWEST_IN_BODY: Final = 0x20
_HEX: Final = b"0123456789ABCDEF"


@dataclass(frozen=True, slots=True)
class Telegram:
    """`sequence` and `code` are ASCII codes. Telegrams of one sequence in a row are copies of one telegram."""

    sequence: int
    code: int
    payload: bytes = b""

    def to_bytes(self) -> bytes:
        """One copy on the wire."""
        checked = bytes((self.sequence, self.code)) + self.payload + bytes((ETX,))
        return bytes((ENQ,)) + checked + _bcc(checked)


@dataclass(frozen=True, slots=True)
class Spoilt:
    """A telegram that began and was cut off, damaged or overlong; `sequence` is what it claimed."""

    sequence: int


@dataclass(frozen=True, slots=True)
class Answer:
    """To the command under way. `code`: the ASCII code that came with it, if one did."""

    accepted: bool
    code: int | None = None


Item: TypeAlias = Telegram | Spoilt | Answer


class Bcc(enum.Enum):
    """Whether a command's check character counts its STX: both are stated of this shoe."""

    WITHOUT_STX = "without_stx"
    WITH_STX = "with_stx"


def command_bytes(kind: str, number: int, bcc: Bcc = Bcc.WITHOUT_STX) -> bytes:
    """The command `kind`, two letters, with `number` from 0 to 99 as its data."""
    text = b"OP" + kind.encode("ascii") + f"{number:02d}".encode("ascii") + bytes((ETX,))
    start = bytes((STX,))
    return start + text + _bcc(start + text if bcc is Bcc.WITH_STX else text)


def _bcc(checked: Iterable[int]) -> bytes:
    return f"{reduce(xor, checked, 0):02X}".encode("ascii")


class _State(enum.Enum):
    OUTSIDE = "outside"
    BODY = "body"
    CHECK = "check"
    AFTER_ACK = "after_ack"
    AFTER_NAK = "after_nak"


class TelegramDecoder:
    """Takes a stream in any pieces; one decoder serves one connection. What it throws away it counts in `counters`.

    An ENQ always begins anew: it can stand nowhere inside a telegram.
    """

    def __init__(self) -> None:
        self.counters: Final[Counter[str]] = Counter()
        self._state = _State.OUTSIDE
        self._body = bytearray()
        self._check = bytearray()

    @property
    def pending(self) -> int:
        """Bytes held of a telegram that has not ended; never more than LONGEST_BODY + 3."""
        return len(self._body) + len(self._check)

    def feed(self, data: bytes) -> list[Item]:
        """What `data` completes, in order. Never raises."""
        items: list[Item] = []
        for byte in data:
            self._take(byte, items)
        return items

    def cut(self) -> None:
        """The stream breaks off here: what comes next does not belong to what had begun."""
        self._leave()

    def _take(self, byte: int, items: list[Item]) -> None:
        if byte == ENQ:
            self._cut_off(items)
            self._state = _State.BODY
            return
        match self._state:
            case _State.OUTSIDE:
                self._outside(byte, items)
            case _State.BODY:
                self._in_body(byte, items)
            case _State.CHECK if byte in _HEX:
                self._check.append(byte)
                if len(self._check) == 2:
                    self._judge(items)
            case _State.AFTER_NAK if byte in _PRINTABLE:
                items.append(Answer(accepted=False, code=byte))
                self._state = _State.OUTSIDE
            case _State.AFTER_ACK if byte in _PRINTABLE:
                self._state = _State.OUTSIDE
            case _:
                self._cut_off(items)
                self._outside(byte, items)

    def _outside(self, byte: int, items: list[Item]) -> None:
        if byte == ACK:
            items.append(Answer(accepted=True))
            self._state = _State.AFTER_ACK
        elif byte == NAK:
            self._state = _State.AFTER_NAK
        else:
            self.counters["junk_bytes"] += 1

    def _in_body(self, byte: int, items: list[Item]) -> None:
        if byte == ETX and len(self._body) >= 2:
            self._body.append(byte)
            self._state = _State.CHECK
        elif byte < _LOWEST_IN_BODY or (not self._body and byte not in _PRINTABLE):
            self._cut_off(items)
            self._outside(byte, items)
        elif len(self._body) == LONGEST_BODY:
            self._spoil("overlong_telegrams", items)
        else:
            self._body.append(byte)

    def _judge(self, items: list[Item]) -> None:
        if bytes(self._check) == _bcc(self._body):
            items.append(Telegram(self._body[0], self._body[1], bytes(self._body[2:-1])))
            self._leave()
        else:
            self._spoil("bad_bcc", items)

    def _cut_off(self, items: list[Item]) -> None:
        """Whatever was under way ends here."""
        if self._state is _State.AFTER_NAK:
            items.append(Answer(accepted=False))
            self._leave()
        elif self._state in (_State.BODY, _State.CHECK):
            self._spoil("cut_off_telegrams", items)
        else:
            self._leave()

    def _spoil(self, reason: str, items: list[Item]) -> None:
        if self._body:
            self.counters[reason] += 1
            items.append(Spoilt(self._body[0]))
        else:
            self.counters["junk_bytes"] += 1  # an ENQ that nothing followed
        self._leave()

    def _leave(self) -> None:
        self._state = _State.OUTSIDE
        self._body.clear()
        self._check.clear()
