import pytest

from drivers.cards import Card
from firmware_bridge.core.events import Payment
from firmware_bridge.core.terms import HandCategory
from firmware_bridge.wording.words import (
    at_place,
    card_list,
    hand_name,
    money,
    payment_words,
    place_name,
    plain,
    seat_list,
    signed_money,
    stakes,
    table_time,
)


def cards(text: str) -> list[Card | None]:
    return [None if card == "??" else Card(card) for card in text.split()]


@pytest.mark.parametrize(
    ("minor", "text", "signed"),
    [
        (0, "0.00", "0.00"),
        (5, "0.05", "+0.05"),
        (1050, "10.50", "+10.50"),
        (-1, "-0.01", "-0.01"),
        (-1050, "-10.50", "-10.50"),
    ],
)
def test_money_is_shown_in_major_units(minor: int, text: str, signed: str) -> None:
    assert money(minor) == text
    assert signed_money(minor) == signed


@pytest.mark.parametrize(
    ("at_ms", "text"), [(0, "0:00:00.000"), (3_723_004, "1:02:03.004"), (360_000_000, "100:00:00.000")]
)
def test_the_tables_time(at_ms: int, text: str) -> None:
    assert table_time(at_ms) == text


def test_places() -> None:
    assert (place_name("dealer"), place_name(4)) == ("dealer", "seat 4")
    assert (at_place(None), at_place("dealer"), at_place(2)) == ("", " at the dealer", " at seat 2")
    assert (seat_list([]), seat_list([1]), seat_list((1, 2, 4))) == ("no seats", "seats 1", "seats 1, 2, 4")


def test_wagers_of_nothing_are_left_out() -> None:
    assert plain("tip_pair_plus") == "tip pair plus"
    assert stakes({"ante": 500, "pair_plus": 0, "six_card": 25}) == "ante 5.00, six card 0.25"
    assert stakes({}) == ""


def test_cards_are_listed_high_to_low_and_the_unread_last() -> None:
    assert card_list(cards("2c Kh 8d")) == "Kh 8d 2c"
    assert card_list(cards("?? 2c ?? As")) == "As 2c ?? ??"
    assert card_list([]) == ""


@pytest.mark.parametrize(
    ("category", "held", "name"),
    [
        (HandCategory.PAIR, "Qh Qd 2c", "pair of queens"),
        (HandCategory.PAIR, "Ah 6d 6c", "pair of sixes"),
        (HandCategory.THREE_OF_A_KIND, "9h 9d 9c", "three nines"),
        (HandCategory.STRAIGHT, "Ah 2d 3c", "straight, three high"),
        (HandCategory.STRAIGHT_FLUSH, "Ah Kh Qh", "straight flush, ace high"),
        (HandCategory.FLUSH, "Kh 8h 2h", "flush, king high"),
        (HandCategory.FLUSH, "Ah 3h 2h", "flush, ace high"),
        (HandCategory.HIGH_CARD, "Jh 8d 2c", "jack high"),
        (HandCategory.HIGH_CARD, "Jh ?? 2c", "high card"),
        (HandCategory.PAIR, "Qh Qd", "pair"),
    ],
)
def test_a_hand_has_a_name(category: HandCategory, held: str, name: str) -> None:
    assert hand_name(category, cards(held)) == name


@pytest.mark.parametrize(
    ("result", "paid", "words"),
    [
        ("win", 1000, "pair plus +10.00"),
        ("bonus", 500, "pair plus +5.00"),
        ("lose", 0, "pair plus -2.50"),
        ("push", 0, "pair plus push"),
        ("returned", 0, "pair plus 2.50 returned"),
    ],
)
def test_what_became_of_a_wager(result: str, paid: int, words: str) -> None:
    payment = Payment(wager="pair_plus", stake=250, result=result, paid=paid)  # type: ignore[arg-type]
    assert payment_words(payment) == words
