"""What a simulated device needs of its cable, whatever that is made of."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol


class Wire(Protocol):
    """`path` is where the daemon finds the port while the cable is plugged in."""

    @property
    def path(self) -> Path:
        """What the daemon opens."""

    @property
    def plugged(self) -> bool:
        """The cable is in."""

    def plug(self) -> None:
        """Plug the cable in."""

    def pull(self) -> None:
        """Pull the cable."""

    def write(self, data: bytes) -> None:
        """Bytes towards the daemon."""


class Wiring(Protocol):
    """Makes the wire of a device: its path, and who is told of the bytes that the daemon sends."""

    def __call__(self, path: Path, on_data: Callable[[bytes], None]) -> Wire:
        """The wire of one device, not plugged in yet."""
        ...
