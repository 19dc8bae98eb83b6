"""The keys of paired devices: a file each, of 64 hex digits, that nobody but the daemon may read."""

import contextlib
import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TypeAlias

from firmware_bridge.config import DeviceConfig
from firmware_bridge.secret_files import (
    LONGEST_FILE,
    SECRET_BYTES,
    KeyFileError,
    read_secret,
    secret_in,
    sync_folder,
    write_secret,
)

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
    room = path.with_name(f"{path.name}.new")
    for place in (path, room):
        _refuse_if_taken(place)
    kept = False

    def keep(key: bytes) -> None:
        nonlocal kept
        try:
            write_secret(file, key)
            room.replace(path)
            kept = True
            sync_folder(path)
        except OSError as error:
            raise _unwritable(path, error) from error

    with _room(room, path) as file:
        try:
            yield keep
        finally:
            if not kept:
                with contextlib.suppress(OSError):
                    room.unlink()


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


def _room(room: Path, path: Path) -> IO[bytes]:
    """The file at `room`, filled and held; what a pairing that was killed left there is taken over.

    Raises KeyFileError.
    """
    try:
        file = open(room, "r+b", buffering=0, opener=_open_private)  # noqa: SIM115  the caller closes it
    except OSError as error:
        raise _unwritable(path, error) from error
    if not _held(file, room):
        file.close()
        raise KeyFileError(f"a key for {path} is being made already: wait until that pairing is over")
    try:
        write_secret(file, bytes(SECRET_BYTES))
    except OSError as error:
        file.close()
        with contextlib.suppress(OSError):
            room.unlink()
        raise _unwritable(path, error) from error
    return file


def _held(file: IO[bytes], room: Path) -> bool:
    """Whether the room is this process's alone, and has neither become the key meanwhile nor been given up."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(file.fileno()), room.lstat())
    except OSError:
        return False


def _unwritable(path: Path, error: OSError) -> KeyFileError:
    return KeyFileError(
        f"the key file {path} cannot be written: {error.strerror}; check the device's key in the configuration, "
        "its folder, its disk and who may write there"
    )


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
