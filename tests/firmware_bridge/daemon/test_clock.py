"""The table's clock goes on where the journal says that it stood."""

import ast
from pathlib import Path
from typing import Final

import pytest

from firmware_bridge.daemon.clock import TableClock
from firmware_bridge.journal.rows import ClockState

ROOT: Final = Path(__file__).parents[3]
TIME_OF_DAY: Final = {"time", "time_ns", "localtime", "gmtime", "now", "utcnow", "today"}
AS_DATA: Final = {
    "firmware_bridge/journal/lock.py",  # since when a journal is held
    "firmware_bridge/journal/schema.py",  # the name of a journal that was set aside
    "firmware_bridge/journal/stamp.py",
    "firmware_bridge/devices/capture.py",
}
"""Where the time of day is read to be kept or shown; intervals are never taken from it."""


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


def reads_time_of_day(source: str) -> bool:
    nodes = list(ast.walk(ast.parse(source)))
    calls = {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute) and node.attr in TIME_OF_DAY}
    imported = {
        name.name for node in nodes if isinstance(node, ast.ImportFrom) and node.module == "time" for name in node.names
    }
    return any(call.split(".")[-2] in {"time", "datetime", "date"} for call in calls) or bool(imported & TIME_OF_DAY)


def test_f35_intervals_are_never_taken_from_the_time_of_day() -> None:
    sources = [path for package in ("drivers", "firmware_bridge") for path in (ROOT / package).rglob("*.py")]
    assert len(sources) > 100
    found = {str(path.relative_to(ROOT)) for path in sources if reads_time_of_day(path.read_text())}
    assert found == AS_DATA


@pytest.mark.parametrize("line", ["time.time()", "from time import time_ns", "datetime.now(UTC)"])
def test_f35_whoever_reads_the_time_of_day_is_found(line: str) -> None:
    assert reads_time_of_day(f"import time\n{line}\n")
    assert not reads_time_of_day("import time\ntime.monotonic_ns()\n")
