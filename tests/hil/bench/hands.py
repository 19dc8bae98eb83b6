"""Whose hands move the cards, cables and switches of the bench: a person's, told what to do, or the simulator's."""

from collections.abc import Sequence
from typing import Final, Protocol

from drivers.cards import Card
from drivers.driver import DeviceKind
from drivers.facts import CardDrawn, DeviceFact, DoorClosed, DoorOpened, SeatCount
from tests.hil.bench.simulated import SimulatedDevices
from tests.hil.bench.terminal import Terminal
from tests.hil.bench.waiting import Progress, unseen

GRACE_S: Final = 1.0
"""How long a machine that goes on by itself is waited for before anybody is told to do something."""
SIMULATED_PATIENCE_S: Final = 20.0


class Hands(Protocol):
    """`patience_s`: how long to wait for what was asked of them; `grace_s`: how long before they are asked."""

    patience_s: float
    grace_s: float
    progress: Progress

    async def do(self, kind: DeviceKind, instruction: str, facts: Sequence[DeviceFact], *, seen: bool) -> None:
        """The device then reports `facts`; somebody has to confirm it where that is not `seen` at once."""
        ...

    async def pull(self, kind: DeviceKind) -> None: ...

    async def plug(self, kind: DeviceKind) -> None: ...

    async def switch_off_and_on(self, kind: DeviceKind) -> None: ...

    async def read_card(self, where: str, written: Card) -> Card:
        """The card that lies there; `written` is the one that the round says, where cards come out as written."""
        ...


class SimulatedHands:
    patience_s = SIMULATED_PATIENCE_S
    grace_s = 0.0

    def __init__(self, devices: SimulatedDevices) -> None:
        self.progress: Progress = unseen
        self._devices = devices

    async def do(self, kind: DeviceKind, instruction: str, facts: Sequence[DeviceFact], *, seen: bool) -> None:
        for fact in facts:
            self._devices.happened(kind, fact)

    async def pull(self, kind: DeviceKind) -> None:
        self._devices.pull(kind)

    async def plug(self, kind: DeviceKind) -> None:
        self._devices.plug(kind)

    async def switch_off_and_on(self, kind: DeviceKind) -> None:
        self._devices.switch_on(kind)

    async def read_card(self, where: str, written: Card) -> Card:
        return written


class PersonsHands:
    grace_s = GRACE_S

    def __init__(self, terminal: Terminal, patience_s: float) -> None:
        self._terminal = terminal
        self.patience_s = patience_s
        self.progress: Progress = terminal.progress

    async def do(self, kind: DeviceKind, instruction: str, facts: Sequence[DeviceFact], *, seen: bool) -> None:
        if seen:
            self._terminal.say(f"  >>  {instruction}")
        else:
            await self._confirm(instruction)

    async def pull(self, kind: DeviceKind) -> None:
        await self._confirm(f"Pull out the cable of the {kind.value}, at the computer's end; leave its power on.")

    async def plug(self, kind: DeviceKind) -> None:
        await self._confirm(f"Put the cable of the {kind.value} back into the same port.")

    async def switch_off_and_on(self, kind: DeviceKind) -> None:
        await self._confirm(f"Switch the {kind.value} off and on again, and wait until it is ready.")

    async def read_card(self, where: str, written: Card) -> Card:
        while True:
            question = f"  ??  Which card is {where}? Rank and suit, such as Qh:"
            typed = await self._terminal.ask(question, self.patience_s)
            try:
                return Card(typed[:1].upper() + typed[1:].lower())
            except ValueError:
                self._terminal.say(f'      "{typed}" is no card.')

    async def _confirm(self, instruction: str) -> None:
        await self._terminal.ask(f"  >>  {instruction} Then press Enter.", self.patience_s)


def gesture(kind: DeviceKind, turn: int) -> tuple[str, tuple[DeviceFact, ...]]:
    """Something small that makes a device report facts, the `turn`th time in a test; and what it then reports."""
    match kind:
        case DeviceKind.SHUFFLER:
            return "Open the shuffler's door, and shut it again.", (DoorOpened(at_ms=0), DoorClosed(at_ms=0))
        case DeviceKind.SHOE:
            card = Card(("Qh", "7c", "2d", "As")[turn % 4])
            return "Draw one card from the shoe, past its reader, face down.", (
                CardDrawn(at_ms=0, draw=turn + 1, card=card, face="down"),
            )
        case DeviceKind.LAYOUT:
            return "Lay one card on seat 1, and take it away again.", (
                SeatCount(at_ms=0, seat=1, cards=1),
                SeatCount(at_ms=0, seat=1, cards=0),
            )
