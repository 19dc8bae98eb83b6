"""The bytes of HELLO, HELLO_ANSWER, START and STARTED, offset by offset (drivers/tdp/spec.md sections 5.1 to 5.4)."""

import pytest

from drivers.tdp.codec.fields import BadMessage, FieldReader
from drivers.tdp.codec.session_messages import Hello, HelloAnswer, Start, Started

NONCE = bytes(range(8))
BOOT = bytes(range(16, 24))
ANSWER = HelloAnswer(
    nonce=NONCE,
    attempt=0x0201,
    boot=BOOT,
    clock_ms=0x0807060504030201,
    kind=2,
    lowest_major=1,
    highest_major=3,
    minor=4,
    capabilities=0x04030201,
    decks=8,
    ring_size=0x0000_1000,
    first_sequence=0xFFFE,
    key_id=0xAABBCCDD,
    device_nonce=b"n" * 8,
    firmware_hash=b"h" * 32,
    vendor="V",
    model="",
    serial_number="S" * 32,
    firmware_version="é",
)


def test_hello() -> None:
    hello = Hello(nonce=NONCE, attempt=0x0201, lowest_major=1, highest_major=2, key_id=0x04030201)
    assert hello.to_bytes() == NONCE + bytes((1, 2, 1, 2, 1, 2, 3, 4))
    assert Hello.read(FieldReader(hello.to_bytes())) == hello


def test_hello_answer() -> None:
    payload = ANSWER.to_bytes()
    fields = {
        0: NONCE,
        8: b"\x01\x02",
        10: BOOT,
        18: bytes(range(1, 9)),
        26: b"\x02\x01\x03\x04",
        30: b"\x01\x02\x03\x04",
        34: b"\x08",
        35: b"\x00\x10\x00\x00",
        39: b"\xfe\xff",
        41: b"\xdd\xcc\xbb\xaa",
        45: b"n" * 8,
        53: b"h" * 32,
        85: bytes(3),
        88: b"\x01V\x00\x20" + b"S" * 32 + b"\x02\xc3\xa9",
    }
    assert payload == b"".join(fields[offset] for offset in sorted(fields))
    assert all(payload[offset : offset + len(field)] == field for offset, field in fields.items())
    assert HelloAnswer.read(FieldReader(payload)) == ANSWER


def test_reserved_bytes_of_an_answer_may_be_anything() -> None:
    payload = bytearray(ANSWER.to_bytes())
    payload[85:88] = b"\xff\xff\xff"
    assert HelloAnswer.read(FieldReader(bytes(payload))) == ANSWER


def test_a_name_of_33_bytes_has_no_room_and_is_not_read() -> None:
    long = bytearray(ANSWER.to_bytes())
    long[88:90] = b"\x21" + b"V" * 33
    with pytest.raises(BadMessage, match="text of 33 bytes where at most 32 are allowed"):
        HelloAnswer.read(FieldReader(bytes(long)))


@pytest.mark.parametrize(
    ("resume", "payload"),
    [
        (None, bytes(13)),
        ((BOOT, 0xFFFFFFFF), b"\x01" + BOOT + b"\xff\xff\xff\xff"),
        ((BOOT, 0), b"\x01" + BOOT + bytes(4)),
    ],
)
def test_start(resume: tuple[bytes, int] | None, payload: bytes) -> None:
    assert Start(resume=resume).to_bytes() == payload
    assert Start.read(FieldReader(payload)).resume == resume


def test_fields_of_a_start_that_are_not_given_mean_nothing() -> None:
    assert Start.read(FieldReader(b"\x02" + BOOT + b"\x01\x00\x00\x00")).resume is None
    assert Start.read(FieldReader(b"\x03" + BOOT + b"\x01\x00\x00\x00")).resume == (BOOT, 1)


@pytest.mark.parametrize("gap", [True, False])
def test_started(gap: bool) -> None:  # noqa: FBT001
    started = Started(gap=gap, first_number=0x04030201)
    assert started.to_bytes() == bytes((gap, 1, 2, 3, 4))
    assert Started.read(FieldReader(bytes((gap | 0xFE, 1, 2, 3, 4)))) == started
