"""What telegrams and commands are called in a log: kinds and numbers, never a card."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from drivers.angel_eye.draws import Code
from drivers.angel_eye.telegrams import Answer, Item, Spoilt, TelegramDecoder

LONGEST_COMMAND: Final = 16
_COMMAND: Final = re.compile(rb"\x02OP([A-Z]{2})([0-9]{2})\x03[0-9A-F]{2}")
_WITH_INDEX: Final = (Code.DRAWN, Code.DRAWN_OUTSIDE, Code.SENT_AGAIN)


def name_frames(pieces: Sequence[tuple[bool, bytes]]) -> list[str]:
    """Each in order, "<" from the shoe and ">" to it; copies in a row are one name with their number behind it."""
    counted = ((name, len(list(copies))) for name, copies in groupby(_names(pieces)))
    return [name if count == 1 else f"{name} x{count}" for name, count in counted]


def _names(pieces: Sequence[tuple[bool, bytes]]) -> Iterator[str]:
    decoder = TelegramDecoder()
    unread = b""
    junk = 0
    for to_host, data in pieces:
        if to_host:
            yield from (f"< {_name(item)}" for item in decoder.feed(data))
            if decoder.counters["junk_bytes"] > junk:
                junk = decoder.counters["junk_bytes"]
                yield "< junk"
            continue
        unread += data
        for command in _COMMAND.finditer(unread):
            yield f"> {command[1].decode()} {command[2].decode()}"
        unread = _COMMAND.split(unread)[-1][-LONGEST_COMMAND:]


def _name(item: Item) -> str:
    if isinstance(item, Answer):
        return "ACK" if item.accepted else "NAK" if item.code is None else f"NAK {chr(item.code)}"
    if isinstance(item, Spoilt):
        return "damaged telegram"
    if item.code not in tuple(Code):
        return f"telegram {item.code:#04x} seq {chr(item.sequence)}"
    code = Code(item.code)
    name = f"{code.name} seq {chr(item.sequence)}"
    if code in _WITH_INDEX and item.payload:
        return f"{name} target {item.payload[0] >> 4 & 7} index {item.payload[0] & 0x0F}"
    if code in (Code.ERROR_SET, Code.ERROR_CANCELLED) and item.payload:
        return f"{name} error {item.payload[0] & 0x3F}"
    if code is Code.LOCK_STATE and item.payload:
        return f"{name} {'locked' if item.payload[0] & 1 else 'unlocked'}"
    return name
