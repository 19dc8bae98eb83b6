"""The core's door: what it tells, in which order, stamped how."""

import json
from typing import Any

import msgspec
import pytest

from drivers.cards import Card
from firmware_bridge.core import commitments
from firmware_bridge.core.bridge import Bridge
from firmware_bridge.core.events import (
    CommandWanted,
    Event,
    FactRefused,
    HandDealt,
    HandReleased,
    IrregularityFlagged,
    RoundOpened,
    RoundSettled,
    RoundVoid,
)
from firmware_bridge.core.facts import Started, read_fact
from firmware_bridge.core.rules.house import House
from firmware_bridge.core.table_setup import TableSetup
from firmware_bridge.core.terms import Irregularity, RoundOutcome
from firmware_bridge.houses.loader import load_house
from tests.firmware_bridge.core.table.recording import Recording

KEY = bytes(range(32))
GROUP = TableSetup(deal="group")


def started(house: House | None = None, setup: TableSetup = GROUP, at_ms: int = 0) -> Started:
    return Started(
        at_ms=at_ms,
        version="1",
        house=msgspec.Raw(msgspec.json.encode(house or load_house("licensed"))),
        table=msgspec.Raw(msgspec.json.encode(setup)),
    )


def bridge_for(recording: Recording, house: str = "licensed") -> tuple[Bridge, list[Event]]:
    """A bridge that was told all of it, and what it told."""
    bridge = Bridge(KEY)
    events = list(bridge.apply(started(load_house(house), recording.setup)))
    for fact in recording.facts:
        events += bridge.apply(read_fact(json.dumps(fact)))
    return bridge, events


def names(events: list[Event]) -> list[str]:
    return [str(event.__struct_config__.tag) for event in events]


def tell(bridge: Bridge, **fact: Any) -> tuple[Event, ...]:
    return bridge.apply(read_fact(json.dumps(fact)))


def test_a_clean_round_from_wager_to_settlement() -> None:
    _, events = bridge_for(Recording().bet({1: 500, 3: 500}).deal().decide(s1=True, s3=False).reveal())
    assert [name for name in names(events) if name != "hand_released"] == [
        *["round_opened", "wager_accepted", "wager_accepted", "bets_closed"],
        *["card_dealt"] * 9,
        *["deal_over", "hand_dealt", "hand_dealt", "hand_dealt"],
        *["decision_taken", "decision_taken", "dealer_revealed", "round_settled"],
    ]
    assert names(events).index("hand_released") > names(events).index("dealer_revealed")
    assert {event.round for event in events} == {1}
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert [event.at_ms for event in events] == sorted(event.at_ms for event in events)


def test_every_released_hand_opens_its_commitment() -> None:
    _, events = bridge_for(Recording().bet({1: 500, 3: 500}).deal().decide(s1=True, s3=True).reveal())
    committed = {event.seat: event for event in events if isinstance(event, HandDealt)}
    released = [event for event in events if isinstance(event, HandReleased)]
    assert {event.seat for event in released} == {1, 3, "dealer"}
    for event in released:
        salt = bytes.fromhex(event.salt)
        assert salt == commitments.salt(KEY, 1, event.seat, 1)
        assert committed[event.seat].commitment == commitments.commitment(salt, event.cards)


def test_a_card_identified_later_makes_a_new_commitment() -> None:
    recording = Recording().bet({1: 500}).group(1, ("As", None, "Ks")).group("dealer")
    recording.operator("card_identified", seat=1, index=2, card="Qs").decide(s1=True).reveal()
    _, events = bridge_for(recording)
    dealt = [(event.number, event.commitment) for event in events if isinstance(event, HandDealt) and event.seat == 1]
    salts = [commitments.salt(KEY, 1, 1, number) for number in (1, 2)]
    known = [(Card("As"), None, Card("Ks")), (Card("As"), Card("Qs"), Card("Ks"))]
    expected = [commitments.commitment(*pair) for pair in zip(salts, known, strict=True)]
    assert dealt == list(zip((1, 2), expected, strict=True))


def test_a_void_round_commits_to_what_was_dealt_and_returns_the_wagers() -> None:
    _, events = bridge_for(Recording().bet({1: 500, 2: 500}).group(1).shuffler("jammed"))
    assert [event.seat for event in events if isinstance(event, HandDealt)] == [1]
    assert [event.reason for event in events if isinstance(event, RoundVoid)] == [Irregularity.JAM]
    (settled,) = (event for event in events if isinstance(event, RoundSettled))
    assert {payment.result for seat in settled.seats.values() for payment in seat.payments} == {"returned"}


def test_a_hold_locks_the_shoe_and_its_end_unlocks_it() -> None:
    recording = Recording().open([1, 2]).group(1).shuffler("door_opened").shuffler("door_opened")
    recording.fact("bridge", "time_passed").rule().shuffler("door_opened").rule("void_round")
    _, events = bridge_for(recording)
    wanted = [(e.device, e.command.value, e.command_id) for e in events if isinstance(e, CommandWanted)]
    assert wanted == [
        ("shoe", "lock", 1),
        ("shuffler", "stop", 2),
        ("shoe", "unlock", 3),
        ("shuffler", "resume", 4),
        ("shoe", "lock", 5),
        ("shuffler", "stop", 6),
        ("shoe", "unlock", 7),
        ("shuffler", "resume", 8),
    ]


def test_a_machine_that_comes_back_is_told_what_it_may_not_have_heard() -> None:
    claims = dict.fromkeys(("vendor", "model", "serial_number", "firmware_version", "firmware_hash", "protocol"), "x")

    def back(recording: Recording, kind: str) -> Recording:
        return recording.fact("bridge", "device_back", device=f"the {kind}", claims={**claims, "kind": kind})

    def ended(recording: Recording, command: int, outcome: str) -> Recording:
        device = "the shoe" if command % 2 else "the shuffler"
        return recording.fact("bridge", "command_outcome", device=device, command_id=command, outcome=outcome)

    recording = Recording().open([1, 2])
    for kind in ("shoe", "shuffler", "layout"):
        back(recording, kind)
    recording.group(1).shuffler("door_opened")  # 1 and 2: locked, and not stopped
    ended(ended(recording, 1, "finished"), 2, "unknown")
    for kind in ("shoe", "shuffler", "layout"):  # 3 and 4: a machine may have been off and on
        back(recording, kind)
    ended(ended(recording, 3, "finished"), 4, "finished").rule()  # 5 and 6: not unlocked, and resumed
    ended(ended(recording, 5, "unknown"), 6, "finished")
    for kind in ("shuffler", "layout", "shoe"):  # 7: unlocked now
        back(recording, kind)
    back(ended(recording, 7, "finished"), "shoe")
    _, events = bridge_for(recording)
    wanted = [(e.command_id, e.device, e.command.value) for e in events if isinstance(e, CommandWanted)]
    assert wanted == [
        (1, "shoe", "lock"),
        (2, "shuffler", "stop"),
        (3, "shoe", "lock"),
        (4, "shuffler", "stop"),
        (5, "shoe", "unlock"),
        (6, "shuffler", "resume"),
        (7, "shoe", "unlock"),
    ]


def test_one_hold_an_irregularity_and_place() -> None:
    _, events = bridge_for(Recording().open([1, 2]).group(1).shuffler("door_opened").shuffler("door_opened"))
    assert names(events)[-4:] == ["irregularity", "hold_raised", "command_wanted", "command_wanted"]


def test_hold_and_its_end_are_told() -> None:
    _, events = bridge_for(Recording().open([1]).group(1, ("As", "Ks"), machine=3).group("dealer").rule())
    held = names(events)[names(events).index("irregularity") :]
    assert held == [
        *["irregularity", "hold_raised", "hand_dealt", "hand_dealt", "command_wanted", "command_wanted"],
        *["hold_lifted", "command_wanted", "command_wanted"],
    ]


def test_an_alarm_is_told_with_its_deck() -> None:
    recording = Recording().shuffle(51, deck="red").operator("alarm_acknowledged", alarm="bad_shuffle_count")
    _, events = bridge_for(recording.shuffle(deck="red"))
    assert names(events) == ["alarm_raised", "deck_out", "alarm_acknowledged", "deck_in"]
    assert {event.round for event in events} == {0}


def test_a_wrong_seat_is_told_again_when_it_becomes_the_floors() -> None:
    _, events = bridge_for(Recording(sensors=True).open([1, 3]).group(3).card())
    told = [(e.irregularity.value, e.seat, e.ruling.value) for e in events if isinstance(e, IrregularityFlagged)]
    assert told == [("wrong_seat", 3, "continue"), ("wrong_seat", 3, "hold")]


def test_a_refused_fact_is_told_and_moves_no_time() -> None:
    bridge, _ = bridge_for(Recording().open([1]))
    (refused,) = tell(bridge, at_ms=9000, source="operator", fact="ruling", ruling="continue")
    assert isinstance(refused, FactRefused)
    assert (refused.source, refused.fact) == ("operator", "ruling")
    assert tell(bridge, at_ms=8000, source="shuffler", fact="door_closed") == ()


def test_an_unknown_fact_is_passed_over() -> None:
    bridge, _ = bridge_for(Recording().open([1]))
    assert tell(bridge, at_ms=1, source="shuffler", fact="humming") == ()


def test_nothing_is_known_before_the_start() -> None:
    bridge = Bridge(KEY)
    (refused,) = tell(bridge, at_ms=5, source="operator", fact="seats", seats=[1])
    assert isinstance(refused, FactRefused)
    assert "has not been started" in refused.sentence
    assert bridge.record is None
    assert bridge.deadline_ms() is None


@pytest.mark.parametrize(
    ("house", "table"),
    [
        (b"{}", b'{"deal": "group"}'),
        (msgspec.json.encode(load_house("licensed")), b'{"deal": "by hand"}'),
        (msgspec.json.encode(load_house("licensed")), b'{"deal": "group", "decks": 8}'),
        (msgspec.json.encode(load_house("licensed")), b'{"deal": "group", "schedule": 9}'),
    ],
)
def test_a_start_that_cannot_be_used(house: bytes, table: bytes) -> None:
    bridge = Bridge(KEY)
    (refused,) = bridge.apply(Started(at_ms=0, version="1", house=msgspec.Raw(house), table=msgspec.Raw(table)))
    assert isinstance(refused, FactRefused)
    assert "cannot be used" in refused.sentence
    assert bridge.record is None


def test_a_changed_house_counts_from_the_next_round() -> None:
    recording = Recording().open([1]).group(1)
    bridge, _ = bridge_for(recording)
    assert bridge.apply(started(load_house("classic"), at_ms=recording.at_ms)) == ()
    done = len(recording.facts)
    recording.group("dealer").operator("card_exposed", seat="dealer", card=None).reveal().new_deck()
    recording.open([1]).deal().operator("card_exposed", seat="dealer", card=None)
    events: list[Event] = []
    for fact in recording.facts[done:]:
        events += bridge.apply(read_fact(json.dumps(fact)))
    rulings = [event.ruling.value for event in events if isinstance(event, IrregularityFlagged)]
    assert rulings == ["continue", "hold"]
    assert [event.house for event in events if isinstance(event, RoundOpened)] == ["classic"]
    assert bridge.record is not None
    assert bridge.record.outcome is RoundOutcome.HELD


def test_a_changed_table_takes_effect_between_rounds() -> None:
    bridge, _ = bridge_for(Recording().open([1]).deal().reveal())
    at_ms = 100_000
    assert bridge.apply(started(setup=TableSetup(deal="rotation", seats=2), at_ms=at_ms)) == ()
    (refused,) = tell(bridge, at_ms=at_ms, source="operator", fact="seats", seats=[3])
    assert isinstance(refused, FactRefused)
    assert "seats 1 to 2" in refused.sentence


def test_the_same_start_again_changes_nothing() -> None:
    recording = Recording().open([1, 2]).group(1)
    bridge, _ = bridge_for(recording)
    before = bridge.record
    assert bridge.apply(started(at_ms=recording.at_ms)) == ()
    assert bridge.record == before


def test_the_next_time_limit() -> None:
    recording = Recording(deal_limit_ms=5000).shuffle().operator("seats", seats=[1])
    bridge, _ = bridge_for(recording)
    assert bridge.deadline_ms() is None
    at_ms = recording.at_ms
    tell(bridge, at_ms=at_ms, source="operator", fact="no_more_bets")
    assert bridge.deadline_ms() == at_ms + 5000
    tell(bridge, at_ms=at_ms + 100, source="shoe", fact="card_drawn", draw=1, card="As", face="down")
    assert bridge.deadline_ms() == at_ms + 5100
    assert tell(bridge, at_ms=at_ms + 5099, source="bridge", fact="time_passed") == ()
    events = tell(bridge, at_ms=at_ms + 5100, source="bridge", fact="time_passed")
    assert names(list(events))[:2] == ["irregularity", "hold_raised"]
    assert bridge.deadline_ms() is None
    tell(bridge, at_ms=at_ms + 6000, source="operator", fact="ruling", ruling="continue")
    assert bridge.deadline_ms() == at_ms + 11000


def test_a_lost_device_suspends_the_round() -> None:
    recording = Recording().open([1]).group(1).fact("bridge", "device_lost", device="shoe")
    bridge, events = bridge_for(recording)
    assert names(events)[-1] == "device_down"
    assert bridge.record is not None
    assert bridge.record.suspended
    assert bridge.record.holds == ()
    (up,) = tell(bridge, at_ms=recording.at_ms, source="bridge", fact="device_back", device="shoe", gap=False)
    assert names([up]) == ["device_up"]
    assert bridge.record is not None
    assert not bridge.record.suspended


def test_a_commands_outcome_is_told_on() -> None:
    bridge, _ = bridge_for(Recording())
    fact = {"device": "shoe", "command_id": 1, "outcome": "refused", "reason": "busy"}
    (event,) = tell(bridge, at_ms=1, source="bridge", fact="command_outcome", **fact)
    assert names([event]) == ["command_outcome"]


def test_two_runs_that_differ_in_unreleased_cards_tell_the_same() -> None:
    told = []
    for hand in (("As", "Ks", "Qs"), ("2c", "7d", "9h")):
        recording = Recording().bet({1: 500, 2: 500}).group(1, hand).group(2, ("Ah", "Kh", "Qh"))
        recording.group("dealer", ("3c", "3d", "4c")).decide(s1=False, s2=True).reveal()
        _, events = bridge_for(recording, "classic")
        told.append(
            [
                msgspec.structs.replace(event, commitment="") if isinstance(event, HandDealt) else event
                for event in events
                if not (isinstance(event, HandReleased) and event.seat == 1)
            ]
        )
    assert names(told[0]) == names(told[1])
    plain = [[e for e in one if not isinstance(e, RoundSettled)] for one in told]
    assert plain[0] == plain[1]
