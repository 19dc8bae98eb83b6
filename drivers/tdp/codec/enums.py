"""The closed sets of TDP and their codes on the wire (drivers/tdp/spec.md sections 5 and 7)."""

import enum
from typing import Final

from drivers.commands import CommandKind, Outcome
from drivers.tdp.codec.fields import BadMessage

SEQUENCED_UNKNOWN: Final = range(0x40, 0x80)
"""Message types of later minors that are sequenced (section 5)."""


class MessageType(enum.IntEnum):
    """The type byte of each message (section 3)."""

    HELLO = 0x01
    HELLO_ANSWER = 0x02
    START = 0x03
    STARTED = 0x04
    STATE = 0x05
    FACT = 0x06
    GAP = 0x07
    ACK = 0x08
    DURABLE = 0x09
    PING = 0x0A
    ALIVE = 0x0B
    COMMAND = 0x0C
    OUTCOME = 0x0D
    PAIR_COMMIT = 0x10
    PAIR_KEY = 0x11
    PAIR_REVEAL = 0x12
    PAIR_CONFIRM = 0x13
    PAIR_DONE = 0x14
    PAIR_STOP = 0x15
    PAIR_STOPPED = 0x16


class StopReason(enum.IntEnum):
    """Section 9.4, PAIR_STOPPED."""

    NOT_PAIRING = 1
    BROKEN_COMMITMENT = 2
    WRONG_CONFIRMATION = 3
    DECLINED = 4
    TIME_OVER = 5


class KindCode(enum.IntEnum):
    """Section 5.2, `kind`; the names are those of drivers.driver.DeviceKind."""

    SHUFFLER = 1
    SHOE = 2
    LAYOUT = 3


class Capability(enum.IntFlag):
    """Section 5.2, `capabilities`."""

    READS_CARDS = 1
    DISPENSES_GROUPS = 2
    SENSES_SEATS = 4
    OFFERS_AUTHENTICATION = 8
    REFUSES_PLAIN = 16


class StateFlag(enum.IntFlag):
    """Section 5.5, `flags`."""

    LOCKED = 1
    STOPPED = 2
    JAMMED = 4
    DOOR_OPEN = 8
    MOVING = 16
    TRAY_FILLED = 32


COMMAND_CODES: Final = {
    CommandKind.SHUFFLE: 1,
    CommandKind.DISPENSE_GROUP: 2,
    CommandKind.STOP: 3,
    CommandKind.RESUME: 4,
    CommandKind.LOCK: 5,
    CommandKind.UNLOCK: 6,
    CommandKind.REPORT_STATE: 7,
}
"""Section 7.1."""
COMMANDS_BY_CODE: Final = {code: kind for kind, code in COMMAND_CODES.items()}

OUTCOME_CODES: Final = {Outcome.ACCEPTED: 1, Outcome.STARTED: 2, Outcome.FINISHED: 3, Outcome.REFUSED: 4}
"""Section 7.2."""


def outcome_of(code: int) -> Outcome:
    """The outcome of a code on the wire. Raises BadMessage."""
    for outcome, known in OUTCOME_CODES.items():
        if known == code:
            return outcome
    raise BadMessage(f"no such outcome: {code}")
