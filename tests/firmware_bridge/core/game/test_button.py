import pytest

from firmware_bridge.core import events, facts
from firmware_bridge.core.game.machine import Stage
from tests.firmware_bridge.core.game.paper_table import PaperTable, Refused, kinds, settled


def holds(table: PaperTable, seat: int, wager: int = 1000, action_seat: int = 1) -> list[str]:
    return kinds(table.tell(facts.PlayerDealer(at_ms=table.now(), seat=seat, wager=wager, action_seat=action_seat)))


def hand(table: PaperTable, number: int, seats: tuple[int, ...] = (1, 2)) -> None:
    """A hand from the first seat dealt in to the reveal."""
    table.tell(facts.Seats(at_ms=table.now(), seats=seats), table.open(*seats, number=number))
    table.close()
    table.deal({1: "As Kd 9d", 2: "Qc 6d 2s", "dealer": "Kh 8d 2c"})
    table.reveal()
    assert table.game.stage is Stage.IDLE


def answer(table: PaperTable, seat: int, said: str) -> list[str]:
    return kinds(table.tell(facts.Position(at_ms=table.now(), seat=seat, answer=said)))  # type: ignore[arg-type]


def after_two_hands() -> PaperTable:
    table = PaperTable("player-dealer")
    for number in (1, 2):
        holds(table, 9)
        hand(table, number)
    return table


def test_the_position_pays_and_collects() -> None:
    table = PaperTable("player-dealer")
    assert holds(table, 9, wager=30, action_seat=2) == ["PositionTaken"]
    table.wager(1, ante=10, fee=1)
    table.wager(2, ante=10, fee=1)
    table.close()
    table.deal({1: "As Kd 9d", 2: "Qc 6d 2s", "dealer": "Kh 8d 2c"})
    table.decide(1, play=True)
    table.decide(2, play=True)
    told = settled(table.reveal())
    assert told["order"] == [["2", "ante_play"], ["1", "ante_play"]]
    assert (told["seats"]["1"]["net"], told["seats"]["2"]["net"], told["player_dealer_net"]) == (9, -21, 10)


def test_the_position_is_told_before_the_bets_are_closed_and_not_after() -> None:
    table = PaperTable("player-dealer")
    table.wager(1, ante=10)
    with pytest.raises(Refused, match="nobody holds the position"):
        table.close()
    with pytest.raises(Refused, match="seat 1 has a wager and cannot be the player-dealer"):
        holds(table, 1)
    holds(table, 9)
    with pytest.raises(Refused, match="seat 9 holds the player-dealer's position"):
        table.wager(9, ante=10)
    table.close()
    with pytest.raises(Refused, match="the bets are closed"):
        holds(table, 8)


def test_two_hands_in_a_row_and_then_all_others_are_asked() -> None:
    table = after_two_hands()
    with pytest.raises(
        Refused, match="seat 9 has held the position for 2 hands: offer it to seat 1, then seat 2 first"
    ):
        holds(table, 9)
    with pytest.raises(Refused, match="the button goes clockwise: offer the position to seat 1 before seat 2"):
        answer(table, 2, "offered")
    assert answer(table, 1, "offered") == ["PositionOffered"]
    with pytest.raises(Refused, match="seat 1 has not answered"):
        answer(table, 2, "offered")
    with pytest.raises(Refused, match="seat 1 has not answered"):
        holds(table, 9)
    with pytest.raises(Refused, match="the position was not offered to seat 2"):
        answer(table, 2, "accepted")
    assert answer(table, 1, "declined") == ["PositionDeclined"]
    answer(table, 2, "offered")
    answer(table, 2, "declined")
    assert holds(table, 9) == ["PositionTaken"]
    hand(table, 3)
    assert holds(table, 9) == ["PositionTaken"]
    hand(table, 4)
    with pytest.raises(Refused, match="for 2 hands"):
        holds(table, 9)


def test_whoever_accepts_holds_it_next() -> None:
    table = after_two_hands()
    answer(table, 1, "offered")
    assert answer(table, 1, "accepted") == ["PositionTaken"]
    with pytest.raises(Refused, match="seat 1 has accepted the position"):
        holds(table, 2)
    assert holds(table, 1) == []


def test_play_stops_when_the_incumbent_declines_too() -> None:
    table = after_two_hands()
    for seat in (1, 2):
        answer(table, seat, "offered")
        answer(table, seat, "declined")
    answer(table, 9, "declined")
    with pytest.raises(Refused, match="seat 9 has declined the position"):
        holds(table, 9)
    answer(table, 2, "offered")
    answer(table, 2, "accepted")
    assert holds(table, 2) == []


def test_a_new_holder_has_a_fresh_count() -> None:
    table = after_two_hands()
    holds(table, 8)
    hand(table, 3)
    holds(table, 8)
    hand(table, 4)
    with pytest.raises(Refused, match="seat 8 has held the position for 2 hands"):
        holds(table, 8)


def test_a_void_hand_is_no_hand() -> None:
    table = PaperTable("player-dealer")
    for number in (1, 2, 3):
        holds(table, 9)
        table.tell(facts.Seats(at_ms=table.now(), seats=(1,)), table.open(1, number=number))
        table.passes(events.RoundVoid(reason=None))
    assert holds(table, 9) == ["PositionTaken"]


def test_a_house_without_the_position() -> None:
    table = PaperTable("licensed")
    with pytest.raises(Refused, match="the house licensed has no player-dealer"):
        holds(table, 2)
    with pytest.raises(Refused, match="no player-dealer's position"):
        answer(table, 2, "offered")
