"""Recordings: what is written is read again, what is no recording is said to be none."""

import contextlib
import os
import stat
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.transports.pcapng import (
    LARGEST_FILE,
    CaptureError,
    CaptureWriter,
    Piece,
    RecordedConnection,
    read_capture,
)

SECTION = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
NONCE = bytes(range(8))
PIECES = [Piece(10**18 + 1, to_host=False, data=b"hello"), Piece(2**63, to_host=True, data=bytes(range(256)))]


def recorded(file: Path) -> CaptureWriter:
    writer = CaptureWriter(file)
    for nonce in (NONCE, NONCE[::-1]):
        writer.begin(port="serial:/dev/ttyÄ0", device="shoe", nonce=nonce)
        for piece in PIECES:
            writer.put(piece)
    return writer


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "a.pcapng"
    writer = recorded(file)
    assert writer.size == file.stat().st_size
    writer.close()
    assert read_capture(file) == [
        RecordedConnection("serial:/dev/ttyÄ0", "shoe", nonce, PIECES) for nonce in (NONCE, NONCE[::-1])
    ]


def test_only_its_owner_may_read_a_recording_and_none_is_written_over(tmp_path: Path) -> None:
    file = tmp_path / "a.pcapng"
    before = os.umask(0)
    try:
        CaptureWriter(file).close()
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        CaptureWriter(file)


def test_the_blocks_are_those_of_the_format(tmp_path: Path) -> None:
    """Read by the words of the format, not by the reader of this project."""
    file = tmp_path / "a.pcapng"
    recorded(file).close()
    data, at, kinds = file.read_bytes(), 0, []
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert length % 4 == 0
        assert struct.unpack_from("<I", data, at + length - 4) == (length,)
        kinds.append(kind)
        if kind == 0x0A0D0D0A:
            assert struct.unpack_from("<IHHq", data, at + 8) == (0x1A2B3C4D, 1, 0, -1)
        if kind == 1:
            assert struct.unpack_from("<HHI", data, at + 8) == (147, 0, 0)
        if kind == 6:
            _, high, low, captured, length_on_wire = struct.unpack_from("<IIIII", data, at + 8)
            assert captured == length_on_wire
            assert high << 32 | low in [piece.at_ns for piece in PIECES]
        at += length
    assert kinds == [0x0A0D0D0A, 1, 6, 6] * 2


def test_a_recording_that_was_broken_off_is_good_up_to_there(tmp_path: Path) -> None:
    file = tmp_path / "a.pcapng"
    recorded(file).close()
    whole = file.read_bytes()
    for cut in range(1, 300):
        file.write_bytes(whole[:-cut])
        assert 1 <= len(read_capture(file)) <= 2
    assert len(read_capture(file)) == 2 if cut < len(whole) // 2 else 1


def test_the_other_byte_order_and_microseconds_are_read_too(tmp_path: Path) -> None:
    def block(kind: int, body: bytes) -> bytes:
        return struct.pack(">II", kind, len(body) + 12) + body + struct.pack(">I", len(body) + 12)

    comment = b"nonce " + NONCE.hex().encode()
    options = struct.pack(">HH", 1, len(comment)) + comment + bytes(-len(comment) % 4) + bytes(4)
    flags = struct.pack(">HHI", 2, 4, 1) + bytes(4)
    file = tmp_path / "big.pcapng"
    file.write_bytes(
        block(0x0A0D0D0A, struct.pack(">IHHq", 0x1A2B3C4D, 1, 0, -1))
        + block(1, struct.pack(">HHI", 147, 0, 0) + options)
        + block(5, bytes(12))
        + block(6, struct.pack(">IIIII", 0, 0, 7, 3, 3) + b"abc\0" + flags)
    )
    assert read_capture(file) == [RecordedConnection("", "", NONCE, [Piece(7000, to_host=True, data=b"abc")])]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is no pcapng file"),
        (b"\xd4\xc3\xb2\xa1", "is no pcapng file"),
        (SECTION, "holds no connection"),
        (SECTION + bytes(12), "is damaged 28 bytes from its start"),
        (SECTION + struct.pack("<III", 6, 12, 12), "is damaged"),
        (SECTION + struct.pack("<IIHHII", 1, 20, 147, 0, 0, 20), "lacks the nonce"),
    ],
)
def test_what_is_no_recording_is_said_to_be_none(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "a.pcapng"
    file.write_bytes(content)
    with pytest.raises(CaptureError, match=words):
        read_capture(file)
    with pytest.raises(CaptureError, match="cannot be read"):
        read_capture(tmp_path)


@given(st.binary(max_size=200), st.integers(0, 300))
def test_no_bytes_crash_the_reader(tmp_path_factory: pytest.TempPathFactory, junk: bytes, at: int) -> None:
    folder = tmp_path_factory.mktemp("junk")
    recorded(folder / "a.pcapng").close()
    whole = (folder / "a.pcapng").read_bytes()
    (folder / "b.pcapng").write_bytes(whole[:at] + junk + whole[at + len(junk) :])
    with contextlib.suppress(CaptureError):
        assert len(read_capture(folder / "b.pcapng")) <= 2


def test_a_full_file_says_so(tmp_path: Path) -> None:
    writer = CaptureWriter(tmp_path / "a.pcapng")
    assert not writer.full
    writer.size = LARGEST_FILE
    assert writer.full
    writer.close()


@pytest.mark.parametrize("kind", ["pipe", "endless", "large"])
def test_nothing_is_waited_for_and_nothing_read_without_end(tmp_path: Path, kind: str) -> None:
    file = tmp_path / kind
    match kind:
        case "pipe":
            os.mkfifo(file)
        case "endless":
            file.symlink_to("/dev/zero")
        case _:
            with file.open("wb") as sparse:
                sparse.truncate(2 * LARGEST_FILE)
    with pytest.raises(CaptureError, match=r"is no file, so it holds no recording|is larger than any recording"):
        read_capture(file)
