from firmware_bridge.core.table.dealing import Dealing
from firmware_bridge.core.terms import Irregularity
from tests.firmware_bridge.core.table.recording import Recording
from tests.firmware_bridge.core.table.rounds import round_of


def dealing_of(recording: Recording) -> Dealing:
    dealing = round_of(recording).dealing
    assert dealing is not None
    return dealing


def test_a_deal_of_groups_is_over_with_the_dealers_group() -> None:
    recording = Recording().open([1, 2]).group(1).group(2)
    dealing = dealing_of(recording)
    assert (dealing.deal.over, dealing.can_end, dealing.dealer_has_cards) == (False, False, False)
    dealing = dealing_of(recording.group("dealer"))
    assert (dealing.deal.over, dealing.dealer_has_cards) == (True, True)
    assert list(dealing.complete_places) == [1, 2, "dealer"]


def test_a_dealer_who_waits_has_no_hand_before_the_decisions() -> None:
    recording = Recording(dealer_group="after_decisions").open([1, 2]).group(1).group(2)
    dealing = dealing_of(recording)
    assert dealing.deal.over
    assert list(dealing.complete_places) == [1, 2]
    assert list(dealing.hands()) == [1, 2]
    dealing.close_dealer(9000)
    assert list(dealing.complete_places) == [1, 2, "dealer"]


def test_a_rotation_is_over_when_the_dealer_says_so_or_sensors_see_every_hand() -> None:
    recording = Recording("rotation").open([1])
    for _ in range(3):
        recording.single(1).single("dealer")
    dealing = dealing_of(recording)
    assert not dealing.deal.over
    assert dealing.can_be_called_done
    assert not dealing.can_end
    assert dealing_of(recording.operator("dealing_done")).deal.over
    seen = Recording("rotation", sensors=True).open([1])
    for _ in range(3):
        seen.single(1).single("dealer")
    assert dealing_of(seen).deal.over


def test_a_deal_of_groups_cannot_be_called_done_before_the_last_group_is_taken() -> None:
    recording = Recording(sensors=True).open([1, 2]).group(1).group(2, lands=0)
    assert not dealing_of(recording).can_be_called_done
    dealing = dealing_of(recording.group("dealer", lands=0))
    assert dealing.can_be_called_done
    assert not dealing.deal.over


def test_cards_at_places_outside_the_order_are_hands_too() -> None:
    dealing = dealing_of(Recording(sensors=True).open([1]).group(5))
    assert dealing.hands() == (5,)
    (wrong,) = dealing.deal.misplaced
    assert (wrong.place, wrong.turn) == (5, 1)


def test_a_misplaced_group_is_the_floors_once_a_further_card_goes_out() -> None:
    recording = Recording(sensors=True).open([1, 2]).group(2)
    assert [flag.irregularity for flag in round_of(recording).irregularities.flags] == [Irregularity.WRONG_SEAT]
    assert round_of(recording).irregularities.holds == []
    (hold,) = round_of(recording.card()).irregularities.holds
    assert (hold.irregularity, hold.seat, hold.touches) == (Irregularity.WRONG_SEAT, 2, frozenset({1, 2}))


def test_what_lay_there_before_the_first_card_is_no_card_of_the_deal() -> None:
    recording = Recording(sensors=True).open([1])
    recording.count(1, 2)
    recording.group(1, lands=0)
    dealing = dealing_of(recording)
    assert dealing.deal.at(1).batches == []
    assert dealing.deal.at(1).now == 2
