"""The closed sets of TDP and their codes on the wire (drivers/tdp/spec.md sections 5 and 7)."""

import enum
from typing import Final

from drivers.commands import CommandKind, Outcome

SEQUENCED_UNKNOWN: Final = range(0x40, 0x80)
"""Message types of later minors that are sequenced (section 5)."""


class MessageType(enum.IntEnum):
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
OUTCOMES_BY_CODE: Final = {code: outcome for outcome, code in OUTCOME_CODES.items()}
