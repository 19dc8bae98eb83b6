"""What telegrams mean at a table: each once, draws apart from everything else (drivers/angel_eye/spec.md section 3)."""

import enum
from collections import Counter, deque
from dataclasses import dataclass
from typing import Final, TypeAlias

from drivers.angel_eye.telegrams import Spoilt, Telegram
from drivers.cards import RANKS, Card

COPIES: Final = 3
"""How often each telegram is sent."""
RECENT: Final = 4
"""Copies of a telegram come in a row, but the answer to a command may come in between, and a burst may come twice."""
DRAWS_REMEMBERED: Final = 15
"""One fewer than there are indices, so that one that comes round again is not taken for the one before."""

_SUITS: Final = {1: "d", 2: "c", 3: "s", 4: "h"}
_RANKS: Final = {1: "A", **{number: RANKS[number - 2] for number in range(2, 14)}}
_TOP_BIT: Final = 0x80


class Code(enum.IntEnum):
    """Section 3.1."""

    START = ord("S")
    STAND_BY = ord("P")
    DRAWN = ord("D")
    DRAWN_OUTSIDE = ord("d")
    SENT_AGAIN = ord("R")
    RESULT = ord("G")
    CUTTING_CARD = ord("C")
    ERROR_SET = ord("E")
    ERROR_CANCELLED = ord("e")
    LOCK_STATE = ord("L")
    PRESET_CHANGED = ord("M")


class Error(enum.IntEnum):
    """Section 3.4. Any other number is an error too."""

    CANNOT_READ = 1
    OVERDRAW = 2
    BUTTON = 3
    REVERSE_AT_EXIT = 4
    REVERSE_MIDWAY = 5
    CARD_CODE = 6
    DRAWING_TIMED_OUT = 7


UNREAD_ERRORS: Final = (Error.CANNOT_READ, Error.CARD_CODE)
DEALT_TARGETS: Final = (0, 1)
_IN_PASSING: Final = (Code.STAND_BY, Code.LOCK_STATE, Code.PRESET_CHANGED)
_TELL_OF_DRAWS: Final = (Code.DRAWN, Code.SENT_AGAIN, Code.ERROR_SET)
_LENGTHS: Final = {
    Code.DRAWN: 2,
    Code.DRAWN_OUTSIDE: 2,
    Code.SENT_AGAIN: 2,
    Code.ERROR_SET: 1,
    Code.ERROR_CANCELLED: 1,
    Code.LOCK_STATE: 1,
}
_TARGETS: Final = {2: "drawn_as_burn_card", 4: "drawn_as_first_card", 5: "drawn_as_burn_count"}
_MODES: Final = {0: "drawn_in_lock_mode", 1: "drawn_in_error_mode", 2: "drawn_in_setting_mode"}
_COUNTED: Final = {
    Code.STAND_BY: "stand_bys",
    Code.RESULT: "game_results",
    Code.PRESET_CHANGED: "presets_changed",
    Code.ERROR_CANCELLED: "errors_cancelled",
}


@dataclass(frozen=True, slots=True)
class Drawn:
    """A card left the shoe in a game; None: unread."""

    card: Card | None


@dataclass(frozen=True, slots=True)
class CuttingCard:
    """The shoe saw its cutting card."""


@dataclass(frozen=True, slots=True)
class LockState:
    """Whether the shoe is locked now."""

    locked: bool


@dataclass(frozen=True, slots=True)
class Missed:
    """Draws may be lost here for good; `why` is the middle of a sentence."""

    why: str


@dataclass(frozen=True, slots=True)
class Noticed:
    """No draw of the deal, but somebody should look into it; `what` is the middle of a sentence."""

    what: str


Meaning: TypeAlias = Drawn | CuttingCard | LockState | Missed | Noticed


class Draws:
    """Reads the telegrams of one connection in order; what is passed over is counted in `counters`."""

    def __init__(self) -> None:
        self.counters: Final[Counter[str]] = Counter()
        self._recent: deque[Telegram] = deque(maxlen=RECENT)
        self._claimed: list[int] = []  # sequences of damaged copies of which no good one has come
        self._unread_by: Code | None = None
        self._told: deque[bytes] = deque(maxlen=DRAWS_REMEMBERED)

    @property
    def in_doubt(self) -> bool:
        """A telegram came damaged and no good copy of it yet."""
        return bool(self._claimed)

    def spoilt(self, item: Spoilt) -> Missed | None:
        """As many damaged copies in a row as are sent of one telegram: a whole telegram may be lost."""
        if item.sequence in (recent.sequence for recent in self._recent):
            return None
        self._claimed.append(item.sequence)
        if len(self._claimed) < COPIES:
            return None
        self._claimed.clear()
        return self._missed("every copy of a telegram came damaged")

    def passed_by(self, telegram: Telegram | None) -> Missed | None:
        """No more copies of what came damaged follow: the next telegram is here, not taken yet, or enough time is over.

        One damaged copy may have been noise, or have lost its sequence; two that agree in it were a telegram.
        """
        if telegram in self._recent:
            return None
        lost = [sequence for sequence in self._claimed if telegram is None or sequence != telegram.sequence]
        self._claimed.clear()
        return self._missed("a telegram came in damaged copies alone") if len(set(lost)) < len(lost) else None

    def take(self, telegram: Telegram) -> Meaning | None:
        """What it means, if it is new."""
        before, code = self._recent[-1] if self._recent else None, _code(telegram)
        if telegram == before or (telegram in self._recent and code is not Code.START):
            self.counters["repeated_telegrams"] += 1
            return None
        if before is not None and telegram.sequence == before.sequence and code is not Code.START:
            self.counters["contradicting_copies"] += 1
            return self._missed("two copies of one telegram differ")
        self._recent.append(telegram)
        unread_by = self._unread_by
        if code not in _IN_PASSING:
            self._unread_by = None
        if code is None:
            self.counters["unknown_telegrams"] += 1
            return None
        payload = telegram.payload
        if code in _LENGTHS and (len(payload) != _LENGTHS[code] or not all(byte & _TOP_BIT for byte in payload)):
            self.counters["malformed_telegrams"] += 1
            return self._missed("a telegram cannot be understood") if code in _TELL_OF_DRAWS else None
        match code:
            case Code.START:
                self._told.clear()
                return None if before is None else self._missed("the shoe began anew")
            case Code.DRAWN:
                return self._drawn(payload, unread_by)
            case Code.DRAWN_OUTSIDE:
                return self._noticed(
                    _MODES.get(_target(payload), "drawn_in_another_mode"), "a card drawn outside a game"
                )
            case Code.SENT_AGAIN:
                return self._sent_again(payload)
            case Code.CUTTING_CARD:
                return CuttingCard()
            case Code.ERROR_SET:
                return self._error(payload[0] & 0x3F, unread_by)
            case Code.LOCK_STATE:
                return LockState(locked=bool(payload[0] & 1))
            case Code.RESULT:
                self._told.clear()
        self.counters[_COUNTED[code]] += 1
        return None

    def _drawn(self, payload: bytes, unread_by: Code | None) -> Meaning | None:
        target = _target(payload)
        if target not in DEALT_TARGETS:
            return self._noticed(_TARGETS.get(target, "drawn_for_another_purpose"), "a card drawn that is not dealt")
        self._told.append(payload)
        card = self._card(payload[1])
        if card is not None:
            return Drawn(card)
        return self._unread(Code.DRAWN, unread_by)

    def _unread(self, told_by: Code, unread_by: Code | None) -> Drawn | None:
        """A draw and an error in a row, in either order, tell of one unread card."""
        if unread_by not in (None, told_by):
            return None
        self._unread_by = told_by
        return Drawn(None)

    def _card(self, byte: int) -> Card | None:
        suit, rank = byte >> 4 & 7, byte & 0x0F
        if suit in _SUITS and rank in _RANKS:
            return Card(_RANKS[rank] + _SUITS[suit])
        if (suit, rank) != (0, 0):
            self.counters["unknown_cards"] += 1
        return None

    def _sent_again(self, payload: bytes) -> Meaning | None:
        self.counters["draws_sent_again"] += 1
        if _target(payload) not in DEALT_TARGETS or any(_same_draw(payload, told) for told in self._told):
            return None
        return self._missed("the shoe sent a draw again that had not been told")

    def _error(self, number: int, unread_by: Code | None) -> Meaning | None:
        self.counters["errors_set"] += 1
        if number not in UNREAD_ERRORS:
            name = Error(number).name.lower().replace("_", " ") if number in tuple(Error) else "not known"
            return Noticed(f"error {number} ({name})")
        return self._unread(Code.ERROR_SET, unread_by)

    def _noticed(self, counter: str, what: str) -> Noticed:
        self.counters[counter] += 1
        return Noticed(what)

    def _missed(self, why: str) -> Missed:
        self.counters["gaps"] += 1
        return Missed(why)


def _code(telegram: Telegram) -> Code | None:
    return Code(telegram.code) if telegram.code in tuple(Code) else None


def _target(payload: bytes) -> int:
    return payload[0] >> 4 & 7


def _same_draw(again: bytes, told: bytes) -> bool:
    """One index and one card; which card it was may have been read one of the two times alone."""
    cards = {again[1] & ~_TOP_BIT, told[1] & ~_TOP_BIT} - {0}
    return (again[0] ^ told[0]) & 0x0F == 0 and len(cards) <= 1
