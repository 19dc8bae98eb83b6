"""A replay that differs from what the journal recorded is told by fact and event, without what is in them."""

from collections.abc import Sequence

import pytest

from drivers.facts import CutCard
from firmware_bridge.core.events import DealOver, Event, HandReleased
from firmware_bridge.core.facts import NoMoreBets
from firmware_bridge.daemon.intake import Acknowledge, Intake
from firmware_bridge.daemon.replay import ReplayDiffers, rebuild
from firmware_bridge.journal.rows import AppliedFact, Origin, PendingFact, event_body
from tests.firmware_bridge.daemon.intake_world import DEVICES, RecordingCore

TOLD = DealOver(seq=1, at_ms=5)
CARDS = HandReleased(seq=1, at_ms=5, seat=1, cards=(), hand=None, salt="secret")


def again(recorded: Sequence[Event]) -> Intake:
    bodies = tuple(event_body(event) for event in recorded)
    applied = AppliedFact(1, Origin("operator", "r", 0), NoMoreBets(at_ms=5), bodies)
    pending = PendingFact(2, Origin("shoe", "b", 9), CutCard(at_ms=7))
    return rebuild(RecordingCore(), DEVICES, "run", [applied], [pending], 10)


def test_the_same_events_make_an_intake_that_goes_on() -> None:
    intake = again([TOLD])
    assert (intake.applied, intake.waiting) == (1, 1)
    assert intake.last["shoe"].number == 9
    assert not [one for one in intake.advance(10).after if isinstance(one, Acknowledge)]


@pytest.mark.parametrize(
    ("recorded", "told"),
    [
        ([], "fact 1 (operator/no_more_bets) causes 1 events and caused 0"),
        ([TOLD, TOLD], "fact 1 (operator/no_more_bets) causes 1 events and caused 2"),
        ([CARDS], "fact 1 (operator/no_more_bets) causes another event 1 (deal_over) than it did (hand_released)"),
    ],
)
def test_a_difference_is_named(recorded: Sequence[Event], told: str) -> None:
    with pytest.raises(ReplayDiffers) as error:
        again(recorded)
    assert told in str(error.value)
    assert "secret" not in str(error.value)
