"""A cable in virtual time: bytes arrive later, in order, unless a fault does something to them."""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from simulator.mechanics.world import World

Fault: TypeAlias = Callable[[bytes], Sequence[tuple[int, bytes]]]
"""What becomes of bytes on their way: pieces, each with the ms it is late by; nothing where they are lost."""


def unharmed(data: bytes) -> Sequence[tuple[int, bytes]]:
    """Everything arrives, at once and whole."""
    return ((0, data),)


class VirtualWire:
    """One direction of a cable. What was under way when the cable is pulled is gone."""

    def __init__(
        self, world: World, deliver: Callable[[bytes], None], latency_ms: int, fault: Fault = unharmed
    ) -> None:
        self._world = world
        self._deliver = deliver
        self._fault = fault
        self._generation = 0
        self.latency_ms: Final = latency_ms
        self.plugged = False

    def plug(self) -> None:
        """Plug the cable in: bytes go through from now on."""
        self.plugged = True

    def pull(self) -> None:
        """Pull the cable: bytes sent meanwhile are lost."""
        self.plugged = False
        self._generation += 1

    def send(self, data: bytes) -> None:
        """Send bytes to the other end; nothing where the cable is out."""
        if not (data and self.plugged):
            return
        generation = self._generation
        for late_ms, piece in self._fault(data):
            self._world.after(self.latency_ms + late_ms, lambda piece=piece: self._arrive(piece, generation))  # type: ignore[misc]

    def _arrive(self, data: bytes, generation: int) -> None:
        if generation == self._generation:
            self._deliver(data)
