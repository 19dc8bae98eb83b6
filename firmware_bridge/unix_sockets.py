"""Unix sockets that the daemon listens at: their own user and group alone, and nobody's place taken."""

import asyncio
import grp
import os
import socket
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeAlias

Serve: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
"""What is done with one connection, in a task of its own."""

_OTHERS_OUT: Final = 0o117  # leaves rw-rw----
_PENDING: Final = 64
LINGER_S: Final = 2.0
"""How long a client that is being sent off may take."""


class SocketTaken(Exception):
    """The path cannot be listened at; the sentence says why and what to do."""


class UnixServer:
    """Listens at `path` between `start` and `stop`; lines of at most `line_bytes` are read at once."""

    def __init__(self, path: Path, serve: Serve, line_bytes: int) -> None:
        self._path = path
        self._serve = serve
        self._line_bytes = line_bytes
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Listen. Raises SocketTaken."""
        listening = listen_at(self._path)
        self._server = await asyncio.start_unix_server(self._serve, sock=listening, limit=self._line_bytes)

    @property
    def started(self) -> bool:
        """Between `start` and `stop`."""
        return self._server is not None

    @property
    def serving(self) -> bool:
        """Are connections taken? Not where somebody took the socket's file away: nobody finds it then."""
        return self._server is not None and self._server.is_serving() and self._path.exists()

    def stop(self) -> bool:
        """Take no more connections; those there are go on. False: it did not listen."""
        if self._server is None:
            return False
        server, self._server = self._server, None
        server.close()
        self._path.unlink(missing_ok=True)
        return True


async def part(writer: asyncio.StreamWriter, last: bytes = b"") -> None:
    """Close the connection, after these last bytes; never wait long for a client that is stuck."""
    if last and not writer.is_closing():
        writer.write(last)
    writer.close()
    try:
        async with asyncio.timeout(LINGER_S):
            await writer.wait_closed()
    except (TimeoutError, OSError):
        writer.transport.abort()


def listen_at(path: Path) -> socket.socket:
    """A listening socket at `path`, mode 0660; a file that nobody listens at any more is replaced.

    Raises SocketTaken.
    """
    _free(path)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        before = os.umask(_OTHERS_OUT)
        try:
            listening.bind(os.fspath(path))
        finally:
            os.umask(before)
        listening.listen(_PENDING)
        listening.setblocking(False)
    except OSError as error:
        listening.close()
        raise SocketTaken(
            f"the socket {path} cannot be made ({error.strerror or error}): check [sockets] and its folder"
        ) from error
    return listening


def unanswered(path: Path, error: OSError) -> str:
    """Why nobody answered at a daemon's socket, and what to do, without a full stop."""
    if not isinstance(error, PermissionError):
        return f"nobody answers at {path} ({error.strerror or error}): start firmware-bridge run, or name its socket"
    group = next((name for there in (path, *path.parents) if (name := _group_of(there)) is not None), "of its folder")
    return (
        f"this user may not open {path}: add the user to the group {group}"
        f" (as root: usermod -aG {group} NAME) and log in anew"
    )


def _group_of(path: Path) -> str | None:
    try:
        return grp.getgrgid(path.stat().st_gid).gr_name
    except (OSError, KeyError):
        return None


def _free(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise SocketTaken(f"the socket {path} cannot be used ({error.strerror}): check its folder") from error
    if not stat.S_ISSOCK(mode):
        raise SocketTaken(f"{path} is no socket: move it away, or name another path under [sockets]")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        try:
            probe.connect(os.fspath(path))
        except (ConnectionRefusedError, FileNotFoundError):
            path.unlink(missing_ok=True)
            return
        except OSError as error:
            raise SocketTaken(
                f"the socket {path} cannot be tried ({error.strerror or error}): end what uses it, or take it away"
            ) from error
    raise SocketTaken(
        f"another process listens at {path}: stop it first (a second daemon?), or name another path under [sockets]"
    )
