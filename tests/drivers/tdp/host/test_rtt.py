"""How long to wait for an answer, and which question it answers."""

from hypothesis import given
from hypothesis import strategies as st

from drivers.tdp.host.rtt import (
    INITIAL_TIMEOUT_MS,
    LONGEST_TIMEOUT_MS,
    QUESTIONS_REMEMBERED,
    SHORTEST_TIMEOUT_MS,
    Question,
    Questions,
    RoundTrips,
    backed_off,
)


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


@given(st.lists(st.integers(0, 10_000), max_size=40))
def test_no_round_trips_lead_out_of_the_bounds(measured_ms: list[int]) -> None:
    trips = RoundTrips()
    for round_trip_ms in measured_ms:
        trips.measured(round_trip_ms)
        assert SHORTEST_TIMEOUT_MS <= trips.timeout_ms <= LONGEST_TIMEOUT_MS


def test_each_wait_is_twice_the_one_before_until_the_longest() -> None:
    assert backed_off(300) == 600
    assert backed_off(600) == LONGEST_TIMEOUT_MS
    assert backed_off(LONGEST_TIMEOUT_MS) == LONGEST_TIMEOUT_MS


def test_a_question_is_answered_once_and_by_its_own_id() -> None:
    questions = Questions()
    first, second = Question(500, None), Question(1000, 7)
    ids = [questions.ask(question) for question in (first, second)]
    assert ids == [1, 2]
    assert questions.answered(3) is None
    assert questions.answered(2) == second
    assert questions.answered(1) == first
    assert questions.answered(1) is None


def test_a_question_that_nobody_answers_is_forgotten_in_the_end() -> None:
    questions = Questions()
    for at_ms in range(QUESTIONS_REMEMBERED + 1):
        questions.ask(Question(at_ms, None))
    assert questions.answered(1) is None
    assert questions.answered(2) == Question(1, None)
    assert questions.answered(QUESTIONS_REMEMBERED + 1) == Question(QUESTIONS_REMEMBERED, None)


def test_no_question_has_the_id_of_a_sign_of_life_that_nobody_asked_for() -> None:
    questions = Questions()
    questions._last = 2**32 - 2
    assert [questions.ask(Question(0, None)) for _ in range(2)] == [2**32 - 1, 1]
