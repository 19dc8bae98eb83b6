from drivers.tdp.host.clock_sync import CLOCK_SAMPLES, ClockMap


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
