import pytest

from drivers.facts import Place
from firmware_bridge.core.rules.policy import Policy
from firmware_bridge.core.table.count_check import CountCheck
from firmware_bridge.core.table.deal import Deal
from firmware_bridge.core.table.irregularities import EVERYWHERE, Irregularities, OpenHold
from firmware_bridge.core.table.round_state import RoundState
from firmware_bridge.core.table_setup import TableSetup
from firmware_bridge.core.terms import Irregularity, Ruling
from tests.firmware_bridge.core.table.rounds import policy, state_of

ORDER: tuple[Place, ...] = (1, 2, "dealer")


class Checked:
    """A deal that is over, of groups with the machine's and the reader's count, or of so many draws."""

    def __init__(
        self,
        rules: Policy,
        *,
        sensors: bool = False,
        groups: dict[int, tuple[int, int]] | None = None,
        draws: int | None = None,
    ) -> None:
        rig = "group" if draws is None else "rotation"
        self.state: RoundState = state_of(rules, setup=TableSetup(deal=rig, sensors=sensors))  # type: ignore[arg-type]
        self.found = Irregularities(self.state)
        self.deal = Deal(ORDER, rig, sensors=sensors)  # type: ignore[arg-type]
        self.state.deal = self.deal
        for number in range(1, 4) if draws is None else ():
            machine, read = (groups or {}).get(number, (3, 3))
            for _ in range(read):
                self.deal.draw(None, 0)
            self.deal.group_ready(number, machine)
            self.deal.group_taken(number)
        for _ in range(draws or 0):
            self.deal.draw(None, 0)
        self.check = CountCheck(self.state, self.deal, self.found)

    def judged(self) -> list[tuple[Irregularity, Place | None]]:
        self.deal.end()
        self.check.judge(ORDER, 5)
        return [(flag.irregularity, flag.seat) for flag in self.found.flags]


def test_three_cards_at_every_place_are_right() -> None:
    assert Checked(policy(Ruling.CONTINUE)).judged() == []
    assert Checked(policy(Ruling.CONTINUE), draws=9).judged() == []


@pytest.mark.parametrize(
    ("counted", "irregularity"),
    [((2, 2), Irregularity.SHORT_HAND), ((4, 4), Irregularity.LONG_HAND), ((3, 4), Irregularity.COUNT_CONFLICT)],
)
def test_a_group_of_another_number_is_flagged_at_its_place(
    counted: tuple[int, int], irregularity: Irregularity
) -> None:
    assert Checked(policy(Ruling.HOLD), groups={2: counted}).judged() == [(irregularity, 2)]


def test_a_count_is_judged_once_and_again_when_it_changes() -> None:
    checked = Checked(policy(Ruling.VOID_SEAT), groups={2: (2, 2)})
    assert checked.judged() == checked.judged() == [(Irregularity.SHORT_HAND, 2)]
    assert checked.state.void_seats == {2}
    checked.deal.seat_checked(2, 3)
    checked.judged()
    assert checked.state.void_seats == frozenset()
    checked.deal.seat_checked(2, 4)
    assert (Irregularity.LONG_HAND, 2) in checked.judged()


def test_a_seat_that_the_floor_has_put_out_is_not_judged() -> None:
    checked = Checked(policy(Ruling.HOLD), groups={2: (2, 2)})
    checked.state.voided_by_floor.add(2)
    assert checked.judged() == []


def test_a_place_in_question_waits_for_the_floor() -> None:
    checked = Checked(policy(Ruling.HOLD), groups={2: (2, 2)})
    checked.found.hold(Irregularity.WRONG_SEAT, 2, 1, frozenset({2}))
    assert checked.judged() == []
    for hold in checked.found.rule(Ruling.CONTINUE, None):
        checked.check.accept(hold)
    assert checked.judged() == [(Irregularity.SHORT_HAND, 2)]


def test_a_conflict_that_the_floor_let_stand_counts_as_it_is_likeliest() -> None:
    checked = Checked(policy(Ruling.HOLD), groups={2: (3, 4)})
    checked.judged()
    for hold in checked.found.rule(Ruling.CONTINUE, None):
        checked.check.accept(hold)
    checked.judged()
    assert checked.found.holds == []
    assert checked.deal.count(2) == 3


def test_a_seat_that_no_sensor_saw_a_card_at_was_skipped() -> None:
    checked = Checked(policy(Ruling.CONTINUE), sensors=True)
    for place in (1, "dealer"):
        checked.deal.seat_count(place, 3)
    assert checked.judged()[0] == (Irregularity.SKIPPED_SEAT, 2)


@pytest.mark.parametrize(
    ("draws", "then"), [(8, [(Irregularity.SHORT_HAND, "dealer")]), (10, [])], ids=["too few", "too many"]
)
def test_draws_of_a_rotation_without_sensors_are_right_or_wrong_as_a_whole(
    draws: int, then: list[tuple[Irregularity, Place | None]]
) -> None:
    checked = Checked(policy(Ruling.HOLD), draws=draws)
    assert checked.judged() == [(Irregularity.COUNT_CONFLICT, None)]
    assert checked.found.everything_waits
    checked.check.accept(OpenHold(Irregularity.COUNT_CONFLICT, None, 1, EVERYWHERE))
    checked.found.rule(Ruling.CONTINUE, None)
    assert checked.judged()[1:] == then


def test_cards_that_a_person_counts_where_nobody_plays_are_flagged() -> None:
    checked = Checked(policy(Ruling.HOLD))
    checked.deal.seat_checked(5, 3)
    assert checked.judged() == [(Irregularity.EMPTY_SEAT_DEALT, 5)]
