"""Reading facts: known ones exactly, unknown ones kept, bad ones told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.cards import Card
from drivers.facts import CardDrawn, CardExposed, SeatCount
from firmware_bridge.core.facts import KNOWN, BadFact, FloorRuling, UnknownFact, Wager, read_fact, write_fact


def test_every_fact_of_the_design_is_known() -> None:
    assert len(KNOWN) == 41
    assert KNOWN["operator", "ruling"] is FloorRuling
    assert KNOWN["operator", "card_exposed"] is CardExposed
    assert KNOWN["layout", "card_exposed"] is CardExposed


def test_a_card_drawn_is_read_and_written_back() -> None:
    line = b'{"fact":"card_drawn","at_ms":1600,"source":"shoe","draw":1,"card":"Qh","face":"down"}'
    fact = read_fact(line)
    assert fact == CardDrawn(at_ms=1600, draw=1, card=Card.QUEEN_OF_HEARTS, face="down")
    assert read_fact(write_fact(fact)) == fact


def test_the_dealers_place_and_unknown_fields() -> None:
    line = b'{"at_ms":1,"source":"layout","fact":"seat_count","seat":"dealer","cards":3,"new":[1]}'
    assert read_fact(line) == SeatCount(at_ms=1, seat="dealer", cards=3)


def test_missing_money_is_nothing() -> None:
    assert read_fact('{"at_ms":1,"source":"operator","fact":"wager","seat":2,"ante":500}') == Wager(
        at_ms=1, seat=2, ante=500
    )


def test_an_unknown_fact_is_kept() -> None:
    assert read_fact('{"at_ms":5,"source":"shoe","fact":"sang","tune":1}') == UnknownFact(
        at_ms=5, source="shoe", name="sang"
    )


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        "[]",
        "{}",
        '{"at_ms":1.5,"source":"shoe","fact":"cut_card"}',
        '{"at_ms":-1,"source":"shoe","fact":"cut_card"}',
        '{"at_ms":true,"source":"shoe","fact":"cut_card"}',
        '{"at_ms":1,"source":"shoe","fact":"card_drawn","draw":1,"card":"1h","face":"down"}',
        '{"at_ms":1,"source":"shoe","fact":"card_drawn","draw":1,"card":"Qh","face":"sideways"}',
        '{"at_ms":1,"source":"operator","fact":"wager","seat":1,"ante":-5}',
        '{"at_ms":1,"source":"operator","fact":"decision","seat":1,"play":1}',
        b'{"at_ms":1,"source":"\xff","fact":"cut_card"}',
        "[" * 100_000,
    ],
)
def test_a_bad_line_is_told_in_one_sentence(line: str | bytes) -> None:
    with pytest.raises(BadFact) as told:
        read_fact(line)
    assert "\n" not in str(told.value)


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(line: bytes) -> None:
    try:
        read_fact(line)
    except BadFact:
        return
