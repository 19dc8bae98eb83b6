from dataclasses import replace

import pytest

from firmware_bridge.core.game.release import Releases
from firmware_bridge.core.game.round import OpenRound, has_unread, is_out, is_wrong
from firmware_bridge.core.game.wagers import SeatWagers
from firmware_bridge.core.rules.chosen_rules import choose_rules
from firmware_bridge.core.table.round_snapshot import RoundSnapshot
from firmware_bridge.houses.loader import load_house
from tests.firmware_bridge.core.game.paper_table import KEY, PaperTable

RULES = choose_rules(load_house("licensed"), schedule=1, decks=1, options={})
WAGERS = {2: SeatWagers(ante=100), 3: SeatWagers(pair_plus=10), 5: SeatWagers(ante=50, pair_plus=5)}
HANDS = {2: "As Kd 9d", 3: "7c 6d 2s", 5: "Qc Qd 3h", "dealer": "Kh 8d 2c"}


def dealt(hands: dict[int | str, str] | None = None, **changes: object) -> tuple[OpenRound, RoundSnapshot]:
    table = PaperTable()
    table.open(2, 3, 5)
    for place, text in (HANDS | (hands or {})).items():
        table.hand(place, text)  # type: ignore[arg-type]
    return OpenRound(Releases(KEY), dict(WAGERS)), replace(table.current(), **changes)  # type: ignore[arg-type]


def test_seats_with_an_ante_decide_each_once() -> None:
    current, record = dealt()
    assert current.undecided(record) == [2, 5]
    assert current.undecided(replace(record, decided={2: False})) == [5]
    assert current.undecided(replace(record, forfeited=frozenset({5}))) == [2]
    assert current.undecided(replace(record, void_seats=frozenset({2}))) == [5]


@pytest.mark.parametrize("cards", ["As Kd", "As Kd 9d 9c", ""])
def test_a_hand_of_another_number_of_cards_is_out(cards: str) -> None:
    current, record = dealt({2: cards})
    assert is_wrong(record.hands[2])
    assert is_out(2, record)
    assert current.undecided(record) == [5]
    assert current.seats(record)[2].misdealt


def test_a_forfeited_seat_is_not_misdealt_whatever_lies_there() -> None:
    current, record = dealt({2: "As Kd"}, forfeited=frozenset({2}))
    seat = current.seats(record)[2]
    assert (seat.misdealt, seat.forfeited) == (False, True)


def test_hands_in_play_are_the_dealers_and_of_those_who_did_not_fold() -> None:
    current, record = dealt()
    assert list(current.in_play(record)) == ["dealer", 3]
    assert list(current.in_play(replace(record, decided={2: True, 5: False}))) == ["dealer", 2, 3]
    _, record = dealt({"dealer": "Kh 8d"}, decided={2: True, 5: True})
    assert list(current.in_play(record)) == [2, 3, 5]


def test_cards_that_nobody_read_are_waited_for_where_money_hangs_on_them() -> None:
    current, record = dealt({2: "As ?? 9d", 3: "7c ?? 2s", "dealer": "?? 8d 2c"}, decided={2: False, 5: True})
    assert has_unread(record.hands[2])
    assert current.unread(RULES, record) == [3, "dealer"]
    assert current.unread(RULES, replace(record, decided={2: True, 5: True})) == [2, 3, "dealer"]
    _, record = dealt({2: "As ?? 9d", "dealer": "Kh 8d"})
    assert current.unread(RULES, record) == []
    assert not has_unread(None)
