"""What the rows leave to the fine print: put right or not, late sensors, lost devices, rounds not yet settled."""

from drivers.facts import Place
from tests.firmware_bridge.core.table.recording import Recording, Row, flags, summary


def sensed(rig: str = "group", **setup: str) -> Recording:
    return Recording(rig, sensors=True, **setup)


def cards(row: Row, place: Place) -> list[str | None]:
    found = row["seats"][str(place)]["cards"]
    assert isinstance(found, list)
    return found


def test_put_right_though_the_right_seats_sensor_is_first() -> None:
    recording = sensed().open([1, 3]).group(3).lands(1, 3).count(3, 0).group(3).group("dealer")
    row = recording.reveal().last()
    assert summary(row) == ("dealt", None, [("wrong_seat", 3, "continue")])
    assert cards(row, 1) == ["2c", "2d", "2h"]


def test_half_put_right_is_not_put_right() -> None:
    recording = sensed().open([1, 3]).group(3).count(3, 1).lands(1, 2).group(3)
    assert flags(recording.last())[0] == ("wrong_seat", 3, "hold")


def test_put_right_by_a_persons_count() -> None:
    recording = sensed().open([1, 3]).group(3)
    recording.operator("seat_checked", seat=3, cards=0).operator("seat_checked", seat=1, cards=3)
    recording.there = {}
    row = recording.group(3).group("dealer").reveal().last()
    assert summary(row) == ("dealt", None, [("wrong_seat", 3, "continue")])
    assert [row["seats"][seat]["count"] for seat in ("1", "3")] == [3, 3]
    assert row["seats"]["1"]["evidence"] == "checked"


def test_moved_to_its_place_after_the_hold() -> None:
    recording = sensed().open([1, 3]).group(3).card().count(3, 0).lands(1, 3)
    recording.card().card().shuffler("group_ready", group=2, cards=3).shuffler("group_taken", group=2).lands(3, 3)
    recording.card().card().card().shuffler("group_ready", group=3, cards=3).shuffler("group_taken", group=3)
    row = recording.lands("dealer", 3).rule().reveal().last()
    assert summary(row) == ("dealt", None, [("wrong_seat", 3, "hold")])
    assert cards(row, 1) == ["2c", "2d", "2h"]


def test_a_slid_card_that_slides_back() -> None:
    recording = sensed().open([1, 2]).group(1, lands=2).count(2, 1).count(2, 0).count(1, 3)
    row = recording.group(2).group("dealer").reveal().last()
    assert summary(row) == ("dealt", None, [("wrong_seat", 2, "continue")])


def test_a_card_that_slid_to_an_empty_seat() -> None:
    recording = sensed().open([1, 3]).group(1, lands=2).count(2, 1).group(3).group("dealer")
    assert flags(recording.last()) == [("empty_seat_dealt", 2, "hold")]


def test_a_card_that_slid_after_the_last_card_was_out() -> None:
    recording = sensed().open([1, 2]).group(1).group(2).group("dealer", lands=2).count(1, 2).count(2, 4)
    assert flags(recording.count("dealer", 3).reveal().last()) == [
        ("wrong_seat", 2, "continue"),
        ("count_conflict", 1, "hold"),
        ("count_conflict", 2, "hold"),
    ]


def test_more_on_a_sensor_than_was_dealt_with_nothing_missing_elsewhere() -> None:
    recording = sensed().open([1, 2]).group(1).count(1, 4).group(2).group("dealer").reveal()
    assert summary(recording.last()) == ("held", "count_conflict", [("count_conflict", 1, "hold")])


def test_cards_left_over_from_before_the_deal() -> None:
    recording = sensed().open([1, 2]).count(1, 2)
    recording.group(1).group(2).group("dealer").reveal()
    assert summary(recording.last()) == ("held", "count_conflict", [("count_conflict", 1, "hold")])


def test_a_rotation_is_over_when_every_place_has_three() -> None:
    recording = sensed("rotation").open([1, 2])
    for _ in range(3):
        recording.single(1).single(2).single("dealer")
    assert summary(recording.last()) == ("dealt", None, [])
    recording.card("As").count(2, 4)
    assert flags(recording.last()) == [("long_hand", 2, "void_seat")]


def test_an_unread_card_is_flagged_where_it_lies() -> None:
    recording = sensed().open([1, 3]).group(3, ("As", None, "Ks")).group(1).group("dealer").rule().reveal()
    row = recording.last()
    assert ("unread_card", 3, "continue") in flags(row)
    assert row["seats"]["3"]["verdict"] == "unread"
    assert row["seats"]["1"]["verdict"] == "ok"


def test_after_a_seat_was_passed_over_the_others_are_not_wrong() -> None:
    recording = sensed().open([1, 2, 4, 6]).group(1).group(4).group(6).group("dealer")
    assert flags(recording.last()) == [("wrong_seat", 4, "hold"), ("skipped_seat", 2, "hold")]


def test_two_hands_on_their_way_land_each_where_it_belongs() -> None:
    recording = sensed().open([1, 3]).group(None).group(None).lands(3, 3).lands(1, 3).group("dealer").reveal()
    row = recording.last()
    assert summary(row) == ("dealt", None, [])
    assert cards(row, 1) == ["2c", "2d", "2h"]


def test_a_void_round_keeps_what_is_seen_until_the_shuffle() -> None:
    recording = sensed().open([1]).group(1).operator("foreign_card", seat=1).group("dealer")
    row = recording.last()
    assert (row["outcome"], cards(row, "dealer")) == ("void", ["2s", "3c", "3d"])
    recording.shuffle().card("As").count("dealer", 4)
    assert cards(recording.last(), "dealer") == ["2s", "3c", "3d"]


def test_what_is_void_is_not_flagged_further() -> None:
    recording = Recording().open([1]).group(1).operator("foreign_card", seat=1)
    recording.card(None, "up").card("9s", skip=3).shuffler("door_opened").shuffler("jammed")
    assert flags(recording.last()) == [("foreign_card", 1, "void_round")]


def test_a_late_dealers_group_that_the_sensor_counts_otherwise() -> None:
    recording = sensed(dealer_group="after_decisions").open([1]).group(1).decide(s1=True).group("dealer", lands=2)
    assert summary(recording.last()) == ("dealt", None, [])
    assert summary(recording.reveal().last()) == ("held", "count_conflict", [("count_conflict", "dealer", "hold")])
    assert recording.rule().last()["outcome"] == "dealt"


def test_a_duplicate_found_before_the_money_is_paid_voids_the_round() -> None:
    recording = Recording().bet({1: 500}).group(1, ("As", None, "Ks")).group("dealer").decide(s1=True).reveal()
    assert recording.last()["outcome"] == "dealt"
    row = recording.operator("card_identified", seat=1, index=2, card="As").last()
    assert (row["outcome"], row["reason"], row["deck"]) == ("void", "duplicate_card", "out")


def test_a_duplicate_found_later_leaves_the_past_alone() -> None:
    recording = Recording().open([1]).group(1, ("As", None, "Ks")).group("dealer").reveal()
    row = recording.operator("card_identified", seat=1, index=2, card="As").last()
    assert (row["outcome"], row["deck"]) == ("dealt", "out")
    assert flags(row)[-1] == ("duplicate_card", 1, "void_round")


def test_a_foreign_card_found_after_the_round() -> None:
    row = Recording().open([1]).deal().reveal().operator("foreign_card", seat="dealer").last()
    assert (row["outcome"], row["deck"]) == ("dealt", "out")
    assert flags(row) == [("foreign_card", "dealer", "void_round")]


def test_a_declared_gap_is_flagged_once() -> None:
    """What the gap swallowed is no second irregularity: draws, groups, and groups never told to be taken."""
    recording = Recording().open([1, 2, 3]).group(1)
    recording.card().card().card().shuffler("group_ready", group=2, cards=3)
    recording.fact("bridge", "device_back", device="shuffler", gap=True)
    for _ in range(3):
        recording.card()
    recording.shuffler("group_ready", group=3, cards=3).shuffler("group_taken", group=3)
    recording.card().card().card().shuffler("group_ready", group=4, cards=3).shuffler("group_taken", group=4)
    row = recording.last()
    assert summary(row) == ("held", "device_lost", [("device_lost", None, "hold")])
    assert cards(recording.rule().last(), 2) == ["2s", "3c", "3d"]


def test_a_gap_between_rounds_is_no_irregularity() -> None:
    recording = Recording().open([1]).deal().reveal().fact("bridge", "device_back", device="shoe", gap=True)
    recording._draw += 17
    recording.open([1]).new_deck().deal().reveal()
    assert [summary(row) for row in recording.judged()] == [("dealt", None, [])] * 2


def test_cards_that_leave_between_rounds_count_in_the_stub() -> None:
    recording = Recording().open([1]).deal().reveal().card().shuffler("stub_counted", cards=45)
    assert summary(recording.last()) == ("dealt", None, [])


def test_the_stub_may_follow_the_machine_or_the_reader() -> None:
    for stub, told in ((46, []), (47, []), (45, ["stub_mismatch"])):
        recording = Recording().open([1]).group(1, ("As", "Ks"), machine=3).group("dealer")
        found = [flag[0] for flag in flags(recording.shuffler("stub_counted", cards=stub).last())]
        assert found == ["count_conflict", *told]


def test_a_ruling_that_waits_for_another() -> None:
    recording = Recording().open([1]).shuffler("door_opened").group(1, ("As", "Ks"), machine=3).group("dealer")
    assert recording.last()["reason"] == "door_opened"
    assert recording.rule().last()["reason"] == "count_conflict"
    assert summary(recording.rule().reveal().last())[:2] == ("dealt", None)


def test_a_round_shown_while_held_ends_with_the_ruling() -> None:
    recording = Recording().open([1]).group(1, ("As", "Ks"), machine=3).group("dealer").reveal().rule()
    recording.open([2]).new_deck().deal().reveal()
    assert [row["outcome"] for row in recording.judged()] == ["dealt", "dealt"]


def test_a_hand_found_short_by_the_floor_after_the_reveal_while_held() -> None:
    recording = Recording().open([1]).group(1, ("As", "Ks"), machine=3).group("dealer").reveal()
    row = recording.operator("seat_checked", seat=1, cards=2).rule().last()
    assert summary(row) == ("dealt", None, [("count_conflict", 1, "hold"), ("short_hand", 1, "void_seat")])
    assert row["seats"]["1"]["verdict"] == "misdeal"


def test_a_forfeited_and_a_void_seat_are_not_judged_again() -> None:
    recording = Recording().open([1, 2]).group(1, ("As", "Ks"), machine=3).group(2, ("Ad", "Kd"), machine=3)
    recording.group("dealer").rule("forfeit_seat", 1).operator("seat_checked", seat=1, cards=2).reveal()
    row = recording.last()
    assert summary(row) == ("dealt", None, [("count_conflict", 1, "hold"), ("count_conflict", 2, "hold")])


def test_boxed_cards_told_by_the_machine_while_it_has_the_next_deck() -> None:
    recording = Recording().shuffle(deck="red").open([1], shuffled=False).deal()
    recording.shuffler("boxed_card").shuffler("boxed_card").reveal()
    assert summary(recording.last("six-card")) == ("dealt", None, [])
    recording.shuffle(deck="blue").open([1], shuffled=False)
    assert [flag[0] for flag in flags(recording.last("six-card"))] == ["boxed_card", "boxed_cards"]
    assert recording.last("six-card")["outcome"] == "void"


def test_wagers_taken_back_before_the_bets_are_closed() -> None:
    recording = Recording().shuffle().operator("wager", seat=1, ante=5).operator("wager", seat=2, ante=5)
    recording.operator("wager", seat=1).close([2], None).deal().decide(s2=True).reveal()
    row = recording.last()
    assert summary(row) == ("dealt", None, [])
    assert set(row["seats"]) == {"2", "dealer"}


def test_cards_that_a_person_finds_at_an_empty_seat() -> None:
    recording = Recording().open([1, 2]).deal().operator("seat_checked", seat=5, cards=3)
    assert summary(recording.last()) == ("held", "empty_seat_dealt", [("empty_seat_dealt", 5, "hold")])
    recording = Recording().open([1, 2]).deal().operator("seat_checked", seat=5, cards=0).reveal()
    assert summary(recording.last()) == ("dealt", None, [])


def test_cards_that_a_sensor_sees_at_an_empty_seat_and_nobody_dealt() -> None:
    recording = sensed().open([1, 2]).group(1).count(5, 1).group(2).group("dealer")
    assert summary(recording.last()) == ("held", "count_conflict", [("count_conflict", 5, "hold")])
    assert summary(recording.rule().reveal().last())[:2] == ("dealt", None)


def test_a_group_at_the_dealers_place_out_of_turn_ends_no_deal() -> None:
    recording = sensed().open([1, 2]).group("dealer").decide(s1=True)
    rows, sentences = recording.judged_with_sentences()
    assert sentences == ["the deal is not over yet"]
    assert summary(rows[0]) == ("open", None, [("wrong_seat", "dealer", "continue")])


def test_the_last_two_groups_swapped() -> None:
    recording = sensed().open([1, 2]).group(1).group("dealer").group(2)
    row = recording.last()
    assert summary(row) == ("held", "wrong_seat", [("wrong_seat", "dealer", "hold"), ("wrong_seat", 2, "continue")])
    assert recording.rule().reveal().last()["outcome"] == "dealt"


def test_nothing_is_said_of_a_hand_in_question_before_the_floor_has_ruled() -> None:
    recording = Recording().open([1]).group(1, ("As", "Ks", "Qs", "Js"), machine=2).group("dealer")
    assert flags(recording.last()) == [("count_conflict", 1, "hold")]
    assert flags(recording.rule().last()) == [("count_conflict", 1, "hold"), ("long_hand", 1, "void_seat")]


def test_the_cards_of_a_group_that_nobody_told_of_are_its_own() -> None:
    recording = Recording().open([1, 2]).group(1).card().card().card()
    recording._group = 2
    row = recording.group("dealer").rule().reveal().last()
    assert summary(row) == ("dealt", None, [("fact_gap", None, "hold")])
    assert cards(row, 2) == ["2s", "3c", "3d"]
    assert cards(row, "dealer") == ["3h", "3s", "4c"]


def test_groups_mean_nothing_to_a_rotation() -> None:
    recording = Recording("rotation").open([1]).single(1).shuffler("group_ready", group=4, cards=1)
    recording.shuffler("group_taken", group=7).single("dealer").single(1).single("dealer").single(1).single("dealer")
    assert summary(recording.operator("dealing_done").reveal().last()) == ("dealt", None, [])


def test_counts_of_sensors_that_the_table_does_not_have_mean_nothing() -> None:
    recording = Recording().open([1]).group(1).count(1, 2).count(4, 3).group("dealer").reveal()
    assert summary(recording.last()) == ("dealt", None, [])
