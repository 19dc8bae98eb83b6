"""The table's secret: one file of 64 hex digits, and the keys derived from it."""

import contextlib
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from firmware_bridge.secret_files import SECRET_BYTES, KeyFileError, read_secret, sync_folder, write_secret


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
            write_secret(file, secret)
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


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def _derived(secret: bytes, purpose: bytes, length: int) -> bytes:
    return HKDF(hashes.SHA256(), length, salt=None, info=b"firmware-bridge " + purpose).derive(secret)
