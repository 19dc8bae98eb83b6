"""In the guest: ask whoever stands at the machine to plug something in or to pull it out, and wait until it is done."""

import json
from pathlib import Path
from typing import Final

PORT: Final = Path("/dev/virtio-ports/hands")


class HandsError(Exception):
    """What was asked for could not be done; the text says why."""


class Hands:
    """An FTDI adapter's far end is the machine's serial line of the same name."""

    def __init__(self) -> None:
        self._port: Final = PORT.open("r+b", buffering=0)

    def plug(self, name: str, serial_number: str, port: int) -> None:
        self._ask({"do": "plug", "name": name, "serial_number": serial_number, "port": port})

    def pull(self, name: str) -> None:
        self._ask({"do": "pull", "name": name})

    def _ask(self, request: dict[str, object]) -> None:
        self._port.write(json.dumps(request).encode() + b"\n")
        answer = bytearray()
        while not answer.endswith(b"\n"):
            answer += self._port.read(4096) or b""
        told = json.loads(answer)
        if not told["done"]:
            raise HandsError(f"{request}: {told['why']}")
