"""What carries bytes between a driver and its device."""

from collections.abc import Callable
from typing import Protocol, TypeAlias

from drivers.errors import LinkError
from drivers.transports.ports import parse_port

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
    """How a connection is made; `open_transport` or a stand-in for it."""

    async def __call__(self, port_text: str, on_data: OnData, on_lost: OnLost) -> Transport: ...


async def open_transport(port_text: str, on_data: OnData, on_lost: OnLost) -> Transport:
    """Open the port named in the configuration.

    Raises PortNameError for a text that cannot be read, and PortMissing, PortForbidden, PortHeld or PortUnusable,
    each with its sentence, for a port that cannot be opened; nothing stays open then.
    """
    from drivers.transports.serial import open_serial  # here, so that who opens no serial port needs no pyserial

    return await open_serial(parse_port(port_text), on_data, on_lost)
