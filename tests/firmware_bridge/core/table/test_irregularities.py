import pytest

from firmware_bridge.core.events import HoldLifted, IrregularityFlagged
from firmware_bridge.core.table.irregularities import EVERYWHERE, Irregularities, OpenHold, who_is
from firmware_bridge.core.terms import Irregularity, Phase, Ruling, Who
from tests.firmware_bridge.core.table.rounds import kinds, policy, state_of

SHORT, JAM, GAP = Irregularity.SHORT_HAND, Irregularity.JAM, Irregularity.FACT_GAP


def test_whose_place_it_is() -> None:
    assert (who_is(None), who_is("dealer"), who_is(3)) == (Who.TABLE, Who.DEALER, Who.PLAYER)


def test_what_goes_on_is_flagged_once_an_irregularity_and_place() -> None:
    state = state_of(policy(Ruling.CONTINUE))
    found = Irregularities(state)
    flag = found.flag(SHORT, 2, 7)
    assert found.flag(SHORT, 2, 9) is flag is found.find(SHORT, 2)
    assert found.find(SHORT, 1) is None
    assert state.events == [
        IrregularityFlagged(irregularity=SHORT, seat=2, phase=Phase.BETTING, ruling=Ruling.CONTINUE)
    ]
    found.flag(SHORT, 1, 9)
    assert [(one.irregularity, one.seat, one.at_ms) for one in found.flags] == [(SHORT, 2, 7), (SHORT, 1, 9)]


def test_a_flag_that_went_on_is_told_again_when_it_holds() -> None:
    state = state_of(policy(Ruling.HOLD))
    found = Irregularities(state)
    found.note(SHORT, 2, 1, Ruling.CONTINUE)
    found.flag(SHORT, 2, 2)
    assert kinds(state.events) == ["IrregularityFlagged", "IrregularityFlagged", "HoldRaised"]
    assert len(found.flags) == 1


def test_a_seat_that_is_voided_takes_no_further_part() -> None:
    state = state_of(policy(Ruling.VOID_SEAT))
    found = Irregularities(state)
    found.flag(SHORT, 2, 1)
    assert (set(state.void_seats), state.out) == ({2}, {2})
    assert state.undecided == (1,)


@pytest.mark.parametrize("place", ["dealer", None])
def test_what_cannot_be_voided_by_itself_is_held(place: str | None) -> None:
    state = state_of(policy(Ruling.VOID_SEAT))
    found = Irregularities(state)
    flag = found.flag(SHORT, place, 1)  # type: ignore[arg-type]
    assert flag.ruling is Ruling.HOLD
    assert [(hold.irregularity, hold.seat) for hold in found.holds] == [(SHORT, place)]


def test_a_void_waits_for_the_floor_where_something_is_held() -> None:
    state = state_of(policy(Ruling.HOLD, jam=Ruling.VOID_ROUND))
    found = Irregularities(state)
    found.flag(SHORT, 2, 1)
    found.flag(JAM, None, 2)
    assert not state.void
    found.rule(Ruling.CONTINUE, "counted")
    assert (state.void, state.void_reason) == (True, JAM)
    assert kinds(state.events) == [
        "IrregularityFlagged",
        "HoldRaised",
        "IrregularityFlagged",
        "HoldLifted",
        "RoundVoid",
    ]


def test_a_ruling_answers_the_oldest_question_wherever_it_was_raised() -> None:
    state = state_of(policy(Ruling.HOLD))
    found = Irregularities(state)
    for irregularity, seat in ((SHORT, 1), (GAP, None), (SHORT, 2)):
        found.flag(irregularity, seat, 1)
    state.events.clear()
    answered = found.rule(Ruling.CONTINUE, "seen")
    assert [(hold.irregularity, hold.seat) for hold in answered] == [(SHORT, 1), (SHORT, 2)]
    assert [hold.irregularity for hold in found.holds] == [GAP]
    assert state.events[0] == HoldLifted(irregularity=SHORT, ruling=Ruling.CONTINUE, seat=1, reason="seen")


def test_the_floors_void_answers_every_question() -> None:
    state = state_of(policy(Ruling.HOLD))
    found = Irregularities(state)
    found.flag(SHORT, 1, 1)
    found.flag(GAP, None, 2)
    assert len(found.rule(Ruling.VOID_ROUND, None)) == 2
    assert (found.holds, state.void_reason) == ([], SHORT)


def test_a_hold_keeps_the_counts_from_being_judged_that_it_touches() -> None:
    found = Irregularities(state_of(policy(Ruling.HOLD)))
    found.flag(SHORT, 1, 1, touches=frozenset({1, 2}))
    assert [found.touched(place) for place in (1, 2, "dealer")] == [True, True, False]
    assert not found.everything_waits
    found.flag(GAP, None, 2, touches=EVERYWHERE)
    assert found.touched("dealer")
    assert found.everything_waits
    assert OpenHold(GAP, None, 1, frozenset()).concerns(5)
    assert not OpenHold(SHORT, 1, 1, frozenset({2})).concerns(5)


def test_an_alarm_of_the_deck_follows_the_policy_or_the_callers_word() -> None:
    for rules, deck_out in ((policy(Ruling.CONTINUE, deck_out=True), False), (policy(Ruling.CONTINUE), True)):
        state = state_of(rules)
        found = Irregularities(state)
        found.flag(Irregularity.BOXED_CARDS, None, 1, deck_out=deck_out)
        assert state.deck.out
        assert found.alarms_raised == 1
        assert kinds(state.events) == ["IrregularityFlagged", "AlarmRaised", "DeckOut"]


def test_in_a_round_that_is_over_or_void_nothing_follows_any_more() -> None:
    state = state_of(policy(Ruling.HOLD))
    found = Irregularities(state)
    state.ended = True
    found.flag(SHORT, 1, 1)
    assert (found.holds, kinds(state.events)) == ([], ["IrregularityFlagged"])
    state = state_of(policy(Ruling.VOID_SEAT))
    found = Irregularities(state)
    found.void_round(JAM)
    found.flag(SHORT, 1, 1)
    found.hold(GAP, None, 1)
    assert (state.void_seats, found.holds) == (frozenset(), [])
