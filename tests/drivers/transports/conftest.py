from collections.abc import Iterator
from pathlib import Path

import pytest

from drivers.transports.pcapng import CaptureWriter, Piece
from tests.drivers.transports.ends.pty_end import Host, PtyEnd

MS = 1_000_000
FIRST, SECOND = b"nonce--1", b"nonce--2"


@pytest.fixture
def pty() -> Iterator[PtyEnd]:
    end = PtyEnd()
    yield end
    end.hang_up()


@pytest.fixture
def host() -> Host:
    return Host()


@pytest.fixture
def recording(tmp_path: Path) -> str:
    file = tmp_path / "a.pcapng"
    writer = CaptureWriter(file)
    writer.begin(port="serial:/dev/x", device="shoe", nonce=FIRST)
    for at_ms, to_host, data in ((0, False, b"hello"), (1, True, b"one"), (2, False, b"go on"), (3, True, b"two")):
        writer.put(Piece(10**18 + at_ms * MS, to_host, data))
    writer.begin(port="serial:/dev/x", device="shoe", nonce=SECOND)
    writer.put(Piece(10**18 + 100 * MS, to_host=True, data=b"three"))
    writer.close()
    return f"replay:{file}"
