"""What a simulated device needs of its cable, whatever that is made of."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol


class Wire(Protocol):
    """`path` is where the daemon finds the port while the cable is plugged in."""

    @property
    def path(self) -> Path: ...

    @property
    def plugged(self) -> bool: ...

    def plug(self) -> None: ...

    def pull(self) -> None: ...

    def write(self, data: bytes) -> None:
        """Bytes towards the daemon."""


class Wiring(Protocol):
    """Makes the wire of a device: its path, and who is told of the bytes that the daemon sends."""

    def __call__(self, path: Path, on_data: Callable[[bytes], None]) -> Wire: ...
