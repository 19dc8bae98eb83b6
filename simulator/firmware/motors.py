"""What a command does to a machine: the join between the protocol and the mechanics."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from drivers.commands import CommandKind
from drivers.tdp.codec.enums import StateFlag
from simulator.mechanics.shoe import Shoe
from simulator.mechanics.shuffler import Shuffler

SHUFFLE_TAKES_MS: Final = 900
GROUP_TAKES_MS: Final = 400
GROUP_SIZE: Final = 3


class RefusedError(Exception):
    """The machine cannot do that now; the text is the reason, a short phrase."""


@dataclass(frozen=True, slots=True)
class Motion:
    """Something that takes its time: `end` is called when `takes_ms` are over."""

    takes_ms: int
    end: Callable[[], None]


class Motors(Protocol):
    """What a device's commands move."""

    def state(self) -> StateFlag:
        """The flags of STATE that the mechanics know of."""
        ...

    def take_up(self, command: CommandKind) -> Motion | None:
        """Do it; None when it is done already. Raises RefusedError."""
        ...


class ShufflerMotors:
    """A shuffler, with the reader that stands in its way out, where there is one."""

    def __init__(self, shuffler: Shuffler, shoe: Shoe | None) -> None:
        self._shuffler = shuffler
        self._shoe = shoe
        self._moving = False

    def state(self) -> StateFlag:
        """Stopped, jammed, door open, cards in the chamber."""
        shuffler = self._shuffler
        flags = StateFlag.STOPPED if shuffler.stopped else StateFlag(0)
        flags |= StateFlag.JAMMED if shuffler.jam else StateFlag(0)
        flags |= StateFlag.DOOR_OPEN if shuffler.door_open else StateFlag(0)
        flags |= StateFlag.MOVING if self._moving else StateFlag(0)
        return flags | (StateFlag.TRAY_FILLED if len(shuffler.tray) else StateFlag(0))

    def take_up(self, command: CommandKind) -> Motion | None:
        """Begin with the command; None where it is done at once. Raises RefusedError."""
        match command:
            case CommandKind.STOP:
                self._shuffler.stopped = True
                return None
            case CommandKind.RESUME:
                self._shuffler.stopped = False
                return None
            case CommandKind.SHUFFLE:
                self._refuse_if_hindered()
                self._moving = True
                return Motion(SHUFFLE_TAKES_MS, self._shuffled)
            case CommandKind.DISPENSE_GROUP:
                self._refuse_if_hindered()
                if len(self._shuffler.tray):
                    raise RefusedError("a group lies in the tray")
                if len(self._shuffler.chamber) < GROUP_SIZE:
                    raise RefusedError("too few cards")
                self._moving = True
                return Motion(GROUP_TAKES_MS, self._dispensed)
        raise RefusedError("no such command here")

    def _refuse_if_hindered(self) -> None:
        shuffler = self._shuffler
        for hindered, reason in (
            (shuffler.stopped, "stopped"),
            (shuffler.jam, "jammed"),
            (shuffler.door_open, "door open"),
            (self._moving, "busy"),
        ):
            if hindered:
                raise RefusedError(reason)

    def _shuffled(self) -> None:
        self._moving = False
        if self._shuffler.stopped:
            raise RefusedError("stopped")
        self._shuffler.shuffle()

    def _dispensed(self) -> None:
        self._moving = False
        if self._shuffler.stopped:
            raise RefusedError("stopped")
        for _ in range(GROUP_SIZE):
            self._shuffler.feed(None if self._shoe is None else self._shoe.reader)
        self._shuffler.group_out()


class ShoeMotors:
    """A shoe's lock."""

    def __init__(self, shoe: Shoe) -> None:
        self._shoe = shoe

    def state(self) -> StateFlag:
        """Whether it is locked."""
        return StateFlag.LOCKED if self._shoe.locked else StateFlag(0)

    def take_up(self, command: CommandKind) -> Motion | None:
        """Lock or unlock; done at once. Raises RefusedError for anything else."""
        if command not in (CommandKind.LOCK, CommandKind.UNLOCK):
            raise RefusedError("no such command here")
        self._shoe.locked = command is CommandKind.LOCK
        return None


class LayoutMotors:
    """A strip of sensors moves nothing."""

    def state(self) -> StateFlag:
        """A layout has nothing that moves."""
        return StateFlag(0)

    def take_up(self, command: CommandKind) -> Motion | None:
        """Raises RefusedError: a layout takes no commands."""
        raise RefusedError(f"a layout cannot {command.value}")
