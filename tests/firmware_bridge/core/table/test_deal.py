"""Where cards are, as draws, groups and sensors show it; what follows from that is not asked here."""

import pytest

from drivers.cards import Card
from drivers.facts import Place
from firmware_bridge.core.table.card_batch import Counts
from firmware_bridge.core.table.deal import Arrival, Deal, Misplaced

ORDER: tuple[Place, ...] = (1, 2, "dealer")
CARDS = [Card(text) for text in ("2c", "3c", "4c", "5c", "6c", "7c", "8c", "9c", "Tc")]


def grouped(*, sensors: bool, groups: int = 3) -> Deal:
    """Groups of three cards each, drawn, ready and taken in their order."""
    deal = Deal(ORDER, "group", sensors=sensors)
    for number in range(1, groups + 1):
        for card in CARDS[3 * number - 3 : 3 * number]:
            deal.draw(card, 0)
        deal.group_ready(number, 3)
        deal.group_taken(number)
    return deal


def hand(index: int) -> tuple[Card, ...]:
    return tuple(CARDS[3 * index : 3 * index + 3])


def test_without_sensors_a_group_that_is_taken_is_in_its_place() -> None:
    deal = grouped(sensors=False)
    assert [deal.cards(place) for place in ORDER] == [hand(0), hand(1), hand(2)]
    assert [deal.complete(place) for place in ORDER] == [True, True, True]
    assert deal.counts(1) == Counts(3, 3, 3, None)


def test_with_sensors_a_group_is_where_it_was_seen() -> None:
    deal = grouped(sensors=True, groups=2)
    assert deal.is_on_its_way(1)
    arrival = deal.seat_count(1, 3)
    assert isinstance(arrival, Arrival)
    assert (arrival.place, arrival.batch.turn) == (1, 1)
    assert not deal.is_on_its_way(1)
    assert deal.is_on_its_way(2)
    assert (deal.cards(1), deal.misplaced) == (hand(0), [])


def test_a_group_at_another_place_is_misplaced_until_the_counts_show_it_moved() -> None:
    deal = grouped(sensors=True, groups=1)
    deal.seat_count(2, 3)
    (wrong,) = deal.misplaced
    assert (wrong.place, wrong.turn, wrong.put_right) == (2, 1, False)
    assert wrong.touches == {1, 2}
    deal.seat_count(2, 0)
    assert not wrong.put_right
    deal.seat_count(1, 3)
    assert wrong.put_right
    assert (deal.cards(1), deal.cards(2)) == (hand(0), ())


def test_cards_that_slid_are_seen_by_the_sensors_alone() -> None:
    deal = grouped(sensors=True, groups=2)
    deal.seat_count(1, 3)
    deal.seat_count(2, 3)
    deal.seat_count(1, 2)
    slid = deal.seat_count(2, 4)
    assert isinstance(slid, Misplaced)
    assert (slid.place, slid.donors, slid.batch) == (2, (1,), None)
    deal.let_stand(slid)
    assert (deal.count(1), deal.count(2)) == (2, 4)


def test_more_cards_than_were_dealt_and_nobody_who_lacks_them_is_no_slide() -> None:
    deal = grouped(sensors=True, groups=1)
    deal.seat_count(1, 3)
    assert deal.seat_count(1, 4) is None
    assert deal.misplaced == []


def test_a_rotation_deals_card_by_card_round_the_places() -> None:
    deal = Deal(ORDER, "rotation", sensors=False)
    for card in CARDS:
        deal.draw(card, 0)
    assert [deal.cards(place) for place in ORDER] == [tuple(CARDS[place::3]) for place in range(3)]
    assert deal.drawn() == (9, 9)


def test_draws_that_nobody_told_of_leave_a_range_and_may_have_been_none() -> None:
    deal = Deal(ORDER, "rotation", sensors=False)
    for card in CARDS[:8]:
        deal.draw(card, 0)
    deal.draw(CARDS[8], 1)
    assert deal.drawn() == (9, 10)
    assert deal.counts("dealer") == Counts(None, 2, 3, None)
    deal.drop_missing()
    assert deal.drawn() == (9, 9)
    assert [deal.cards(place) for place in ORDER] == [tuple(CARDS[place::3]) for place in range(3)]


def test_groups_that_were_lost_have_their_place_and_no_known_card() -> None:
    deal = Deal(ORDER, "group", sensors=False)
    deal.groups_lost(1, 1, 3)
    for card in CARDS[:3]:
        deal.draw(card, 0)
    deal.group_ready(2, 3)
    deal.group_taken(2)
    assert deal.cards(1) == (None, None, None)
    assert deal.cards(2) == hand(0)


def test_a_persons_count_overrules_every_other_and_later_cards_add_to_it() -> None:
    deal = Deal(ORDER, "rotation", sensors=False)
    for card in CARDS[:3]:
        deal.draw(card, 0)
    deal.seat_checked(1, 2)
    assert deal.count(1) == 2
    deal.draw(CARDS[3], 0)
    assert deal.count(1) == 3


def test_machine_and_reader_that_disagree_settle_nothing_by_themselves() -> None:
    deal = Deal(ORDER, "group", sensors=False)
    for card in CARDS[:4]:
        deal.draw(card, 0)
    deal.group_ready(1, 3)
    deal.group_taken(1)
    assert deal.counts(1) == Counts(3, 4, 4, None)
    assert deal.count(1) is None
    assert deal.likeliest(1) == 3
    deal.at(1).accepted = True
    assert deal.count(1) == 3


def test_a_card_that_a_person_read_stands_where_it_was_named() -> None:
    deal = Deal(ORDER, "group", sensors=False)
    for card in (CARDS[0], None, CARDS[2]):
        deal.draw(card, 0)
    deal.group_ready(1, 3)
    deal.group_taken(1)
    assert deal.cards(1) == (CARDS[0], None, CARDS[2])
    deal.at(1).identified[1] = CARDS[8]
    assert deal.cards(1) == (CARDS[0], CARDS[8], CARDS[2])
    deal.seat_checked(1, 1)
    assert deal.at(1).identified == {}


@pytest.mark.parametrize("taken", [2, 3])
def test_taking_a_group_takes_those_that_lay_in_the_tray_before_it(taken: int) -> None:
    deal = Deal(ORDER, "group", sensors=False)
    for number in (1, 2, 3):
        deal.group_ready(number, 3)
    assert deal.in_tray_before(taken)
    assert [arrival.place for arrival in deal.group_taken(taken)] == list(ORDER[:taken])
    assert not deal.in_tray_before(taken)


def test_players_who_pick_their_cards_up_after_the_deal_change_no_count() -> None:
    deal = grouped(sensors=True)
    for place in ORDER:
        deal.seat_count(place, 3)
    deal.end()
    for place in ORDER:
        deal.seat_count(place, 0)
    assert [deal.count(place) for place in ORDER] == [3, 3, 3]
    assert deal.drawing_for is None
