"""What frames are called in a log: message names and numbers, never what a fact says."""

from collections.abc import Sequence

from drivers.framing import FrameDecoder
from drivers.tdp.codec.command_messages import Alive, CommandMessage, OutcomeMessage, Ping
from drivers.tdp.codec.enums import MessageType
from drivers.tdp.codec.fact_codec import FactCode
from drivers.tdp.codec.fact_messages import FactMessage
from drivers.tdp.codec.fields import BadMessage
from drivers.tdp.codec.header import Header
from drivers.tdp.codec.messages import read_message


def name_frames(pieces: Sequence[tuple[bool, bytes]]) -> list[str]:
    """Each frame in order, "<" from the device and ">" to it; the flag of a piece says that it came from the device."""
    decoders = {True: FrameDecoder(), False: FrameDecoder()}
    thrown_away = {True: 0, False: 0}
    names: list[str] = []
    for to_host, data in pieces:
        arrow = "<" if to_host else ">"
        decoder = decoders[to_host]
        names += [f"{arrow} {_name(body)}" for body in decoder.feed(data)]
        total = sum(decoder.counters.values())
        if total > thrown_away[to_host]:
            thrown_away[to_host] = total
            names.append(f"{arrow} junk")
    return names


def _name(body: bytes) -> str:
    try:
        header = Header.from_bytes(body)
    except BadMessage:
        return "frame without header"
    try:
        name = MessageType(header.message_type).name
    except ValueError:
        name = f"type {header.message_type:#04x}"
    try:
        message, _ = read_message(header, body)
    except BadMessage:
        return f"{name} seq {header.sequence}"
    match message:
        case FactMessage(number=number, code=code):
            return f"{name} seq {header.sequence} number {number} {_fact_name(code)}"
        case Ping(id=ping) | Alive(ping=ping):
            return f"{name} {ping}"
        case CommandMessage(id=command_id):
            return f"{name} id {command_id}"
        case OutcomeMessage(id=command_id, outcome=outcome):
            return f"{name} seq {header.sequence} id {command_id} {outcome.value}"
        case _ if message.SEQUENCED:
            return f"{name} seq {header.sequence}"
        case _:
            return name


def _fact_name(code: int) -> str:
    try:
        return FactCode(code).name.lower()
    except ValueError:
        return f"fact {code:#04x}"
