"""One secret in a file of its owner's alone."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from firmware_bridge.journal.keys import Keys, derive_keys, load_keys, read_keys
from firmware_bridge.secret_files import KeyFileError


def test_the_first_start_makes_a_secret_and_every_other_reads_it(tmp_path: Path) -> None:
    keys = load_keys(tmp_path / "key")
    assert load_keys(tmp_path / "key") == keys == read_keys(tmp_path / "key")
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    assert load_keys(tmp_path / "other") != keys


def test_a_making_cut_short_leaves_no_half_key(tmp_path: Path, mocker: MockerFixture) -> None:
    mocker.patch("os.fsync", side_effect=OSError(28, "No space left on device"))
    with pytest.raises(KeyFileError, match="cannot be made: No space"):
        load_keys(tmp_path / "key")
    assert list(tmp_path.iterdir()) == []


def test_two_first_starts_at_once_get_one_key(tmp_path: Path) -> None:
    both = threading.Barrier(8)

    def start(_: int) -> Keys:
        both.wait()
        return load_keys(tmp_path / "key")

    with ThreadPoolExecutor(8) as pool:
        keys = list(pool.map(start, range(8)))
    assert set(keys) == {read_keys(tmp_path / "key")}
    assert list(tmp_path.iterdir()) == [tmp_path / "key"]


def test_the_derived_values_do_not_change() -> None:
    keys = derive_keys(bytes(range(32)))
    assert keys.key_id == "ac32b9d8667c86fb"
    assert len({keys.table_key, keys.sealing_key, bytes(range(32))}) == 3
    assert len(keys.table_key) == len(keys.sealing_key) == 32


def test_a_key_is_not_shown(tmp_path: Path) -> None:
    keys = load_keys(tmp_path / "key")
    assert "table_key" not in repr(keys)
    assert "sealing_key" not in repr(keys)


def test_a_key_file_open_to_others_is_refused(tmp_path: Path) -> None:
    load_keys(tmp_path / "key")
    (tmp_path / "key").chmod(0o640)
    with pytest.raises(KeyFileError, match=r"mode 0640.*chmod 600"):
        load_keys(tmp_path / "key")


@pytest.mark.parametrize("text", [b"", b"abc", b"0" * 63, b"0" * 66, b"g" * 64, b"\xff" * 64])
def test_a_file_that_holds_no_key_is_told_and_kept(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "key").write_bytes(text)
    (tmp_path / "key").chmod(0o600)
    with pytest.raises(KeyFileError, match="64 hex digits"):
        load_keys(tmp_path / "key")
    assert (tmp_path / "key").read_bytes() == text


def test_a_missing_file_or_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(KeyFileError, match="cannot be read"):
        read_keys(tmp_path / "key")
    with pytest.raises(KeyFileError, match="cannot be made"):
        load_keys(tmp_path / "none" / "key")
