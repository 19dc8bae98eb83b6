"""What people read of each event."""

import msgspec
import pytest

from drivers.cards import Card
from drivers.commands import CommandKind, Outcome
from drivers.driver import Claims
from firmware_bridge.core import events as ev
from firmware_bridge.core.events import BadLine, UnknownEvent, read_event
from firmware_bridge.core.terms import Evidence, HandCategory, Irregularity, Phase, Ruling
from firmware_bridge.wording.render import Line, Renderer, Tone
from firmware_bridge.wording.words import hand_name, money, signed_money, table_time

CLAIMS = Claims(
    kind="shoe", vendor="V", model="M", serial_number="1", firmware_version="2.0", firmware_hash="", protocol="tdp/1"
)


def cards(text: str) -> tuple[Card | None, ...]:
    return tuple(None if word == "??" else Card(word) for word in text.split())


def flag(irregularity: Irregularity, seat: int | None, phase: Phase, ruling: Ruling) -> ev.IrregularityFlagged:
    return ev.IrregularityFlagged(irregularity=irregularity, seat=seat, phase=phase, ruling=ruling)


SHOWN: list[tuple[ev.Event, str]] = [
    (ev.RoundOpened(house="licensed", seats=(1, 3)), "opens under licensed: seats 1, 3"),
    (
        ev.RoundOpened(house="h", seats=(), player_dealer=4),
        "opens under h: no seats, player-dealer seat 4",
    ),
    (
        ev.WagerAccepted(seat=2, wagers={"ante": 1000, "pair_plus": 550}, returned={"ante": 20, "six_card": 0}),
        "seat 2 wagers ante 10.00, pair plus 5.50 (back: ante 0.20)",
    ),
    (ev.WagerAccepted(seat=2, wagers={}), "seat 2 wagers nothing"),
    (ev.WagerRefused(seat=2, wagers={}, reason="bets are closed"), "seat 2 wager refused: bets are closed"),
    (ev.BetsClosed(seats=(1,)), "no more bets: seats 1"),
    (ev.CardDealt(seat="dealer", index=2), "dealer  card 2"),
    (ev.HandDealt(seat=2, count=3, evidence=Evidence.SENSED, commitment="c"), "seat 2  3 cards  sensed"),
    (ev.HandDealt(seat=2, count=1, evidence=Evidence.TAKEN, commitment="c"), "seat 2  1 card  taken"),
    (
        ev.HandDealt(seat=2, count=3, evidence=Evidence.ORDER, commitment="c", number=2),
        "seat 2  3 cards  order  (identified, commitment 2)",
    ),
    (
        ev.IrregularityFlagged(
            irregularity=Irregularity.EXPOSED_CARD, seat="dealer", phase=Phase.DEALING, ruling=Ruling.CONTINUE
        ),
        "exposed card at the dealer: noted, the deal goes on",
    ),
    (
        flag(Irregularity.BOXED_CARD, None, Phase.DECIDING, Ruling.CONTINUE),
        "boxed card: noted, the round goes on",
    ),
    (
        flag(Irregularity.SHORT_HAND, 3, Phase.DEALING, Ruling.VOID_SEAT),
        "short hand at seat 3: the hand is void and its wagers go back",
    ),
    (flag(Irregularity.JAM, None, Phase.DEALING, Ruling.VOID_ROUND), "jam: the round is void"),
    (
        flag(Irregularity.FACT_GAP, None, Phase.DEALING, Ruling.HOLD),
        "fact gap: dealing stops until the floor has ruled",
    ),
    (ev.HoldRaised(irregularity=Irregularity.COUNT_CONFLICT, seat=2), "HELD for the floor: count conflict at seat 2"),
    (
        ev.HoldLifted(irregularity=Irregularity.COUNT_CONFLICT, ruling=Ruling.CONTINUE, seat=2, reason="counted"),
        "the floor has ruled on count conflict at seat 2: continue (counted)",
    ),
    (ev.DealOver(), "the deal is over"),
    (ev.DecisionTaken(seat=1, play=True), "seat 1 plays"),
    (ev.DecisionTaken(seat=1, play=False), "seat 1 folds"),
    (
        ev.HandReleased(seat=1, cards=cards("4h Qs Qd"), hand=HandCategory.PAIR, salt=""),
        "seat 1 shows Qs Qd 4h (pair of queens)",
    ),
    (ev.HandReleased(seat=1, cards=cards("?? Qs"), hand=None, salt=""), "seat 1 shows Qs ??"),
    (ev.HandReleased(seat=1, cards=(), hand=None, salt=""), "seat 1 shows no cards"),
    (ev.DealerRevealed(qualifies=None), "dealer's hand is turned up"),
    (ev.RoundVoid(reason=Irregularity.JAM), "void: jam; every wager goes back"),
    (ev.RoundVoid(reason=None), "void: by the floor; every wager goes back"),
    (ev.AlarmRaised(alarm=Irregularity.SORT_MODE, deck="red"), "ALARM: sort mode (deck red)"),
    (ev.AlarmAcknowledged(alarm=Irregularity.SORT_MODE), "alarm acknowledged: sort mode"),
    (ev.DeckOut(), "this deck deals no more"),
    (ev.DeckIn(deck="red"), "the deck is in (deck red)"),
    (ev.DeviceUp(device="shoe", claims=CLAIMS, gap=True), "shoe is there: V M 2.0; it has lost facts"),
    (ev.DeviceUp(device="shoe", claims=None, gap=False), "shoe is there"),
    (ev.DeviceDown(device="shoe", reason="unplugged"), "shoe is gone (unplugged)"),
    (ev.CommandWanted(device="shoe", command_id=1, command=CommandKind.LOCK), "shoe is told to lock"),
    (
        ev.CommandOutcome(device="shoe", command_id=1, outcome=Outcome.REFUSED, reason="door open"),
        "shoe command refused (door open)",
    ),
    (ev.PositionOffered(seat=3), "seat 3 is offered the position"),
    (ev.PositionTaken(seat=3), "seat 3 takes the position"),
    (ev.PositionDeclined(seat=3), "seat 3 declines the position"),
    (
        ev.PaymentCorrected(settled_round=4, seat=1, wager="pair_plus", paid=500, reason="misread"),
        "seat 1 of round 4: pair plus corrected to +5.00 (misread)",
    ),
    (
        ev.LimitsChanged(minimum=500, maximum=10_000, effective_at_ms=3_723_004),
        "limits 5.00 to 100.00 from 1:02:03.004 on",
    ),
    (
        ev.FactRefused(source="operator", fact="no_more_bets", sentence="the bets are closed already"),
        "refused: operator no more bets: the bets are closed already",
    ),
    (UnknownEvent(name="hall_lit"), "hall lit"),
]


@pytest.mark.parametrize(("event", "text"), SHOWN, ids=[text for _, text in SHOWN])
def test_each_event_has_its_line(event: ev.Event, text: str) -> None:
    (line,) = Renderer().lines(event)
    assert line.text == text


def test_every_event_is_shown_in_words_of_its_own() -> None:
    shown = {type(event) for event, _ in SHOWN} | {ev.RoundSettled}
    assert shown == set(ev.Event.__subclasses__())


def test_a_round_is_told_with_its_number() -> None:
    event = ev.HandDealt(round=3, seat=2, count=3, evidence=Evidence.SENSED, commitment="c")
    assert Renderer().lines(event) == (Line("round 3  seat 2  3 cards  sensed"),)


def test_hands_that_were_shown_are_named_when_they_are_paid() -> None:
    renderer = Renderer()
    renderer.lines(ev.RoundOpened(house="h", seats=(1, 2)))
    renderer.lines(ev.DealerRevealed(qualifies=True))
    dealer = ev.HandReleased(seat="dealer", cards=cards("2c Kh 8d"), hand=HandCategory.HIGH_CARD, salt="")
    assert renderer.lines(dealer)[0].text == "dealer shows Kh 8d 2c (king high), qualifies"
    renderer.lines(ev.HandReleased(seat=1, cards=cards("Qs Qd 4h"), hand=HandCategory.PAIR, salt=""))
    settled = ev.RoundSettled(
        seats={
            "1": ev.SeatSettlement(
                hand=HandCategory.PAIR,
                net=2500,
                payments=(
                    ev.Payment(wager="ante", stake=1000, result="win", paid=1000),
                    ev.Payment(wager="play", stake=1000, result="win", paid=1000),
                    ev.Payment(wager="pair_plus", stake=500, result="bonus", paid=500),
                ),
            ),
            "2": ev.SeatSettlement(
                hand=HandCategory.FLUSH,
                net=-1000,
                payments=(
                    ev.Payment(wager="ante", stake=1000, result="lose", paid=0),
                    ev.Payment(wager="play", stake=1000, result="push", paid=0),
                    ev.Payment(wager="fee", stake=50, result="returned", paid=0),
                ),
            ),
            "3": ev.SeatSettlement(net=0, payments=()),
        },
        order=(),
        player_dealer_net=-1500,
    )
    lines = renderer.lines(settled)
    assert lines[:4] == (
        Line("seat 1 pair of queens: ante +10.00, play +10.00, pair plus +5.00 = +25.00", Tone.GOOD),
        Line("seat 2 flush: ante -10.00, play push, fee 0.50 returned = -10.00"),
        Line("seat 3: nothing wagered = 0.00"),
        Line("player-dealer = -15.00"),
    )
    renderer.lines(ev.RoundOpened(house="h", seats=(1,)))
    assert renderer.lines(settled)[0].text.startswith("seat 1 pair: ")
    assert renderer.lines(dealer)[0].text == "dealer shows Kh 8d 2c (king high)"


@pytest.mark.parametrize(
    ("category", "hand", "name"),
    [
        ("straight_flush", "3h Ah 2h", "straight flush, three high"),
        ("straight", "Ah Kd Qd", "straight, ace high"),
        ("three_of_a_kind", "6h 6d 6c", "three sixes"),
        ("flush", "2h 9h 5h", "flush, nine high"),
        ("pair", "Ah 2d 2c", "pair of twos"),
        ("pair", "Ah Ad 2c", "pair of aces"),
        ("high_card", "Th 2d 3c", "ten high"),
        ("pair", "Ah Ad", "pair"),
        ("pair", "Ah Ad ??", "pair"),
    ],
)
def test_hands_have_the_names_that_dealers_use(category: str, hand: str, name: str) -> None:
    assert hand_name(HandCategory(category), cards(hand)) == name


def test_money_and_time() -> None:
    assert [money(minor) for minor in (0, 5, 1050, -1)] == ["0.00", "0.05", "10.50", "-0.01"]
    assert [signed_money(minor) for minor in (0, 5, -1050)] == ["0.00", "+0.05", "-10.50"]
    assert table_time(59_999) == "0:00:59.999"


def test_other_peoples_text_does_not_steer_the_terminal() -> None:
    event = ev.HoldLifted(irregularity=Irregularity.JAM, ruling=Ruling.CONTINUE, reason="a\x1b[2Jb\nc\u202e")
    assert Renderer().lines(event)[0].text == "the floor has ruled on jam: continue (a?[2Jb?c?)"


def test_lines_are_read_back() -> None:
    for event, _ in SHOWN:
        if not isinstance(event, UnknownEvent):
            assert read_event(msgspec.json.encode(event)) == event
    assert read_event(b'{"event":"hall_lit","seq":4,"round":1,"lux":3}') == UnknownEvent(
        name="hall_lit", seq=4, round=1
    )
    for line in (b"", b"[]", b"\xff", b"{}", b'{"event":3,"seq":1}'):
        with pytest.raises(BadLine):
            read_event(line)
