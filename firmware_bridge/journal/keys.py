"""The table's secret: one file of 64 hex digits, and the keys derived from it."""

import contextlib
import os
import secrets
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from firmware_bridge.journal.errors import KeyFileError
from firmware_bridge.journal.schema import sync_folder

SECRET_BYTES: Final = 32
LONGEST_FILE: Final = 1024
"""Bytes that are read of a key file: far more than a key has."""


@dataclass(frozen=True, slots=True)
class Keys:
    """`key_id` names the secret without telling it; both keys are 32 bytes and are never shown."""

    key_id: str
    table_key: bytes = field(repr=False)
    sealing_key: bytes = field(repr=False)


def derive_keys(secret: bytes) -> Keys:
    """Three independent values from the 32 bytes of the key file (HKDF-SHA-256)."""
    return Keys(
        key_id=_derived(secret, b"key id", 8).hex(),
        table_key=_derived(secret, b"table key", 32),
        sealing_key=_derived(secret, b"sealing key", 32),
    )


def load_keys(path: Path) -> Keys:
    """The keys of the file at `path`, which is made with a fresh secret where there is none.

    Raises KeyFileError.
    """
    try:
        return read_keys(path)
    except KeyFileError as error:
        if not isinstance(error.__cause__, FileNotFoundError):
            raise
    secret = secrets.token_bytes(SECRET_BYTES)
    half_made = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        with open(half_made, "xb", opener=_open_private) as file:
            file.write(secret.hex().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        path.hardlink_to(half_made)  # unlike a rename, never over a file that another start has made meanwhile
        sync_folder(path)
    except FileExistsError:
        return read_keys(path)
    except OSError as error:
        raise KeyFileError(
            f"the key file {path} cannot be made: {error.strerror}; check [journal] key, its folder and its disk"
        ) from error
    finally:
        with contextlib.suppress(OSError):
            half_made.unlink()
    return derive_keys(secret)


def read_keys(path: Path) -> Keys:
    """The keys of an existing file. Raises KeyFileError."""
    return derive_keys(read_secret(path))


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


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe by that name would wait for its other end


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def _derived(secret: bytes, purpose: bytes, length: int) -> bytes:
    return HKDF(hashes.SHA256(), length, salt=None, info=b"firmware-bridge " + purpose).derive(secret)
