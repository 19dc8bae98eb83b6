"""A line of a terminal server: its bytes, as they are, over a TCP connection."""

import asyncio
import errno
import os
import socket
from collections.abc import Callable
from functools import partial
from typing import Final, cast

from drivers.errors import LinkError, LinkLost, PortForbidden, PortMissing, PortUnusable
from drivers.transports.ports import TcpPort
from drivers.transports.run_blocking import run_blocking, stuck
from drivers.transports.transport import OnData, OnLost

OPEN_TIMEOUT_S: Final = 5.0
CLOSE_TIMEOUT_S: Final = 2.0
UNSENT_BYTES: Final = 262_144
_KEEPALIVE: Final = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 5),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 2),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),
    (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 10_000),
)
"""A server that loses its power says nothing: the kernel asks, so that such a link ends within some ten seconds."""


async def open_tcp(port: TcpPort, on_data: OnData, on_lost: OnLost) -> "TcpTransport":
    """Connect. Errors as `open_transport` states."""
    place = port.place
    addresses = await _addresses(port)
    try:
        async with asyncio.timeout(OPEN_TIMEOUT_S):
            return await _connected(addresses, port.port, lambda: TcpTransport(place, on_data, on_lost))
    except TimeoutError:
        raise PortMissing(
            f"{place} does not answer: switch the terminal server on, and check its network cable and address"
        ) from None
    except ConnectionRefusedError:
        raise PortMissing(
            f"nothing listens at {place}: switch that line of the terminal server on, or correct `port`"
        ) from None
    except PermissionError as error:
        raise PortForbidden(f"this process may not connect to {place} ({error}): allow it the network") from None
    except OSError as error:
        raise PortUnusable(f"{place} cannot be reached ({_why(error)}): check the network and `port`") from None


class TcpTransport(asyncio.Protocol):
    """An open connection. At most `UNSENT_BYTES` wait while the server takes none; with more the link is given up."""

    def __init__(self, place: str, on_data: OnData, on_lost: OnLost) -> None:
        self._place = place
        self._on_data = on_data
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._released: asyncio.Future[None] = self._loop.create_future()
        self._transport: asyncio.Transport | None = None
        self._closed_by_user = False
        self._why: str | None = None

    def write(self, data: bytes) -> None:
        """Queue the bytes; a server that takes none for too long loses the connection."""
        if self._transport is None or self._transport.is_closing() or not data:
            return
        waiting = self._transport.get_write_buffer_size()
        if waiting + len(data) > UNSENT_BYTES:
            self._why = f"{waiting} bytes wait because the server takes none"
            self._transport.abort()
        else:
            self._transport.write(data)

    async def close(self) -> None:
        """Close the connection, and report nothing more."""
        self._closed_by_user = True
        if self._transport is None:
            return
        self._transport.close()
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await asyncio.shield(self._released)
        except TimeoutError:
            self._transport.abort()
            await asyncio.shield(self._released)

    # What the event loop tells

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by asyncio."""
        self._transport = cast(asyncio.Transport, transport)
        connection = transport.get_extra_info("socket")
        for level, option, value in _KEEPALIVE:
            connection.setsockopt(level, option, value)

    def data_received(self, data: bytes) -> None:
        """Called by asyncio."""
        if not self._closed_by_user:
            self._on_data(data)

    def connection_lost(self, error: Exception | None) -> None:
        """Called by asyncio."""
        if isinstance(error, OSError):
            self._why = self._why or _why(error)
        self._loop.call_soon(self._let_go)  # the loop closes the socket after this

    def _let_go(self) -> None:
        self._released.set_result(None)
        if not self._closed_by_user:
            self._on_lost(self._lost())

    def _lost(self) -> LinkError:
        why = self._why or "the server hung up"
        return LinkLost(f"the connection to {self._place} ended ({why}): check the terminal server and its network")


async def _addresses(port: TcpPort) -> list[str]:
    """What the name leads to. The loop's own look-up would hold a thread that others need, and the daemon's end."""
    place = port.place
    silent = f"the name service tells no address for {place}: see that it answers, or write the address into `port`"
    if stuck(place):
        raise PortMissing(silent)
    look_up = partial(socket.getaddrinfo, port.host, port.port, type=socket.SOCK_STREAM)
    try:
        found = await run_blocking(look_up, place, OPEN_TIMEOUT_S, lambda _: None)
    except TimeoutError:
        raise PortMissing(silent) from None
    except (OSError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise PortMissing(
            f"the name of {place} leads to no address ({why}): correct `port`, or the name service"
        ) from None
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


async def _connected(addresses: list[str], number: int, make: Callable[[], TcpTransport]) -> TcpTransport:
    """By the first address that takes it. Raises OSError."""
    loop = asyncio.get_running_loop()
    failure = OSError(errno.EADDRNOTAVAIL, os.strerror(errno.EADDRNOTAVAIL))
    for address in addresses:
        try:
            _, transport = await loop.create_connection(make, address, number)
        except OSError as error:
            failure = error
        else:
            return transport
    raise failure


def _why(error: OSError) -> str:
    return os.strerror(error.errno).lower() if error.errno else str(error)
