import pytest

from drivers.angel_eye.command_queue import ANSWER_MS, CONFIRM_MS, MOST_WAITING, QUIET_MS, CommandQueue
from drivers.angel_eye.telegrams import Answer, Bcc, command_bytes
from drivers.commands import Command, CommandKind, Outcome
from drivers.driver import CommandReport

LOCK = Command(id=1, kind=CommandKind.LOCK)
UNLOCK = Command(id=2, kind=CommandKind.UNLOCK)
LOCK_BYTES = command_bytes("LK", 2, Bcc.WITHOUT_STX)
UNLOCK_BYTES = command_bytes("LK", 1, Bcc.WITHOUT_STX)
QUESTION_BYTES = command_bytes("GP", 0, Bcc.WITHOUT_STX)
YES = Answer(accepted=True)


def outcomes(reports: tuple[CommandReport, ...]) -> list[tuple[int, Outcome]]:
    return [(report.command_id, report.outcome) for report in reports]


def test_one_goes_out_at_a_time_and_the_question_waits_for_commands() -> None:
    queue = CommandQueue(Bcc.WITHOUT_STX)
    queue.ask()
    assert queue.put(LOCK) is None
    assert queue.next(0) == LOCK_BYTES
    assert queue.next(0) == b""
    assert queue.answered(YES, 5) is not None
    assert queue.next(5) == QUESTION_BYTES
    assert queue.answered(YES, 6) is not None
    assert queue.next(6) == b""


def test_the_check_character_is_the_configured_one() -> None:
    queue = CommandQueue(Bcc.WITH_STX)
    queue.put(LOCK)
    assert queue.next(0) == command_bytes("LK", 2, Bcc.WITH_STX) != LOCK_BYTES


def test_a_lock_is_finished_by_the_shoes_own_word() -> None:
    queue = CommandQueue(Bcc.WITHOUT_STX)
    queue.put(LOCK)
    queue.next(0)
    answered = queue.answered(YES, 10)
    assert answered is not None
    assert (answered.sent_ms, outcomes(answered.reports)) == (0, [(1, Outcome.ACCEPTED)])
    queue.put(UNLOCK)
    assert queue.next(11) == b""
    assert queue.lock_state(locked=False) == ()
    assert outcomes(queue.lock_state(locked=True)) == [(1, Outcome.FINISHED)]
    assert queue.next(12) == UNLOCK_BYTES


def test_a_shoe_that_is_locked_already_is_done_at_once() -> None:
    queue = CommandQueue(Bcc.WITHOUT_STX)
    queue.lock_state(locked=True)
    queue.put(LOCK)
    queue.next(0)
    answered = queue.answered(YES, 1)
    assert answered is not None
    assert outcomes(answered.reports) == [(1, Outcome.ACCEPTED), (1, Outcome.FINISHED)]


def test_a_lock_that_is_never_told_of_is_unknown() -> None:
    queue = CommandQueue(Bcc.WITHOUT_STX)
    queue.put(LOCK)
    queue.next(0)
    queue.answered(YES, 10)
    assert queue.wake_at_ms == 10 + CONFIRM_MS
    assert queue.tick(9 + CONFIRM_MS) == ()
    assert outcomes(queue.tick(10 + CONFIRM_MS)) == [(1, Outcome.UNKNOWN)]
    assert queue.wake_at_ms is None


def test_after_a_question_without_an_answer_nothing_is_sent_for_a_while() -> None:
    queue = CommandQueue(Bcc.WITHOUT_STX)
    queue.put(LOCK)
    queue.put(UNLOCK)
    queue.next(0)
    assert queue.wake_at_ms == ANSWER_MS
    assert queue.tick(ANSWER_MS - 1) == ()
    assert outcomes(queue.tick(ANSWER_MS)) == [(1, Outcome.UNKNOWN)]
    assert queue.answered(YES, ANSWER_MS) is None
    assert queue.next(ANSWER_MS) == b""
    assert queue.wake_at_ms == ANSWER_MS + QUIET_MS
    queue.tick(ANSWER_MS + QUIET_MS)
    assert queue.next(ANSWER_MS + QUIET_MS) == UNLOCK_BYTES


@pytest.mark.parametrize(("code", "says"), [(None, "without a code"), (0x45, "code E")])
def test_a_refusal_says_its_code(code: int | None, says: str) -> None:
    queue = CommandQueue(Bcc.WITHOUT_STX)
    queue.put(LOCK)
    queue.next(0)
    answered = queue.answered(Answer(accepted=False, code=code), 1)
    assert answered is not None
    assert answered.reports == (CommandReport(1, Outcome.REFUSED, f"the shoe refused it ({says})"),)


def test_what_a_shoe_does_not_know_and_what_is_too_much_is_refused_at_once() -> None:
    queue = CommandQueue(Bcc.WITHOUT_STX)
    refused = queue.put(Command(id=9, kind=CommandKind.SHUFFLE))
    assert refused == CommandReport(9, Outcome.REFUSED, "a shoe knows no command shuffle")
    for number in range(MOST_WAITING):
        assert queue.put(Command(id=number, kind=CommandKind.LOCK)) is None
    refused = queue.put(LOCK)
    assert refused is not None
    assert refused.reason == f"{MOST_WAITING} commands wait for the shoe already"


def test_when_the_link_ends_what_was_sent_is_unknown_and_what_waited_was_not_sent() -> None:
    queue = CommandQueue(Bcc.WITHOUT_STX)
    for number, kind in enumerate((CommandKind.LOCK, CommandKind.REPORT_STATE, CommandKind.UNLOCK), 1):
        queue.put(Command(id=number, kind=kind))
    queue.next(0)
    assert outcomes(queue.close()) == [(1, Outcome.UNKNOWN), (2, Outcome.REFUSED), (3, Outcome.REFUSED)]
    assert queue.close() == ()
    assert queue.wake_at_ms is None
