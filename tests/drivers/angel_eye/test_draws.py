"""What telegrams mean: draws once each, everything else apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.angel_eye.draws import (
    DRAWS_REMEMBERED,
    CuttingCard,
    Drawn,
    Draws,
    LockState,
    Meaning,
    Missed,
    Noticed,
)
from drivers.angel_eye.telegrams import Spoilt, Telegram
from drivers.cards import FULL_DECK, RANKS, Card
from tests.drivers.angel_eye.wire import telegram

UNREAD = Drawn(None)


def read(*telegrams: Telegram) -> list[Meaning]:
    draws = Draws()
    return [meaning for one in telegrams if (meaning := draws.take(one)) is not None]


def numbered(*told: tuple[str, str]) -> list[Meaning]:
    """Code and payload of each; sequences as they come."""
    return read(*(telegram("0123456789ABCDEFGHIJKLMNOPQRSTUV"[n], *one) for n, one in enumerate(told)))


@pytest.mark.parametrize("card", FULL_DECK)
def test_every_card_is_read(card: Card) -> None:
    suit = {"d": 1, "c": 2, "s": 3, "h": 4}[str(card)[1]]
    rank = 1 if str(card)[0] == "A" else RANKS.index(str(card)[0]) + 2
    assert numbered(("D", f"81{0x80 | suit << 4 | rank:02X}")) == [Drawn(card)]


@pytest.mark.parametrize("face", ["80", "90", "88", "8D", "9E", "9F", "D1", "E1", "F1", "FF"])
def test_what_is_no_card_is_an_unread_card(face: str) -> None:
    assert numbered(("D", f"81{face}")) == [UNREAD]


def test_copies_are_one_draw_and_the_same_card_again_is_another() -> None:
    eight = telegram("1", "D", "81B8")
    told = [eight, eight, eight, telegram("2", "D", "82B8"), telegram("1", "D", "83B8")]
    assert read(*told) == [Drawn(Card("8s"))] * 3


def test_copies_between_which_the_shoe_answered_are_one_draw() -> None:
    eight, locked = telegram("1", "D", "81B8"), telegram("2", "L", "81")
    assert read(eight, locked, locked, locked, eight, eight) == [Drawn(Card("8s")), LockState(locked=True)]


def test_a_sequence_that_comes_round_again_is_a_new_telegram() -> None:
    others = [telegram(sequence, "D", f"8{sequence}B8") for sequence in "2345"]
    assert len(read(telegram("1", "C"), *others, telegram("1", "C"))) == 6


def test_copies_that_differ_are_a_gap_and_no_second_draw() -> None:
    told = read(telegram("1", "D", "81B8"), telegram("1", "D", "81B9"))
    assert told == [Drawn(Card("8s")), Missed("two copies of one telegram differ")]


@pytest.mark.parametrize("index", range(16))
@pytest.mark.parametrize("target", [0, 1])
def test_player_and_banker_are_draws_whatever_the_index(target: int, index: int) -> None:
    assert numbered(("D", f"{0x80 | target << 4 | index:02X}B8")) == [Drawn(Card("8s"))]


@pytest.mark.parametrize(
    ("code", "target", "counter"),
    [
        ("D", 2, "drawn_as_burn_card"),
        ("D", 4, "drawn_as_first_card"),
        ("D", 5, "drawn_as_burn_count"),
        ("D", 3, "drawn_for_another_purpose"),
        ("D", 7, "drawn_for_another_purpose"),
        ("d", 0, "drawn_in_lock_mode"),
        ("d", 1, "drawn_in_error_mode"),
        ("d", 2, "drawn_in_setting_mode"),
        ("d", 5, "drawn_in_another_mode"),
    ],
)
def test_other_cards_are_told_and_counted_and_never_dealt(code: str, target: int, counter: str) -> None:
    draws = Draws()
    assert isinstance(draws.take(telegram("1", code, f"{0x80 | target << 4:02X}B8")), Noticed)
    assert draws.counters == {counter: 1}


@pytest.mark.parametrize("error", ["81", "C1", "86", "C6"])
def test_an_error_of_reading_is_an_unread_draw(error: str) -> None:
    assert numbered(("D", "81B8"), ("E", error), ("D", "83C1")) == [Drawn(Card("8s")), UNREAD, Drawn(Card("Ah"))]


def test_an_error_and_a_draw_without_a_card_are_one_draw_in_either_order() -> None:
    assert numbered(("E", "C1"), ("D", "8180")) == [UNREAD]
    assert numbered(("D", "8180"), ("E", "C1")) == [UNREAD]
    assert numbered(("E", "C1"), ("M", ""), ("P", ""), ("D", "8180")) == [UNREAD]
    assert numbered(("E", "C1"), ("D", "8180"), ("D", "8280")) == [UNREAD] * 2
    assert numbered(("E", "C1"), ("D", "8180"), ("E", "C1")) == [UNREAD] * 2
    assert numbered(("E", "C1"), ("e", "81"), ("D", "8180")) == [UNREAD] * 2
    assert numbered(("E", "C1"), ("D", "81B8")) == [UNREAD, Drawn(Card("8s"))]


@pytest.mark.parametrize(
    ("error", "words"),
    [("82", "overdraw"), ("83", "button"), ("84", "reverse at exit"), ("85", "reverse midway"), ("BF", "not known")],
)
def test_other_errors_are_told_and_are_no_draws(error: str, words: str) -> None:
    (meaning,) = numbered(("E", error))
    assert isinstance(meaning, Noticed)
    assert words in meaning.what


def test_a_draw_sent_again_is_nothing_new_or_a_gap() -> None:
    assert numbered(("D", "81B8"), ("R", "81B8"), ("D", "82C1")) == [Drawn(Card("8s")), Drawn(Card("Ah"))]
    assert isinstance(numbered(("D", "81B8"), ("R", "82C1"))[1], Missed)
    assert isinstance(numbered(("R", "81B8"))[0], Missed)
    assert numbered(("R", "A1B8")) == []


def test_a_draw_sent_again_with_another_card_is_another_draw() -> None:
    """Indices may begin anew without a word, or run for the player and the banker apart."""
    assert isinstance(numbered(("D", "81B8"), ("R", "81C1"))[1], Missed)
    assert isinstance(numbered(("D", "81B8"), ("R", "91C1"))[1], Missed)
    assert numbered(("D", "81B8"), ("D", "91C1"), ("R", "91C1"), ("R", "81B8")) == [
        Drawn(Card("8s")),
        Drawn(Card("Ah")),
    ]
    assert numbered(("D", "8180"), ("R", "81C1")) == [UNREAD]
    assert numbered(("D", "81C1"), ("R", "8180")) == [Drawn(Card("Ah"))]


def test_an_index_that_comes_round_again_does_not_hide_a_missed_draw() -> None:
    draws = [("D", f"{0x80 | index:02X}B8") for index in (*range(16), 0, 1)]
    assert len(draws) > DRAWS_REMEMBERED
    assert isinstance(numbered(*draws, ("R", "82B8"))[-1], Missed)
    assert isinstance(numbered(*draws, ("R", "83B8"))[-1], Drawn)


@pytest.mark.parametrize("divide", [("G", "91"), ("S", "")])
def test_indices_count_anew_after_a_result_and_a_start(divide: tuple[str, str]) -> None:
    assert isinstance(numbered(("D", "81B8"), divide, ("R", "81B8"))[-1], Missed)


def test_a_start_in_the_middle_is_a_gap_and_its_copies_are_not() -> None:
    start = telegram("C", "S")
    assert read(start, start, start) == []
    assert read(telegram("1", "D", "81B8"), start, start, start)[1:] == [Missed("the shoe began anew")]
    assert read(start, telegram("D", "P"), start) == [Missed("the shoe began anew")]
    assert read(telegram("C", "D", "81B8"), start, telegram("D", "D", "82C1")) == [
        Drawn(Card("8s")),
        Missed("the shoe began anew"),
        Drawn(Card("Ah")),
    ]


def test_the_cutting_card_and_the_lock() -> None:
    assert numbered(("C", ""), ("L", "81"), ("L", "80"), ("L", "FE")) == [
        CuttingCard(),
        LockState(locked=True),
        LockState(locked=False),
        LockState(locked=False),
    ]


@pytest.mark.parametrize(("code", "payload"), [("P", ""), ("G", "91"), ("G", ""), ("M", "B0B1B0B0B0B1"), ("e", "81")])
def test_what_means_nothing_here_is_counted(code: str, payload: str) -> None:
    draws = Draws()
    assert draws.take(telegram("1", code, payload)) is None
    assert sum(draws.counters.values()) == 1


@pytest.mark.parametrize("payload", ["", "81", "81B8B8", "0138", "8138", "01B8"])
@pytest.mark.parametrize("code", ["D", "R"])
def test_a_draw_that_cannot_be_understood_is_a_gap(code: str, payload: str) -> None:
    assert numbered((code, payload), ("D", "82C1")) == [Missed("a telegram cannot be understood"), Drawn(Card("Ah"))]


def test_damaged_copies_of_a_whole_telegram_are_a_gap() -> None:
    draws = Draws()
    draws.take(telegram("1", "D", "81B8"))
    assert [draws.spoilt(Spoilt(ord("1"))) for _ in range(9)] == [None] * 9
    assert not draws.in_doubt
    assert [draws.spoilt(Spoilt(ord("2"))) for _ in range(2)] == [None] * 2
    assert draws.passed_by(telegram("1", "D", "81B8")) is None
    assert draws.in_doubt
    assert draws.passed_by(telegram("2", "D", "82C1")) is None
    assert not draws.in_doubt
    assert draws.take(telegram("2", "D", "82C1")) == Drawn(Card("Ah"))
    assert [type(draws.spoilt(Spoilt(ord("3")))) for _ in range(3)] == [type(None), type(None), Missed]


@pytest.mark.parametrize(
    ("claimed", "followed_by"),
    [("33", "4"), ("343", "4"), ("44", None), ("33", None)],
)
def test_two_damaged_copies_of_one_telegram_are_a_gap_if_no_good_one_comes(
    claimed: str, followed_by: str | None
) -> None:
    assert any(isinstance(meaning, Missed) for meaning in damaged(claimed, followed_by))


@pytest.mark.parametrize(
    ("claimed", "followed_by"),
    [("", "4"), ("3", "4"), ("35", "4"), ("44", "4"), ("11", "4"), ("3", None), ("35", None)],
)
def test_what_may_have_been_noise_or_the_telegram_itself_is_no_gap(claimed: str, followed_by: str | None) -> None:
    assert damaged(claimed, followed_by) == [None] * (len(claimed) + 1)


def damaged(claimed: str, followed_by: str | None) -> list[Meaning | None]:
    """After a telegram with the sequence 1: damaged copies that claim these, and then another one or nothing."""
    draws = Draws()
    draws.take(telegram("1", "D", "81B8"))
    told: list[Meaning | None] = [draws.spoilt(Spoilt(ord(sequence))) for sequence in claimed]
    told.append(draws.passed_by(None if followed_by is None else telegram(followed_by, "L", "80")))
    assert not draws.in_doubt
    return told


@given(st.lists(st.builds(Telegram, st.integers(0x21, 0x7E), st.integers(0x20, 0xFF), st.binary(max_size=8))))
def test_any_telegrams_in_any_order(telegrams: list[Telegram]) -> None:
    draws = Draws()
    for one in telegrams:
        draws.passed_by(one)
        draws.take(one)
        assert len(draws._told) <= DRAWS_REMEMBERED
