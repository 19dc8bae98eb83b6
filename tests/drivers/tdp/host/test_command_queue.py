import pytest

from drivers.commands import Command, CommandKind, Outcome
from drivers.driver import CommandReport
from drivers.tdp.codec.command_messages import CommandMessage, OutcomeMessage
from drivers.tdp.host.command_queue import MOST_SENDINGS, MOST_UNDER_WAY, MOVE_ANSWER_MS, CommandQueue

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
