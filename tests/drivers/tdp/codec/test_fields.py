import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.tdp.codec.fields import U8, U16, U32, U64, BadMessage, FieldReader, text_bytes


def test_numbers_are_little_endian_and_read_one_after_the_other() -> None:
    reader = FieldReader(bytes(range(1, 16)) + b"\xff")
    assert (reader.u8(), reader.u16(), reader.u32()) == (0x01, 0x0302, 0x07060504)
    assert reader.u64() == 0x0F0E0D0C0B0A0908
    assert reader.rest == 1
    assert reader.take(1) == b"\xff"
    assert reader.rest == 0


@pytest.mark.parametrize(("field", "size"), [("u8", 1), ("u16", 2), ("u32", 4), ("u64", 8)])
def test_a_payload_that_ends_within_a_field_is_refused_and_nothing_is_taken(field: str, size: int) -> None:
    reader = FieldReader(bytes(size - 1))
    with pytest.raises(BadMessage, match=f"payload of {size - 1} bytes ends within a field"):
        getattr(reader, field)()
    assert reader.rest == size - 1


@given(
    small=st.integers(0, 2**8 - 1),
    short=st.integers(0, 2**16 - 1),
    word=st.integers(0, 2**32 - 1),
    long=st.integers(0, 2**64 - 1),
)
def test_what_is_packed_is_read_again(small: int, short: int, word: int, long: int) -> None:
    reader = FieldReader(U8.pack(small) + U16.pack(short) + U32.pack(word) + U64.pack(long))
    assert (reader.u8(), reader.u16(), reader.u32(), reader.u64()) == (small, short, word, long)


@given(text=st.text(max_size=40))
def test_a_text_is_read_again_or_has_no_room(text: str) -> None:
    if len(text.encode()) > 32:
        with pytest.raises(ValueError, match="longer than 32 bytes"):
            text_bytes(text, 32)
    else:
        reader = FieldReader(text_bytes(text, 32) + b"rest")
        assert reader.text(32) == text
        assert reader.rest == 4


@pytest.mark.parametrize(
    ("field", "words"),
    [(b"\x03ab", "ends within a field"), (b"\x02\xc3\x28", "not UTF-8"), (b"\x21" + b"a" * 33, "at most 32")],
)
def test_what_is_no_text_is_refused(field: bytes, words: str) -> None:
    with pytest.raises(BadMessage, match=words):
        FieldReader(field).text(32)
