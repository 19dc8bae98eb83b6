"""The service manager's end of the notification socket."""

import asyncio
import contextlib
import socket
from pathlib import Path


class ServiceManager:
    def __init__(self, path: Path) -> None:
        self.address = str(path)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._socket.bind(self.address)

    def heard(self) -> list[str]:
        told = []
        with contextlib.suppress(BlockingIOError):
            while True:
                told.append(self._socket.recv(4096).decode())
        return told

    async def hears(self) -> str:
        """The next message, within seconds."""
        async with asyncio.timeout(10):
            return (await asyncio.get_running_loop().sock_recv(self._socket, 4096)).decode()

    def close(self) -> None:
        self._socket.close()
