from dataclasses import replace

import msgspec
import pytest

from drivers.cards import Card
from firmware_bridge.core import commitments, events, facts
from firmware_bridge.core.game.game import Game
from firmware_bridge.core.game.machine import Stage
from firmware_bridge.core.rules.chosen_rules import RulesRefused
from firmware_bridge.core.table_setup import TableSetup
from firmware_bridge.core.terms import Irregularity, Phase, Ruling
from firmware_bridge.houses.loader import load_house
from tests.firmware_bridge.core.game.paper_table import KEY, PaperTable, Refused, kinds, released, settled

HANDS = {2: "As Kd 9d", 5: "7c 6d 2s", "dealer": "Kh 8d 2c"}


def dealt(house: str = "licensed") -> PaperTable:
    table = PaperTable(house)
    table.wager(5, ante=100, pair_plus=10)
    table.wager(2, ante=200, pair_plus=10)
    table.close()
    table.deal(dict(HANDS))  # type: ignore[arg-type]
    return table


def rows(told: dict[str, object], seat: str) -> list[tuple[str, str, int]]:
    payments = told["seats"][seat]["payments"]  # type: ignore[index]
    return [(row["wager"], row["result"], row["paid"]) for row in payments]


def test_a_round_from_the_first_wager_to_the_settlement() -> None:
    table = PaperTable()
    assert kinds(table.wager(5, ante=100)) == ["WagerAccepted"]
    assert kinds(table.wager(2, ante=200, pair_plus=50)) == ["WagerAccepted"]
    table.close()
    assert table.deal(dict(HANDS)) == ()  # type: ignore[arg-type]
    assert kinds(table.decide(2, play=True)) == ["DecisionTaken"]
    assert kinds(table.decide(5, play=False)) == ["DecisionTaken"]
    told = table.reveal()
    assert kinds(told) == ["DealerRevealed", "HandReleased", "HandReleased", "RoundSettled", "HandReleased"]
    assert list(released(told)) == ["dealer", 2, 5]
    assert rows(settled(told), "2") == [("play", "win", 200), ("ante", "win", 200), ("pair_plus", "lose", 0)]
    assert settled(told)["order"] == [["5", "ante"], ["2", "play"], ["2", "ante"], ["2", "pair_plus"]]
    assert table.game.stage is Stage.IDLE


def test_no_card_leaves_before_the_dealers_hand_is_shown() -> None:
    table = dealt()
    table.decide(2, play=True)
    table.decide(5, play=False)
    assert not any(isinstance(event, events.HandReleased) for event in table.events)


def test_a_released_hand_opens_its_commitment() -> None:
    table = dealt()
    table.decide(2, play=True)
    table.decide(5, play=True)
    table.reveal()
    told = {event.seat: event.commitment for event in table.events if isinstance(event, events.HandDealt)}
    opened = [event for event in table.events if isinstance(event, events.HandReleased)]
    assert len(opened) == 3
    for event in opened:
        assert commitments.commitment(bytes.fromhex(event.salt), event.cards) == told[event.seat]


def test_folds_happen_in_the_order_told() -> None:
    table = dealt()
    table.decide(5, play=False)
    table.decide(2, play=False)
    order = settled(table.reveal())["order"]
    assert order == [["5", "ante"], ["5", "pair_plus"], ["2", "ante"], ["2", "pair_plus"]]


def test_a_house_that_keeps_folds_to_itself_releases_none() -> None:
    table = dealt("six-card")
    table.decide(5, play=False)
    table.decide(2, play=True)
    assert list(released(table.reveal())) == ["dealer", 2]


def test_pair_plus_alone_has_nothing_to_decide() -> None:
    table = PaperTable()
    table.wager(2, pair_plus=10)
    table.close()
    table.deal({2: "As Ad 9d", "dealer": "Kh 8d 2c"})
    with pytest.raises(Refused, match="seat 2 has no ante"):
        table.decide(2, play=True)
    assert rows(settled(table.reveal()), "2") == [("pair_plus", "win", 10)]


def test_an_unread_card_is_waited_for() -> None:
    table = PaperTable()
    table.wager(2, ante=10)
    table.close()
    table.deal({2: "As ?? 9d", "dealer": "Kh 8d 2c"})
    table.decide(2, play=True)
    told = table.reveal()
    assert kinds(told) == ["DealerRevealed", "HandReleased"]
    with pytest.raises(Refused, match="round 1 is not settled: tell which card it is that nobody has read at seat 2"):
        table.wager(3, ante=10)
    identified = facts.CardIdentified(at_ms=table.now(), seat=2, index=2, card=Card("Ad"))
    told = table.tell(identified, table.hand(2, "As Ad 9d", number=2))
    assert kinds(told) == ["HandReleased", "RoundSettled"]
    (hand,) = [event for event in told if isinstance(event, events.HandReleased)]
    assert hand.salt == commitments.salt(KEY, 1, 2, 2).hex()


def test_an_unread_card_of_a_hand_that_lost_anyway_is_not_waited_for() -> None:
    table = PaperTable()
    table.wager(2, ante=10, pair_plus=5)
    table.close()
    table.deal({2: "As ?? 9d", "dealer": "Kh 8d 2c"})
    table.decide(2, play=False)
    told = table.reveal()
    assert settled(told)["seats"]["2"]["net"] == -15
    assert released(told)[2] == "As ?? 9d"


def test_an_unread_card_of_the_dealers_leaves_open_whether_it_qualifies() -> None:
    table = PaperTable()
    table.wager(2, ante=10)
    table.close()
    table.deal({2: "As Kd 9d", "dealer": "Kh ?? 2c"})
    table.decide(2, play=True)
    assert table.reveal() == (
        events.DealerRevealed(qualifies=None),
        *[event for event in table.events if isinstance(event, events.HandReleased)],
    )
    told = table.passes(table.hand("dealer", "Kh 8d 2c", number=2))
    assert settled(told)["seats"]["2"]["net"] == 20


def test_the_dealer_shown_too_early_where_the_house_goes_on() -> None:
    table = dealt()
    table.decide(2, play=True)
    told = table.reveal()
    assert list(released(told)) == ["dealer"]
    with pytest.raises(Refused, match="round 1 is not settled: seat 5 has still to play or fold"):
        table.tell(facts.Seats(at_ms=table.now(), seats=(1,)))
    told = table.decide(5, play=True)
    assert kinds(told) == ["DecisionTaken", "HandReleased", "HandReleased", "RoundSettled"]


def test_a_void_round_gives_everything_back() -> None:
    table = dealt()
    table.decide(2, play=True)
    table.record = replace(table.current(), phase=Phase.DECIDING)
    told = table.passes(events.RoundVoid(reason=Irregularity.LONG_HAND))
    assert settled(told)["order"] == []
    assert rows(settled(told), "2") == [("play", "returned", 0), ("ante", "returned", 0), ("pair_plus", "returned", 0)]
    assert set(released(told)) == {2, 5, "dealer"}
    assert table.game.stage is Stage.IDLE


def test_a_void_round_of_a_house_that_keeps_folds_to_itself_shows_nothing() -> None:
    table = dealt("six-card")
    told = table.reveal(events.RoundVoid(reason=Irregularity.EARLY_REVEAL))
    assert kinds(told) == ["RoundSettled"]


def test_a_misdealt_seat_gets_its_wagers_back_and_takes_no_further_part() -> None:
    table = dealt()
    table.record = replace(table.current(), void_seats=frozenset({5}))
    table.decide(2, play=True)
    told = table.reveal()
    assert rows(settled(told), "5") == [("ante", "returned", 0), ("pair_plus", "returned", 0)]
    assert list(released(told)) == ["dealer", 2, 5]


def test_a_forfeited_seat_loses_everything_it_put_down() -> None:
    table = dealt()
    table.decide(5, play=True)
    table.hold()
    table.rule(Ruling.FORFEIT_SEAT, forfeited=frozenset({5}))
    table.decide(2, play=True)
    told = table.reveal()
    assert rows(settled(told), "5") == [("play", "lose", 0), ("ante", "lose", 0), ("pair_plus", "lose", 0)]
    assert settled(told)["order"][:3] == [["5", "play"], ["5", "ante"], ["5", "pair_plus"]]


@pytest.mark.parametrize("cards", ["Kh Qd", "Kh Qd 9c 4s 3s 2s"])
def test_a_forfeited_seat_loses_whatever_number_of_cards_lies_there(cards: str) -> None:
    table = dealt()
    table.hold()
    table.hand(5, cards)
    table.rule(Ruling.FORFEIT_SEAT, forfeited=frozenset({5}))
    table.decide(2, play=True)
    seat = settled(table.reveal())["seats"]["5"]
    assert {payment["result"] for payment in seat["payments"]} == {"lose"}
    assert seat["net"] < 0


def test_a_held_round_settles_when_the_floor_says_go_on() -> None:
    table = dealt()
    table.decide(2, play=True)
    table.decide(5, play=True)
    table.hold()
    assert list(released(table.reveal())) == ["dealer"]
    assert kinds(table.rule(Ruling.CONTINUE)) == ["HandReleased", "HandReleased", "RoundSettled"]


def test_a_held_round_that_the_floor_voids() -> None:
    table = dealt()
    table.hold()
    told = table.rule(Ruling.VOID_ROUND)
    assert settled(told)["order"] == []
    assert table.game.stage is Stage.IDLE


def test_a_suspended_round_comes_back_with_nothing_lost() -> None:
    table = dealt()
    table.suspended(gone=True)
    table.decide(2, play=True)
    table.decide(5, play=True)
    table.reveal()
    assert kinds(table.suspended(gone=False)) == ["HandReleased", "HandReleased", "RoundSettled"]


def test_a_device_gone_between_rounds_suspends_the_next_one() -> None:
    table = PaperTable()
    opened = table.open(2)
    table.record = replace(table.current(), suspended=True)
    table.wager(2, opened, ante=10)
    table.close()
    table.deal({2: "As Ad 9d", "dealer": "Kh 8d 2c"})
    table.decide(2, play=True)
    assert kinds(table.reveal()) == ["DealerRevealed", "HandReleased"]
    assert kinds(table.suspended(gone=False)) == ["HandReleased", "RoundSettled"]


def test_without_wagers_hands_are_released_and_nothing_is_settled() -> None:
    table = PaperTable()
    table.tell(facts.Seats(at_ms=table.now(), seats=(2, 5)), table.open(2, 5))
    table.close()
    table.deal({2: "As ?? 9d", 5: "7c 6d 2s", "dealer": "Kh 8d 2c"})
    assert kinds(table.decide(5, play=False)) == ["DecisionTaken"]
    told = table.reveal()
    assert kinds(told) == ["DealerRevealed", "HandReleased", "HandReleased", "HandReleased"]
    assert released(told) == {"dealer": "Kh 8d 2c", 2: "As ?? 9d", 5: "7c 6d 2s"}
    later = table.passes(table.hand(2, "As Ad 9d", number=2))
    assert released(later) == {2: "As Ad 9d"}
    assert table.passes() == ()


def test_a_late_wager_is_refused_and_given_back() -> None:
    table = dealt()
    flag = events.IrregularityFlagged(
        irregularity=Irregularity.LATE_BET, seat=5, phase=Phase.DECIDING, ruling=Ruling.CONTINUE
    )
    (told,) = table.wager(5, flag, ante=900)
    assert isinstance(told, events.WagerRefused)
    assert told.wagers == {"ante": 900}
    table.decide(2, play=True)
    table.decide(5, play=True)
    assert settled(table.reveal())["seats"]["5"]["net"] == -210


def test_a_later_wager_replaces_the_first_and_nothing_takes_it_back() -> None:
    table = PaperTable()
    table.wager(2, ante=10)
    table.wager(2, ante=30, pair_plus=5)
    table.wager(5, ante=10)
    (told,) = table.wager(5)
    assert told == events.WagerAccepted(seat=5, wagers={})
    with pytest.raises(Refused, match="seat 5 has no wager that could be taken back"):
        table.wager(5)
    table.close()
    table.deal({2: "As Kd 9d", "dealer": "Kh 8d 2c"})
    table.decide(2, play=True)
    assert settled(table.reveal())["seats"].keys() == {"2"}


@pytest.mark.parametrize(
    ("house", "seat", "stakes", "says"),
    [
        ("licensed", 2, {"six_card": 5}, "seat 2 has a six_card wager, which the house licensed does not offer"),
        ("licensed", 2, {"pair_plus": 5, "tip_ante": 1}, "seat 2 has a tip_ante without a wager of the player's own"),
        ("licensed", 2, {"tip_pair_plus": 1}, "seat 2 has a tip_pair_plus without a wager of the player's own"),
        ("licensed", 2, {"ante": 5, "fee": 1}, "seat 2 has paid a fee, but the house licensed takes none"),
        ("classic", 2, {"ante": 5, "tip_ante": 1}, "seat 2 has a tip_ante, which the house classic does not offer"),
        ("six-card", 2, {"ante": 5}, "seat 2 has no pair_plus, which the house six-card demands"),
        ("licensed", 2, {}, "seat 2 has no wager that could be taken back"),
    ],
)
def test_wagers_that_a_house_does_not_take(house: str, seat: int, stakes: dict[str, int], says: str) -> None:
    table = PaperTable(house)
    with pytest.raises(Refused, match=says):
        table.tell(facts.Wager(at_ms=1, seat=seat, **stakes), table.open(seat))  # type: ignore[arg-type]
    assert table.game.stage is Stage.IDLE


def test_limits_return_the_excess_and_refuse_what_is_below() -> None:
    table = PaperTable(minimum=5, maximum=100)
    with pytest.raises(Refused, match="seat 2 has 4 on the ante, below the table's minimum of 5"):
        table.wager(2, ante=4)
    (told,) = table.wager(2, ante=130, pair_plus=100, tip_ante=101)
    assert told == events.WagerAccepted(
        seat=2, wagers={"ante": 100, "pair_plus": 100, "tip_ante": 100}, returned={"ante": 30, "tip_ante": 1}
    )


def test_new_limits_take_their_notice_and_then_count() -> None:
    table = PaperTable("six-card", maximum=100)
    soon = facts.LimitsAnnounced(at_ms=10, minimum=0, maximum=500, effective_at_ms=1_800_009)
    with pytest.raises(Refused, match="30 minutes' notice"):
        table.tell(soon)
    with pytest.raises(Refused, match="the minimum of 9 is above the maximum of 5"):
        table.tell(facts.LimitsAnnounced(at_ms=10, minimum=9, maximum=5, effective_at_ms=1_800_010))
    (told,) = table.tell(facts.LimitsAnnounced(at_ms=10, minimum=0, maximum=500, effective_at_ms=1_800_010))
    assert told == events.LimitsChanged(minimum=0, maximum=500, effective_at_ms=1_800_010)
    table.at_ms = 1_800_008
    (before,) = table.wager(2, ante=300, pair_plus=300)
    (after,) = table.wager(2, ante=300, pair_plus=300)
    assert isinstance(before, events.WagerAccepted)
    assert isinstance(after, events.WagerAccepted)
    assert (before.wagers["ante"], after.wagers["ante"]) == (100, 300)


def test_decisions_that_do_not_fit() -> None:
    table = PaperTable()
    with pytest.raises(Refused, match="no round is open"):
        table.decide(2, play=True)
    table.wager(2, ante=10)
    with pytest.raises(Refused, match="the bets are still open"):
        table.decide(2, play=True)
    table.wager(3, pair_plus=10)
    table.close()
    table.deal({2: "As Kd 9d", 3: "7c 6d 2s", "dealer": "Kh ?? 2c"})
    with pytest.raises(Refused, match="seat 3 has no ante, so it has nothing to decide"):
        table.decide(3, play=True)
    table.decide(2, play=True)
    table.reveal()
    with pytest.raises(Refused, match="every seat has decided and the dealer's hand is shown"):
        table.decide(3, play=False)


def test_a_correction_stands_beside_the_settlement() -> None:
    table = dealt()
    correction = facts.PaymentCorrected(at_ms=1, seat=2, wager="ante", paid=5, reason="miscounted")
    with pytest.raises(Refused, match="no round is settled yet"):
        table.tell(correction)
    table.decide(2, play=True)
    table.decide(5, play=True)
    before = settled(table.reveal())
    (told,) = table.tell(correction)
    assert told == events.PaymentCorrected(settled_round=1, seat=2, wager="ante", paid=5, reason="miscounted")
    with pytest.raises(Refused, match="seat 2 had no six_card in round 1"):
        table.tell(msgspec.structs.replace(correction, wager="six_card"))
    assert before == settled(tuple(table.events))


def test_a_house_that_does_not_offer_the_setup() -> None:
    for setup in (
        TableSetup(deal="group", schedule=7),
        TableSetup(deal="group", decks=2),
        TableSetup(deal="group", options={"coverage": "gross"}),
    ):
        with pytest.raises(RulesRefused):
            Game(load_house("licensed"), setup, KEY)


def test_a_changed_setup_keeps_what_was_announced() -> None:
    table = PaperTable(maximum=100)
    table.tell(facts.LimitsAnnounced(at_ms=1, minimum=0, maximum=50, effective_at_ms=1))
    table.game = table.game.renewed(load_house("classic"), TableSetup(deal="group", maximum=100))
    (told,) = table.wager(2, ante=100)
    assert isinstance(told, events.WagerAccepted)
    assert told.returned == {"ante": 50}


def test_a_refusal_changes_nothing() -> None:
    table = dealt()
    for fact in (
        facts.Decision(at_ms=1, seat=9, play=True),
        facts.PlayerDealer(at_ms=1, seat=1, wager=5, action_seat=2),
        facts.PaymentCorrected(at_ms=1, seat=2, wager="ante", paid=5, reason=""),
    ):
        assert table.game.refusal(fact, table.record) == table.game.refusal(fact, table.record) is not None
    table.decide(2, play=True)
    table.decide(5, play=True)
    assert "RoundSettled" in kinds(table.reveal())
