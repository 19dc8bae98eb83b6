import pytest

from firmware_bridge.core.table.round_snapshot import evidence_of
from firmware_bridge.core.terms import DeckState, Evidence, HandVerdict, Irregularity, Phase, RoundOutcome
from tests.firmware_bridge.core.table.recording import Recording
from tests.firmware_bridge.core.table.rounds import record_of, round_of


def test_a_round_before_its_first_card() -> None:
    record = record_of(Recording().open([1, 2]))
    assert (record.number, record.phase, record.outcome) == (1, Phase.BETTING, RoundOutcome.OPEN)
    assert (record.order, dict(record.hands), record.flags, record.holds) == ((1, 2, "dealer"), {}, (), ())
    assert (record.deck, record.revealed, record.suspended) == (DeckState.IN, False, False)


def test_a_dealt_round_has_every_hand_with_its_evidence() -> None:
    record = record_of(Recording().open([1, 2]).deal())
    assert (record.phase, record.outcome) == (Phase.DECIDING, RoundOutcome.DEALT)
    assert [(place, hand.count, hand.verdict, hand.evidence) for place, hand in record.hands.items()] == [
        (place, 3, HandVerdict.OK, Evidence.TAKEN) for place in (1, 2, "dealer")
    ]


def test_what_players_decided_stands_in_the_order_of_their_folds() -> None:
    record = record_of(Recording().open([1, 2, 3]).deal().decide(s3=False, s1=False, s2=True))
    assert dict(record.decided) == {3: False, 1: False, 2: True}
    assert record.folds == (3, 1)


def test_a_held_round_names_its_first_question_and_doubts_that_hand_alone() -> None:
    record = record_of(Recording().open([1, 2]).group(1, machine=4).group(2).group("dealer"))
    assert (record.outcome, record.reason) == (RoundOutcome.HELD, Irregularity.COUNT_CONFLICT)
    assert [(hold.irregularity, hold.seat) for hold in record.holds] == [(Irregularity.COUNT_CONFLICT, 1)]
    assert [record.hands[place].verdict for place in (1, 2)] == [HandVerdict.HELD, HandVerdict.OK]


def test_a_hand_with_an_unread_card_is_unread_and_one_of_two_cards_a_misdeal() -> None:
    record = record_of(Recording().open([1, 2]).group(1, ("As", None, "Kd")).group(2, ("2c", "3c")).group("dealer"))
    assert record.hands[1].verdict is HandVerdict.UNREAD
    assert record.hands[2].verdict is HandVerdict.MISDEAL


@pytest.mark.parametrize(("rig", "evidence"), [("group", Evidence.TAKEN), ("rotation", Evidence.ORDER)])
def test_a_persons_count_is_better_evidence_than_the_order(rig: str, evidence: Evidence) -> None:
    deal = round_of(Recording(rig).open([1]).deal()).state.deal
    assert deal is not None
    assert evidence_of(deal, 1) is evidence
    deal.seat_checked(1, 3)
    assert evidence_of(deal, 1) is Evidence.CHECKED


def test_what_a_sensor_saw_is_evidence_of_its_own() -> None:
    record = record_of(Recording(sensors=True).open([1]).deal())
    assert record.hands[1].evidence is Evidence.SENSED
