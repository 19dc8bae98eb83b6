"""The parts of the driver by themselves: stream in order, round trips, clock, commands."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.commands import Command, CommandKind, Outcome
from drivers.driver import CommandReport, DeviceKind, Heard
from drivers.facts import CutCard
from drivers.sequence import seq_add
from drivers.tdp.codec.command_messages import Alive, CommandMessage, OutcomeMessage
from drivers.tdp.codec.fact_messages import FactMessage
from drivers.tdp.codec.header import REORDER_LIMIT
from drivers.tdp.codec.session_messages import Started
from drivers.tdp.host.command_queue import MOST_SENDINGS, MOST_UNDER_WAY, MOVE_ANSWER_MS, CommandQueue
from drivers.tdp.host.fact_order import FactOrder
from drivers.tdp.host.stream import SequencedReceiver
from drivers.tdp.host.timing import (
    CLOCK_SAMPLES,
    INITIAL_TIMEOUT_MS,
    LONGEST_TIMEOUT_MS,
    SHORTEST_TIMEOUT_MS,
    ClockMap,
    Question,
    RoundTrips,
    backed_off,
)


@given(first=st.integers(0, 0xFFFF), seed=st.integers(0, 10_000))
def test_whatever_the_order_each_is_handed_on_once_in_turn(first: int, seed: int) -> None:
    random = Random(seed)
    receiver: SequencedReceiver[int] = SequencedReceiver(first)
    found: list[int] = []
    sent = 0
    while sent < 40 or len(found) < 40:
        # the sender's window: from the receiver's place on, any frame in any order, old ones among them
        pick = max(0, len(found) + random.randrange(-6, 8))
        sent = max(sent, pick + 1)
        if pick < 40:
            found += receiver.take(seq_add(first, pick, 16), pick)
    assert found == list(range(40))
    assert receiver.expected == seq_add(first, 40, 16)


def test_frames_far_ahead_are_not_kept() -> None:
    receiver: SequencedReceiver[str] = SequencedReceiver(0xFFFE)
    assert receiver.take(seq_add(0xFFFE, REORDER_LIMIT + 1, 16), "far") == []
    assert receiver.too_far_ahead == 1
    assert receiver.take(0, "third") == []
    assert receiver.take(0, "third") == []
    assert receiver.repeated == 1
    assert receiver.take(0xFFFE, "first") == ["first"]
    assert receiver.take(0xFFFF, "second") == ["second", "third"]
    assert receiver.take(0xFFFF, "second") == []
    assert receiver.repeated == 2


def test_the_waiting_time_follows_the_round_trips_within_bounds() -> None:
    trips = RoundTrips()
    assert trips.timeout_ms == INITIAL_TIMEOUT_MS
    trips.measured(100)
    assert trips.timeout_ms == 300
    for _ in range(60):
        trips.measured(2)
    assert trips.timeout_ms == SHORTEST_TIMEOUT_MS
    for _ in range(60):
        trips.measured(5000)
    assert trips.timeout_ms == LONGEST_TIMEOUT_MS
    assert backed_off(300) == 600
    assert backed_off(LONGEST_TIMEOUT_MS) == LONGEST_TIMEOUT_MS


def test_the_shortest_round_trip_sets_the_clock() -> None:
    clock = ClockMap()
    clock.measured(sent_ms=0, arrived_ms=100, device_ms=7090)
    assert abs(clock.table_ms(7050) - 10) <= 1
    clock.measured(sent_ms=200, arrived_ms=204, device_ms=7202)
    assert clock.table_ms(7050) == 50
    clock.measured(sent_ms=300, arrived_ms=400, device_ms=7390)
    assert clock.table_ms(7050) == 50


def test_an_old_measurement_gives_way_to_a_new_one() -> None:
    clock = ClockMap()
    clock.measured(sent_ms=0, arrived_ms=2, device_ms=1001)
    clock.measured(sent_ms=61_000, arrived_ms=61_006, device_ms=62_008)
    assert clock.table_ms(62_008) == 61_003


def test_a_device_clock_that_was_set_starts_anew() -> None:
    clock = ClockMap()
    clock.measured(sent_ms=0, arrived_ms=2, device_ms=1001)
    clock.measured(sent_ms=1000, arrived_ms=1080, device_ms=900_040)
    assert clock.table_ms(900_040) == 1040


def test_measurements_do_not_pile_up() -> None:
    clock = ClockMap()
    for step in range(5000):
        clock.measured(sent_ms=step * 10, arrived_ms=step * 10 + 2, device_ms=step * 10 + 1)
    assert len(clock._samples) <= CLOCK_SAMPLES


STOP, SHUFFLE = CommandKind.STOP, CommandKind.SHUFFLE


def test_one_command_at_a_time_until_it_has_an_outcome() -> None:
    desk = CommandQueue()
    assert desk.put(Command(id=1, kind=STOP)) is None
    assert desk.put(Command(id=2, kind=STOP)) is None
    assert desk.next(0, 100) == CommandMessage(id=1, command=3)
    assert desk.next(0, 100) is None
    desk.outcome(OutcomeMessage(id=1, outcome=Outcome.ACCEPTED))
    assert desk.next(5, 100) == CommandMessage(id=2, command=3)


def test_a_command_that_moves_nothing_is_repeated_a_bounded_number_of_times() -> None:
    desk = CommandQueue()
    desk.put(Command(id=1, kind=STOP))
    desk.next(0, 100)
    told: list[tuple[int, CommandMessage | CommandReport]] = []
    while desk.wake_at_ms is not None:
        now_ms = desk.wake_at_ms
        assert desk.overdue(now_ms - 1) is None
        late = desk.overdue(now_ms)
        assert late is not None
        told.append((now_ms, late))
    assert [at for at, _ in told] == [100, 300, 700, 1500, 2500]
    assert [type(late) for _, late in told] == [CommandMessage] * (MOST_SENDINGS - 1) + [CommandReport]


def test_a_command_that_moves_cards_is_given_up_without_a_second_sending() -> None:
    desk = CommandQueue()
    desk.put(Command(id=1, kind=SHUFFLE))
    desk.next(0, 100)
    assert desk.wake_at_ms == MOVE_ANSWER_MS
    late = desk.overdue(MOVE_ANSWER_MS)
    assert isinstance(late, CommandReport)
    assert late.outcome is Outcome.UNKNOWN
    assert desk.close() == []


def test_a_refusal_s_reason_is_told() -> None:
    desk = CommandQueue()
    desk.put(Command(id=1, kind=SHUFFLE))
    desk.next(0, 100)
    told = desk.outcome(OutcomeMessage(id=1, outcome=Outcome.REFUSED, reason="the door is open"))
    assert told == CommandReport(1, Outcome.REFUSED, "the door is open")
    assert desk.close() == []


def test_what_is_known_when_the_link_is_lost() -> None:
    desk = CommandQueue()
    for command_id in (1, 2, 3, 4):
        desk.put(Command(id=command_id, kind=STOP))
    desk.next(0, 100)
    desk.outcome(OutcomeMessage(id=1, outcome=Outcome.FINISHED))
    desk.next(0, 100)
    desk.outcome(OutcomeMessage(id=2, outcome=Outcome.STARTED))
    desk.next(0, 100)
    assert [(report.command_id, report.outcome) for report in desk.close()] == [
        (2, Outcome.UNKNOWN),
        (3, Outcome.UNKNOWN),
        (4, Outcome.REFUSED),
    ]
    assert desk.close() == []


def test_commands_do_not_pile_up() -> None:
    desk = CommandQueue()
    for command_id in range(1, MOST_UNDER_WAY + 1):
        assert desk.put(Command(id=command_id, kind=STOP)) is None
    refused = desk.put(Command(id=99, kind=STOP))
    assert refused is not None
    assert refused.outcome is Outcome.REFUSED


@pytest.mark.parametrize("command_id", [0, -1, 2**64])
def test_ids_that_have_no_room_are_refused(command_id: int) -> None:
    refused = CommandQueue().put(Command(id=command_id, kind=STOP))
    assert refused is not None
    assert refused.outcome is Outcome.REFUSED


def test_an_asked_sign_of_life_is_heard_at_or_after_the_question() -> None:
    """However lopsided the measured round trip was: the device read its clock after it was asked."""
    order = FactOrder(DeviceKind.SHOE, Counter())
    order.clock.measured(sent_ms=0, arrived_ms=400, device_ms=10_390)  # the answer took next to no time
    assert not order.begin(bytes(8), Started(gap=False, first_number=5), None)
    order.alive(Alive(ping=1, clock_ms=10_501, next_number=5), Question(500, 5))
    assert order.heard(502) == [Heard(500, 500)]
    drawn = FactMessage.of(5, CutCard(at_ms=10_450))
    fact = order.take(drawn, 503)
    assert fact is not None
    assert fact.fact.at_ms == 500
