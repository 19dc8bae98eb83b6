"""The keys of paired devices: a file each, of 64 hex digits, that nobody but the daemon may read."""

import contextlib
import os
import secrets
from pathlib import Path

from firmware_bridge.config import DeviceConfig
from firmware_bridge.journal.errors import KeyFileError
from firmware_bridge.journal.keys import read_secret
from firmware_bridge.journal.schema import sync_folder


def device_key(device: DeviceConfig) -> bytes | None:
    """The key that `device` is configured with, 32 bytes; None for one without. Raises KeyFileError."""
    if device.key is None:
        return None
    path = Path(device.key)
    if not path.exists():
        raise KeyFileError(
            f"the device {device.name} is to be talked to with the key of {path}, and there is no such file: "
            f"pair it (firmware-bridge pair {device.name}), or bring the file back"
        )
    return read_secret(path)


def write_device_key(path: Path, key: bytes) -> None:
    """Put `key` into the file at `path`, mode 0600, whole or not at all, over any before. Raises KeyFileError."""
    half_made = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        with open(half_made, "xb", opener=_open_private) as file:
            file.write(key.hex().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        half_made.replace(path)
        sync_folder(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            half_made.unlink()
        raise KeyFileError(
            f"the key file {path} cannot be written: {error.strerror}; check the device's key in the configuration, "
            "its folder and its disk"
        ) from error


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)
