from drivers.tdp.host.rtt import INITIAL_TIMEOUT_MS, LONGEST_TIMEOUT_MS, SHORTEST_TIMEOUT_MS, RoundTrips, backed_off


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
