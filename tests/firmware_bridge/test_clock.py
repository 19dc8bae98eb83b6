"""The table's clock goes on where the journal says that it stood."""

from firmware_bridge.clock import TableClock
from firmware_bridge.journal.rows import ClockState


def test_a_new_journal_begins_at_nought() -> None:
    times = iter([700, 700, 950])
    clock = TableClock(None, "boot", lambda: next(times))
    assert [clock(), clock()] == [0, 250]


def test_within_one_boot_the_time_away_counts() -> None:
    stood = ClockState(at_ms=5000, host_boot="boot", monotonic_ms=700, wall_ms=0)
    assert TableClock(stood, "boot", lambda: 900)() == 5200


def test_after_another_boot_it_goes_on_from_where_it_stood() -> None:
    stood = ClockState(at_ms=5000, host_boot="boot", monotonic_ms=700_000, wall_ms=0)
    assert TableClock(stood, "another", lambda: 900)() == 5000


def test_it_never_begins_before_where_it_stood() -> None:
    stood = ClockState(at_ms=5000, host_boot="boot", monotonic_ms=700_000, wall_ms=0)
    assert TableClock(stood, "boot", lambda: 900)() == 5000
