"""Asking the running daemon through its control socket, from the command line."""

import socket
from pathlib import Path
from typing import Final

import msgspec

from firmware_bridge.cli.errors import CommandError
from firmware_bridge.config import ConfigError, load_config
from firmware_bridge.daemon.control_socket import NOTHING
from firmware_bridge.unix_sockets import unanswered

ANSWER_TIMEOUT_S: Final = 15.0


class ControlAnswer(msgspec.Struct):
    """Any answer of the socket; `status` is empty where it tells none."""

    id: str | None = None
    accepted: bool | None = None
    sentence: str | None = None
    error: str | None = None
    events: tuple[msgspec.Raw, ...] = ()
    status: msgspec.Raw = NOTHING


def control_socket(control: Path | None, config: Path | None) -> Path:
    """The socket that the options name. Raises CommandError."""
    if (control is None) == (config is None):
        raise CommandError("say which daemon: --control SOCKET, or --config FILE of the daemon", 2)
    if control is not None:
        return control
    try:
        return load_config(config or Path()).control_socket
    except ConfigError as error:
        raise CommandError(str(error), 2) from error


def ask(path: Path, request: dict[str, object]) -> tuple[bytes, ControlAnswer]:
    """One request, its answer as it came and as it is read. Raises CommandError."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(ANSWER_TIMEOUT_S)
            connection.connect(str(path))
            connection.sendall(msgspec.json.encode(request) + b"\n")
            with connection.makefile("rb") as answers:
                line = answers.readline()
    except TimeoutError:
        again = f"ask again with --id {request['id']} to learn what became of it" if "fact" in request else "ask again"
        raise CommandError(f"The daemon at {path} did not answer in {ANSWER_TIMEOUT_S:.0f} s: {again}.") from None
    except OSError as error:
        told = unanswered(path, error)
        raise CommandError(f"{told[:1].upper()}{told[1:]}.") from None
    try:
        return line.rstrip(b"\n"), msgspec.json.decode(line, type=ControlAnswer)
    except msgspec.DecodeError:
        raise CommandError(f"What answers at {path} is no daemon of this program: name its control socket.") from None
