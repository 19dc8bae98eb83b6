from hypothesis import given
from hypothesis import strategies as st

from drivers.tdp.host.clock_sync import CLOCK_SAMPLES, CLOCK_WINDOW_MS, DRIFT_PER_MILLION, ClockMap


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


def test_before_the_first_measurement_the_device_s_own_clock_is_taken() -> None:
    assert ClockMap().table_ms(7050) == 7050


def test_what_was_measured_over_a_minute_ago_is_forgotten_though_it_was_the_better() -> None:
    clock = ClockMap()
    clock.measured(sent_ms=0, arrived_ms=0, device_ms=1000)
    for at_ms in (CLOCK_WINDOW_MS, CLOCK_WINDOW_MS + 1):
        clock.measured(sent_ms=at_ms - 20, arrived_ms=at_ms, device_ms=at_ms + 993)
        assert clock.table_ms(1000) == (0 if at_ms <= CLOCK_WINDOW_MS else -3)


@given(
    ahead_ms=st.integers(-(10**9), 10**9),
    trips=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 100)), min_size=1, max_size=20),
)
def test_the_error_is_at_most_half_of_the_shortest_round_trip(ahead_ms: int, trips: list[tuple[int, int]]) -> None:
    clock = ClockMap()
    for number, (round_trip_ms, percent) in enumerate(trips):
        sent_ms = number * 500
        read_ms = sent_ms + round_trip_ms * percent // 100
        clock.measured(sent_ms=sent_ms, arrived_ms=sent_ms + round_trip_ms, device_ms=read_ms + ahead_ms)
    drift_ms = 1 + len(trips) * 500 * DRIFT_PER_MILLION // 1_000_000
    shortest_ms = min(round_trip_ms for round_trip_ms, _ in trips)
    assert abs(clock.table_ms(5000 + ahead_ms) - 5000) <= shortest_ms / 2 + drift_ms
