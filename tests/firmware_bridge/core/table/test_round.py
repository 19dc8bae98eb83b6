from firmware_bridge.core.table.round import Round
from firmware_bridge.core.table.round_state import RoundState
from firmware_bridge.core.terms import Irregularity, Phase, Ruling
from tests.firmware_bridge.core.table.recording import Recording
from tests.firmware_bridge.core.table.rounds import kinds, policy, round_of, state_of


def opened(ruling: Ruling = Ruling.CONTINUE) -> tuple[Round, RoundState]:
    state = state_of(policy(ruling))
    current = Round(state, 0)
    current.open((1, 2), None, None)
    state.events.clear()
    return current, state


def flagged(current: Round) -> list[Irregularity]:
    return [flag.irregularity for flag in current.irregularities.flags]


def test_the_deal_has_a_limit_from_the_end_of_betting_and_each_move_begins_it_anew() -> None:
    current, state = opened()
    assert current.limit_ms is None
    current.close_bets(1000)
    limit_ms = state.setup.deal_limit_ms
    assert current.limit_ms == 1000 + limit_ms
    current.moved(5000)
    assert current.limit_ms == 5000 + limit_ms
    current.time_passed(4999 + limit_ms)
    assert Irregularity.DEAL_STALLED not in flagged(current)
    current.time_passed(5000 + limit_ms)
    assert Irregularity.DEAL_STALLED in flagged(current)
    assert current.limit_ms == 5000 + 2 * limit_ms


def test_a_held_round_and_one_whose_deal_is_over_have_no_limit() -> None:
    current, _ = opened(Ruling.HOLD)
    current.close_bets(0)
    current.gap(Irregularity.FACT_GAP, 1)
    assert current.limit_ms is None
    assert round_of(Recording().open([1]).deal()).limit_ms is None


def test_what_must_be_right_before_the_deal_is_flagged_once() -> None:
    current, state = opened()
    state.deck.sorted = True
    state.deck.uncounted_rounds = 5
    current.close_bets(0)
    assert flagged(current) == [Irregularity.SORT_MODE, Irregularity.STUB_DUE]
    kinds(state.events)
    current.close_bets(1)
    assert kinds(state.events) == ["BetsClosed"]


def test_doors_and_jams_count_between_the_end_of_betting_and_the_end_of_the_deal() -> None:
    current, state = opened()
    state.deck.fresh = True
    current.door_opened(1)
    current.jammed(1)
    assert flagged(current) == []
    current.close_bets(2)
    current.door_opened(3)
    current.jammed(3)
    assert flagged(current) == [Irregularity.DOOR_OPENED, Irregularity.JAM]
    assert not state.deck.fresh


def test_a_wager_after_the_bets_are_closed_is_late_and_deals_nobody_in() -> None:
    current = round_of(Recording().bet({1: 10, 2: 20}).operator("wager", seat=5, ante=10).deal())
    assert flagged(current) == [Irregularity.LATE_BET]
    assert current.state.order == (1, 2, "dealer")


def test_a_round_ends_with_the_reveal_or_with_its_void_and_keeps_how_the_deck_was_left() -> None:
    current, state = opened()
    current.settle()
    assert (state.ended, state.phase) == (False, Phase.BETTING)
    state.revealed = True
    current.settle()
    assert (state.ended, state.phase, current.deck_is_out) == (True, Phase.REVEALED, False)
    state.deck.alarm(Irregularity.DUPLICATE_CARD)
    assert not current.deck_is_out
    current, state = opened(Ruling.VOID_ROUND)
    current.gap(Irregularity.FACT_GAP, 1)
    current.settle()
    assert state.ended


def test_a_fold_that_was_miscounted_is_flagged_and_a_forfeit_stands_among_the_folds() -> None:
    recording = Recording().open([1, 2]).deal().decide(s2=False).operator("fold_counted", seat=2, cards=2)
    current = round_of(recording)
    assert flagged(current) == [Irregularity.FOLD_MISCOUNTED]
    recording = Recording().open([1, 2]).group(1, machine=4).group(2).group("dealer").rule("forfeit_seat", 1)
    current = round_of(recording.decide(s2=False))
    assert (current.state.folds, current.state.forfeited) == ([1, 2], {1})
