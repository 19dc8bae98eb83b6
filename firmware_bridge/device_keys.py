"""The keys of paired devices: a file each, of 64 hex digits, that nobody but the daemon may read."""

import contextlib
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, TypeAlias

from firmware_bridge.config import DeviceConfig
from firmware_bridge.journal.errors import KeyFileError
from firmware_bridge.journal.keys import LONGEST_FILE, SECRET_BYTES, read_secret, secret_in
from firmware_bridge.journal.schema import sync_folder

Keep: TypeAlias = Callable[[bytes], None]


def device_key(device: DeviceConfig) -> bytes | None:
    """The key that `device` is configured with, 32 bytes; None for one without. Raises KeyFileError."""
    if device.key is None:
        return None
    path = Path(device.key)
    try:
        return read_secret(path)
    except KeyFileError as error:
        if not isinstance(error.__cause__, FileNotFoundError):
            raise
        raise KeyFileError(
            f"the device {device.name} is to be talked to with the key of {path}, and there is no such file: "
            f"pair it (firmware-bridge pair {device.name}), or bring the file back"
        ) from error


@contextlib.contextmanager
def place_for_key(path: Path) -> Iterator[Keep]:
    """Take the room for a key at `path` before a device is given it; `keep` then puts it there, whole or not at all.

    Whatever else lies there stays: only a key, or an empty file, makes way for another. A link is followed. The entry
    and `keep` raise KeyFileError; after that of the entry nothing has changed.
    """
    path = Path(os.path.realpath(path))
    _refuse_if_taken(path)
    half_made = path.with_name(f"{path.name}.{secrets.token_hex(4)}")

    def keep(key: bytes) -> None:
        try:
            _fill(half_made, "r+b", key)
            half_made.replace(path)
            sync_folder(path)
        except OSError as error:
            raise _unwritable(path, error) from error

    try:
        try:
            _fill(half_made, "xb", bytes(SECRET_BYTES))
        except OSError as error:
            raise _unwritable(path, error) from error
        yield keep
    finally:
        with contextlib.suppress(OSError):
            half_made.unlink()


def _refuse_if_taken(path: Path) -> None:
    """Raises KeyFileError where something lies at `path` that is not to be lost."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise KeyFileError(f"no key can be put at {path}, which is no file: name another in the configuration")
        with path.open("rb") as file:
            text = file.read(LONGEST_FILE)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unwritable(path, error) from error
    if text and secret_in(text) is None:
        raise KeyFileError(
            f"no key can be put at {path}, which holds something else: name another file in the configuration, "
            "or move this one away"
        )


def _fill(path: Path, mode: Literal["xb", "r+b"], key: bytes) -> None:
    """The key as the text of a file of nobody else's, on the disk on return."""
    with open(path, mode, opener=_open_private) as file:
        file.write(key.hex().encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _unwritable(path: Path, error: OSError) -> KeyFileError:
    return KeyFileError(
        f"the key file {path} cannot be written: {error.strerror}; check the device's key in the configuration, "
        "its folder, its disk and who may write there"
    )


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)
