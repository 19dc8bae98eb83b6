import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.secret_files import KeyFileError, read_secret, secret_in, sync_folder, write_secret

SECRET = bytes(range(32))


def written(file: Path, text: bytes = SECRET.hex().encode(), mode: int = 0o600) -> Path:
    file.write_bytes(text)
    file.chmod(mode)
    return file


@given(secret=st.binary(min_size=32, max_size=32))
def test_32_bytes_are_64_hex_digits(secret: bytes) -> None:
    assert secret_in(secret.hex().encode()) == secret_in(b" " + secret.hex().upper().encode() + b"\r\n") == secret


@pytest.mark.parametrize("text", [b"", b"5a" * 31, b"5a" * 33, b"5" * 63, b"xy" * 32, b"\xff" * 64, "é".encode() * 32])
def test_anything_else_is_no_secret(text: bytes, tmp_path: Path) -> None:
    assert secret_in(text) is None
    with pytest.raises(KeyFileError, match="does not hold 64 hex digits: bring the right file back"):
        read_secret(written(tmp_path / "key", text))


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o700])
def test_a_file_for_its_owner_alone_is_read(mode: int, tmp_path: Path) -> None:
    assert read_secret(written(tmp_path / "key", mode=mode)) == SECRET


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o601, 0o610])
def test_a_file_that_others_may_touch_is_refused_with_the_remedy(mode: int, tmp_path: Path) -> None:
    file = written(tmp_path / "key", mode=mode)
    with pytest.raises(KeyFileError, match=rf"\(mode {mode:04o}\): run chmod 600 {file}"):
        read_secret(file)


def test_a_credential_may_be_read_by_its_access_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    assert read_secret(written(tmp_path / "key", mode=0o440)) == SECRET
    with pytest.raises(KeyFileError, match="mode 0444"):
        read_secret(written(tmp_path / "open", mode=0o444))


def test_what_is_not_there_and_what_is_no_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(KeyFileError, match="cannot be read: No such file") as missing:
        read_secret(tmp_path / "none")
    assert isinstance(missing.value.__cause__, FileNotFoundError)
    os.mkfifo(tmp_path / "pipe", 0o600)
    for name in (".", "pipe"):
        with pytest.raises(KeyFileError):
            read_secret(tmp_path / name)


def test_a_secret_is_written_over_what_was_there_and_closed_to_others(tmp_path: Path) -> None:
    file = written(tmp_path / "key", b"x" * 500, 0o644)
    with file.open("r+b") as opened:
        write_secret(opened, SECRET)
    assert file.read_bytes() == SECRET.hex().encode() + b"\n"
    assert file.stat().st_mode & 0o777 == 0o600
    assert read_secret(file) == SECRET


def test_a_folder_is_synchronised_by_the_name_of_a_file_in_it(tmp_path: Path) -> None:
    sync_folder(tmp_path / "key")
    with pytest.raises(OSError, match="No such file"):
        sync_folder(tmp_path / "none" / "key")
