"""A control socket with nobody behind it but the test."""

import json
import socket
import threading
from pathlib import Path
from typing import Any

import pytest


class Door:
    """A control socket that keeps what it hears and says what the test wants said."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.heard: list[dict[str, Any]] = []
        self.answer: dict[str, Any] = {"accepted": True, "at_ms": 1, "events": []}
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._socket.accept()
            with connection, connection.makefile("rwb") as stream:
                request = json.loads(stream.readline())
                self.heard.append(request)
                stream.write(json.dumps({"id": request["id"], **self.answer}).encode() + b"\n")


@pytest.fixture
def door(tmp_path: Path) -> Door:
    return Door(tmp_path / "c.sock")
