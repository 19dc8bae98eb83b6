"""The facts' own fields in a FACT message (drivers/tdp/spec.md section 6). `at_ms` is the device's clock here."""

import enum
from collections.abc import Callable
from typing import Final, Literal

from drivers import facts
from drivers.cards import FULL_DECK, Card
from drivers.facts import DeviceFact, Place
from drivers.sequence import NUMBER_BITS
from drivers.tdp.codec.fields import U16, U32, BadMessage, FieldReader, text_bytes

LONGEST_DECK_NAME: Final = 32
LARGEST_COUNT: Final = 10_000
UNREADABLE: Final = 0xFF
DEALERS_PLACE: Final = 0

_BY_INDEX: Final = tuple(sorted(FULL_DECK, key=lambda card: card.index))


class FactCode(enum.IntEnum):
    """The code byte of each fact (section 6)."""

    SHUFFLE_COMPLETED = 0x01
    GROUP_READY = 0x02
    GROUP_TAKEN = 0x03
    BOXED_CARD = 0x04
    JAMMED = 0x05
    JAM_CLEARED = 0x06
    DOOR_OPENED = 0x07
    DOOR_CLOSED = 0x08
    STUB_COUNTED = 0x09
    RESIDUAL_CARDS = 0x0A
    SHOE_LOADED = 0x20
    CARD_DRAWN = 0x21
    CUT_CARD = 0x22
    SEAT_COUNT = 0x40
    CARD_EXPOSED = 0x41


class UnknownFactCode(BadMessage):
    """A fact of a newer minor version."""


def fact_bytes(fact: DeviceFact) -> tuple[FactCode, bytes]:
    """Code and fields of a fact. Raises ValueError for a value that has no room in its field."""
    match fact:
        case facts.ShuffleCompleted(cards=cards, mode=mode, deck=deck):
            if deck == "":
                raise ValueError("a deck's name cannot be empty")
            name = text_bytes(deck or "", LONGEST_DECK_NAME)
            return FactCode.SHUFFLE_COMPLETED, _count(cards) + bytes((mode == "sort",)) + name
        case facts.GroupReady(group=group, cards=cards):
            return FactCode.GROUP_READY, _number(group) + _count(cards)
        case facts.GroupTaken(group=group):
            return FactCode.GROUP_TAKEN, _number(group)
        case facts.StubCounted(cards=cards):
            return FactCode.STUB_COUNTED, _count(cards)
        case facts.ResidualCards(cards=cards):
            return FactCode.RESIDUAL_CARDS, _count(cards)
        case facts.ShoeLoaded(cards=cards):
            return FactCode.SHOE_LOADED, _count(cards)
        case facts.CardDrawn(draw=draw, card=card, face=face):
            return FactCode.CARD_DRAWN, _number(draw) + bytes((_card(card), face == "up"))
        case facts.SeatCount(seat=seat, cards=cards):
            return FactCode.SEAT_COUNT, bytes((_place(seat),)) + _count(cards)
        case facts.CardExposed(seat=seat, card=card):
            return FactCode.CARD_EXPOSED, bytes((_place(seat), _card(card)))
        case _:
            return _BARE_CODES[type(fact)], b""


def read_fact_fields(code: int, clock_ms: int, fields: FieldReader) -> DeviceFact:
    """The fact of that code. Raises UnknownFactCode, BadMessage."""
    reader = _READERS.get(code)
    if reader is None:
        raise UnknownFactCode(f"unknown fact code {code:#04x}")
    return reader(clock_ms, fields)


def _count(cards: int) -> bytes:
    if not 0 <= cards <= LARGEST_COUNT:
        raise ValueError(f"a count of {cards} cards is outside 0..{LARGEST_COUNT}")
    return U16.pack(cards)


def _number(number: int) -> bytes:
    if not 0 <= number < 1 << NUMBER_BITS:
        raise ValueError(f"{number} does not fit 32 bits")
    return U32.pack(number)


def _card(card: Card | None) -> int:
    return UNREADABLE if card is None else card.index


def _place(seat: Place) -> int:
    if seat == "dealer":
        return DEALERS_PLACE
    if not 1 <= seat <= 255:
        raise ValueError(f"seat {seat} is outside 1..255")
    return seat


def _read_count(fields: FieldReader) -> int:
    cards = fields.u16()
    if cards > LARGEST_COUNT:
        raise BadMessage(f"a count of {cards} cards is more than {LARGEST_COUNT}")
    return cards


def _read_card(fields: FieldReader) -> Card | None:
    index = fields.u8()
    if index == UNREADABLE:
        return None
    if index >= len(_BY_INDEX):
        raise BadMessage("no such card")  # the number stays unsaid: it may be a face-down card's
    return _BY_INDEX[index]


def _read_place(fields: FieldReader) -> Place:
    return fields.u8() or "dealer"


def _read_mode(fields: FieldReader) -> Literal["shuffle", "sort"]:
    mode = fields.u8()
    if mode > 1:
        raise BadMessage(f"no such shuffle mode: {mode}")
    return "sort" if mode else "shuffle"


def _read_face(fields: FieldReader) -> Literal["down", "up"]:
    face = fields.u8()
    if face > 1:
        raise BadMessage(f"no such face: {face}")
    return "up" if face else "down"


def _read_shuffle(at_ms: int, fields: FieldReader) -> DeviceFact:
    cards, mode = _read_count(fields), _read_mode(fields)
    deck = fields.text(LONGEST_DECK_NAME) or None
    return facts.ShuffleCompleted(at_ms=at_ms, cards=cards, mode=mode, deck=deck)


def _read_drawn(at_ms: int, fields: FieldReader) -> DeviceFact:
    draw, card = fields.u32(), _read_card(fields)
    return facts.CardDrawn(at_ms=at_ms, draw=draw, card=card, face=_read_face(fields))


_BARE_CODES: Final[dict[type[DeviceFact], FactCode]] = {
    facts.BoxedCard: FactCode.BOXED_CARD,
    facts.Jammed: FactCode.JAMMED,
    facts.JamCleared: FactCode.JAM_CLEARED,
    facts.DoorOpened: FactCode.DOOR_OPENED,
    facts.DoorClosed: FactCode.DOOR_CLOSED,
    facts.CutCard: FactCode.CUT_CARD,
}

_READERS: Final[dict[int, Callable[[int, FieldReader], DeviceFact]]] = {
    FactCode.SHUFFLE_COMPLETED: _read_shuffle,
    FactCode.GROUP_READY: lambda at, of: facts.GroupReady(at_ms=at, group=of.u32(), cards=_read_count(of)),
    FactCode.GROUP_TAKEN: lambda at, of: facts.GroupTaken(at_ms=at, group=of.u32()),
    FactCode.BOXED_CARD: lambda at, _: facts.BoxedCard(at_ms=at),
    FactCode.JAMMED: lambda at, _: facts.Jammed(at_ms=at),
    FactCode.JAM_CLEARED: lambda at, _: facts.JamCleared(at_ms=at),
    FactCode.DOOR_OPENED: lambda at, _: facts.DoorOpened(at_ms=at),
    FactCode.DOOR_CLOSED: lambda at, _: facts.DoorClosed(at_ms=at),
    FactCode.STUB_COUNTED: lambda at, of: facts.StubCounted(at_ms=at, cards=_read_count(of)),
    FactCode.RESIDUAL_CARDS: lambda at, of: facts.ResidualCards(at_ms=at, cards=_read_count(of)),
    FactCode.SHOE_LOADED: lambda at, of: facts.ShoeLoaded(at_ms=at, cards=_read_count(of)),
    FactCode.CARD_DRAWN: _read_drawn,
    FactCode.CUT_CARD: lambda at, _: facts.CutCard(at_ms=at),
    FactCode.SEAT_COUNT: lambda at, of: facts.SeatCount(at_ms=at, seat=_read_place(of), cards=_read_count(of)),
    FactCode.CARD_EXPOSED: lambda at, of: facts.CardExposed(at_ms=at, seat=_read_place(of), card=_read_card(of)),
}
