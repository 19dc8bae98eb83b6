"""What a device can be told, and what can become of it."""

import enum

import msgspec


class CommandKind(enum.Enum):
    """Shuffler: shuffle, dispense_group, stop, resume. Shoe: lock, unlock. Every device: report_state."""

    SHUFFLE = "shuffle"
    DISPENSE_GROUP = "dispense_group"
    STOP = "stop"
    RESUME = "resume"
    LOCK = "lock"
    UNLOCK = "unlock"
    REPORT_STATE = "report_state"

    @property
    def moves_cards(self) -> bool:
        """Such a command is never sent a second time, whatever became of the first."""
        return self in (CommandKind.SHUFFLE, CommandKind.DISPENSE_GROUP)


class Outcome(enum.Enum):
    """UNKNOWN is the host's own: the link died before the device said how the command ended."""

    ACCEPTED = "accepted"
    STARTED = "started"
    FINISHED = "finished"
    REFUSED = "refused"
    UNKNOWN = "unknown"

    @property
    def is_final(self) -> bool:
        """No other outcome of the command follows."""
        return self in (Outcome.FINISHED, Outcome.REFUSED, Outcome.UNKNOWN)


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """`id` is unique in the life of a journal; the device echoes it in every outcome."""

    id: int
    kind: CommandKind
