import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers import facts
from drivers.cards import Card
from drivers.facts import DeviceFact
from drivers.tdp.codec.fact_codec import FactCode
from drivers.tdp.codec.fact_messages import FactMessage
from drivers.tdp.codec.fields import BadMessage
from tests.drivers.tdp.strategies import FACTS, U32


@given(number=U32, fact=FACTS)
def test_every_fact_comes_back(number: int, fact: DeviceFact) -> None:
    message = FactMessage.of(number, fact)
    assert message.fact() == (fact, 0)
    assert message.clock_ms == fact.at_ms


@given(code=st.integers(0, 255), clock_ms=U32, fields=st.binary(max_size=12))
def test_fields_of_a_fact_are_read_whole_or_refused(code: int, clock_ms: int, fields: bytes) -> None:
    message = FactMessage(number=0, clock_ms=clock_ms, code=code, fields=fields)
    try:
        fact, extra = message.fact()
    except BadMessage:
        return
    written = FactMessage.of(0, fact)
    assert written.code == code
    assert written.fields == fields[: len(fields) - extra]


def test_a_face_down_card_is_in_no_error_s_text() -> None:
    with pytest.raises(BadMessage) as error:
        FactMessage(number=1, clock_ms=1, code=FactCode.CARD_DRAWN, fields=b"\x01\x00\x00\x00\x2a\x07").fact()
    assert str(Card("Qh")) not in str(error.value)
    assert "42" not in str(error.value)


@pytest.mark.parametrize(
    "fact",
    [
        facts.SeatCount(at_ms=1, seat=256, cards=1),
        facts.SeatCount(at_ms=1, seat=0, cards=1),
        facts.SeatCount(at_ms=1, seat=1, cards=10_001),
        facts.GroupTaken(at_ms=1, group=2**32),
        facts.ShuffleCompleted(at_ms=1, cards=52, mode="shuffle", deck=""),
        facts.ShuffleCompleted(at_ms=1, cards=52, mode="shuffle", deck="é" * 17),
    ],
)
def test_a_fact_without_room_on_the_wire_is_refused(fact: DeviceFact) -> None:
    with pytest.raises(ValueError, match=r"outside|longer|fit|empty"):
        FactMessage.of(1, fact)


@pytest.mark.parametrize(
    ("code", "fields", "words"),
    [
        (FactCode.STUB_COUNTED, (10_001).to_bytes(2, "little"), "10001"),
        (FactCode.SHUFFLE_COMPLETED, b"\x34\x00\x02\x00", "mode"),
        (FactCode.SHUFFLE_COMPLETED, b"\x34\x00\x00\x21" + b"a" * 33, "at most 32"),
        (FactCode.SHUFFLE_COMPLETED, b"\x34\x00\x00\x01\xff", "UTF-8"),
        (FactCode.CARD_DRAWN, b"\x01\x00\x00\x00\x34\x00", "no such card"),
        (FactCode.CARD_DRAWN, b"\x01\x00\x00\x00\x00\x02", "face"),
    ],
)
def test_values_outside_the_tables_are_refused(code: int, fields: bytes, words: str) -> None:
    with pytest.raises(BadMessage, match=words):
        FactMessage(number=1, clock_ms=1, code=code, fields=fields).fact()
