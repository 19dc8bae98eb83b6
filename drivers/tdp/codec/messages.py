"""All messages of TDP, for both ends of the wire: their frames, and how they are read (drivers/tdp/spec.md section 5).

Every message has its type, says whether it takes a number of the session's sequence, gives its payload (`to_bytes`) and
is read off a FieldReader (`read`), which raises BadMessage where the bytes are not this message.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from drivers.framing import encode_frame
from drivers.tdp.codec import pairing_messages as pairing
from drivers.tdp.codec.command_messages import Alive, CommandMessage, OutcomeMessage, Ping
from drivers.tdp.codec.fact_messages import Ack, Durable, FactMessage, Gap, State
from drivers.tdp.codec.fields import BadMessage, FieldReader
from drivers.tdp.codec.header import HEADER_SIZE, MAJOR, MINOR, Header
from drivers.tdp.codec.session_messages import Hello, HelloAnswer, Start, Started

HostMessage: TypeAlias = Hello | Start | Ack | Durable | Ping | CommandMessage | pairing.ToDevice
DeviceMessage: TypeAlias = HelloAnswer | Started | State | FactMessage | Gap | Alive | OutcomeMessage | pairing.ToHost
Message: TypeAlias = HostMessage | DeviceMessage

HOST_MESSAGES: Final[dict[int, type[HostMessage]]] = {
    known.TYPE: known for known in (Hello, Start, Ack, Durable, Ping, CommandMessage, *pairing.TO_DEVICE)
}
DEVICE_MESSAGES: Final[dict[int, type[DeviceMessage]]] = {
    known.TYPE: known
    for known in (HelloAnswer, Started, State, FactMessage, Gap, Alive, OutcomeMessage, *pairing.TO_HOST)
}


class UnknownMessageType(BadMessage):
    """A message of a newer minor version."""


def wire_frame(
    message: Message,
    *,
    session: int,
    sequence: int,
    acknowledgement: int,
    seal: Callable[[bytes], bytes] | None = None,
    major: int = MAJOR,
    minor: int = MINOR,
) -> bytes:
    """The frame of a message, its last byte the delimiter. `session` is 0 for the two hello messages; `seal` puts the
    trailer of an authenticated session behind header and payload.
    """
    header = Header(
        to_host=message.TYPE in DEVICE_MESSAGES,
        message_type=message.TYPE,
        session=session,
        sequence=sequence,
        acknowledgement=acknowledgement,
        authenticated=seal is not None,
        major=major,
        minor=minor,
    )
    body = header.to_bytes() + message.to_bytes()
    return encode_frame(body if seal is None else seal(body))


def read_message(header: Header, body: bytes) -> tuple[Message, int]:
    """The message after the header, and how many unknown bytes follow its last known field.

    Raises UnknownMessageType, BadMessage. Direction, version and session are the caller's to judge.
    """
    known: type[Message] | None
    known = DEVICE_MESSAGES.get(header.message_type) if header.to_host else HOST_MESSAGES.get(header.message_type)
    if known is None:
        raise UnknownMessageType(f"unknown message type {header.message_type:#04x}")
    reader = FieldReader(body[HEADER_SIZE:])
    message = known.read(reader)
    return message, reader.rest
