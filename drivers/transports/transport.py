"""What carries bytes between a driver and its device."""

from collections.abc import Callable
from typing import Protocol, TypeAlias, runtime_checkable

from drivers.errors import LinkError

OnData: TypeAlias = Callable[[bytes], None]
OnLost: TypeAlias = Callable[[LinkError], None]


class Transport(Protocol):
    """An open connection, on the event loop that opened it.

    `on_data` gets bytes as they come, never empty. `on_lost` is called at most once, after the port has been let go,
    and neither is called any more once `close` has been called.
    """

    def write(self, data: bytes) -> None:
        """Send all of `data`, in order, without waiting. Nothing happens on a connection that has ended."""
        ...

    async def close(self) -> None:
        """Let the port go, within a few seconds. May be called again, and on a connection that was lost."""
        ...


class OpenPort(Protocol):
    """How a connection is made; `open_transport` of opening.py or a stand-in for it."""

    async def __call__(self, port_text: str, on_data: OnData, on_lost: OnLost) -> Transport:
        """An open transport. Raises PortUnusable and other errors of errors.py, in sentences."""


@runtime_checkable
class Recorded(Protocol):
    """A transport that plays what was recorded: whoever opened it has to use this nonce, or nothing fits."""

    nonce: bytes


@runtime_checkable
class Counting(Protocol):
    """A transport that knows what was lost or damaged below it, by reason, since long before it was opened."""

    @property
    def counters(self) -> dict[str, int]:
        """What went wrong below the driver, by name."""
