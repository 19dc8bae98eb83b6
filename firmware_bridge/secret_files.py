"""Files that hold a secret: 64 hex digits that nobody but their owner may read."""

import os
import stat
from pathlib import Path
from typing import IO, Final

SECRET_BYTES: Final = 32
LONGEST_FILE: Final = 1024
"""Bytes that are read of a secret's file: far more than a secret has."""


class KeyFileError(Exception):
    """The key file is missing, cannot be written, is readable for others, or holds no key; `str` is a sentence."""


def read_secret(path: Path) -> bytes:
    """The 32 bytes of an existing key file that nobody else may read.

    Raises KeyFileError, which a FileNotFoundError has caused where there is none.
    """
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise KeyFileError(f"{path} is no file, so it holds no key: name the file of the key instead")
            text = file.read(LONGEST_FILE)
    except OSError as error:
        raise KeyFileError(
            f"the key file {path} cannot be read: {error.strerror}; check its name and its owner"
        ) from error
    forbidden = stat.S_IRWXG | stat.S_IRWXO
    if str(path.parent) == os.environ.get("CREDENTIALS_DIRECTORY"):
        forbidden &= ~stat.S_IRGRP  # there it is the mask of an access list that names the service's user alone
    if mode & forbidden:
        raise KeyFileError(
            f"the key file {path} is open to other users (mode {stat.S_IMODE(mode):04o}): run chmod 600 {path}"
        )
    secret = secret_in(text)
    if secret is None:
        raise KeyFileError(
            f"the key file {path} does not hold {2 * SECRET_BYTES} hex digits: bring the right file back"
        )
    return secret


def secret_in(text: bytes) -> bytes | None:
    """The 32 bytes that the text of a key file stands for; None where it is no key."""
    try:
        secret = bytes.fromhex(text.decode("ascii").strip())
    except ValueError:
        return None
    return secret if len(secret) == SECRET_BYTES else None


def write_secret(file: IO[bytes], secret: bytes) -> None:
    """Make `secret` all that the open file holds, for its owner alone, on the disk on return. Raises OSError."""
    file.seek(0)
    file.write(secret.hex().encode() + b"\n")
    file.truncate()
    file.flush()
    os.fchmod(file.fileno(), 0o600)
    os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Make the name of a new or renamed file durable. Raises OSError."""
    descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe by that name would wait for its other end
