from zlib import crc32

import pytest

from drivers.tdp.codec.fields import BadMessage
from drivers.tdp.codec.header import HEADER_SIZE, Header, session_id


def test_session_ids_differ_by_nonce_and_boot_and_are_never_zero() -> None:
    assert session_id(bytes(7) + b"\x01", bytes(8)) != session_id(bytes(7) + b"\x02", bytes(8))
    assert session_id(bytes(8), bytes(7) + b"\x01") != session_id(bytes(8), bytes(7) + b"\x02")
    assert session_id(bytes.fromhex("0102030405060708"), bytes.fromhex("b007000000000001")) == 0x1BC9F895


def test_the_header_byte_by_byte() -> None:
    header = Header(
        to_host=True,
        message_type=0x06,
        session=0x04030201,
        sequence=0x0605,
        acknowledgement=0x0807,
        authenticated=True,
        major=1,
        minor=2,
    )
    assert header.to_bytes() == bytes((0x12, 0xC0, 0x06, 1, 2, 3, 4, 5, 6, 7, 8))
    assert Header.from_bytes(header.to_bytes() + b"payload") == header
    assert Header(to_host=False, message_type=1, session=0).to_bytes()[1] == 0


def test_reserved_bits_are_not_looked_at() -> None:
    assert Header.from_bytes(bytes((0x10, 0x3F, 1)) + bytes(8)) == Header(to_host=False, message_type=1, session=0)


def test_a_body_without_a_whole_header_is_refused() -> None:
    for size in range(HEADER_SIZE):
        with pytest.raises(BadMessage, match=f"body of {size} bytes is shorter than a header"):
            Header.from_bytes(bytes(size))
    assert Header.from_bytes(bytes(HEADER_SIZE)).session == 0


def test_no_session_has_number_0() -> None:
    both = bytes.fromhex("0102030405060708090a0b0cc8cc86ff")
    assert crc32(both) == 0
    assert session_id(both[:8], both[8:]) == 1
