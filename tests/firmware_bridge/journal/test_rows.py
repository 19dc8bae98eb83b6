import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.facts import CardDrawn
from firmware_bridge.core.events import BetsClosed, RoundVoid
from firmware_bridge.core.facts import NoMoreBets, UnknownFact, read_fact
from firmware_bridge.journal.rows import checksum, encoded, event_body, fact_body, fact_source_and_name


@pytest.mark.parametrize(
    ("fact", "source", "name"),
    [
        (NoMoreBets(at_ms=1), "operator", "no_more_bets"),
        (CardDrawn(at_ms=1, draw=1, card=None, face="down"), "shoe", "card_drawn"),
        (UnknownFact(at_ms=1, source="robot", name="hum"), "robot", "hum"),
    ],
)
def test_a_fact_is_stored_with_source_and_name_and_read_again(fact: NoMoreBets, source: str, name: str) -> None:
    assert fact_source_and_name(fact) == (source, name)
    assert read_fact(fact_body(fact)) == fact


def test_events_are_encoded_once_and_in_order() -> None:
    events = (BetsClosed(seats=(1, 2), seq=4), RoundVoid(reason=None, seq=5))
    both = encoded(events)
    assert tuple(one.event for one in both) == events
    assert [one.body for one in both] == [event_body(event) for event in events]
    assert msgspec.json.decode(both[0].body)["seats"] == [1, 2]


@given(body=st.binary(min_size=1, max_size=60), bit=st.integers(0, 7), at=st.integers(0, 59))
def test_a_flipped_bit_is_seen(body: bytes, bit: int, at: int) -> None:
    damaged = bytearray(body)
    damaged[at % len(body)] ^= 1 << bit
    assert checksum((1, "shoe"), bytes(damaged)) != checksum((1, "shoe"), body)


def test_a_body_belongs_to_the_columns_of_its_row() -> None:
    sums = {
        checksum(key, b"body") for key in ((1, "shoe", None), (2, "shoe", None), (1, "shoe", "k"), ("1", "shoe", None))
    }
    assert len(sums) == 4
