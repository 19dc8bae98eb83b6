"""Facts of several devices reach the core in the order in which they happened, each once, whatever breaks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drivers.commands import CommandKind, Outcome
from drivers.driver import CommandReport, Heard, LinkDown, NumberedFact
from drivers.facts import Fact, Jammed, SeatCount
from firmware_bridge.core.facts import CommandOutcome, DeviceLost, NoMoreBets, TimePassed
from firmware_bridge.daemon.intake import Acknowledge, Answer, BarrierReached, Intake, SendCommand
from firmware_bridge.daemon.ordering import GRACE_MS, PATIENCE_MS
from firmware_bridge.journal.rows import Apply, Receive
from tests.firmware_bridge.daemon.intake_world import (
    DEVICE_NAMES,
    DEVICES,
    UP,
    IntakeRun,
    MemoryJournal,
    RecordingCore,
    World,
    device_fact,
)


def test_a_fact_already_in_order_is_received_and_applied_in_one_transaction() -> None:
    run = IntakeRun()
    run.intake.report("shuffler", Heard(at_ms=1020), 1021)
    run.intake.report("layout", Heard(at_ms=1020), 1021)
    run.tell("shoe", 1, 1010, 1021)
    assert [type(write) for write in run.advance(1021).writes] == [Receive, Apply]


def test_a_fact_sent_again_is_acknowledged_again_and_not_received_again() -> None:
    run = IntakeRun()
    run.tell("shoe", 2**32 - 1, 1010, 1010)
    run.tell("shoe", 0, 1011, 1011)
    run.advance(1011)
    run.tell("shoe", 2**32 - 1, 1010, 1012)
    batch = run.advance(1012)
    assert batch.writes == ()
    assert batch.after == (Acknowledge("shoe", 0, "b"),)


def test_the_same_number_of_another_boot_is_another_fact() -> None:
    run = IntakeRun()
    run.tell("shoe", 7, 1010, 1010)
    run.intake.report("shoe", NumberedFact(boot="c", number=7, fact=device_fact("shoe", 1011, 7)), 1011)
    assert len(run.advance(1011).writes) == 2


@pytest.mark.parametrize(("told_ms", "stamped_ms"), [(5000, 1012), (-3, 1000), (999, 1000), (1010, 1010)])
def test_a_time_that_cannot_be_is_put_right(told_ms: int, stamped_ms: int) -> None:
    run = IntakeRun()
    run.tell("shoe", 1, told_ms, 1012)
    write = run.advance(1012).writes[0]
    assert isinstance(write, Receive)
    assert write.fact.at_ms == stamped_ms


def test_a_command_is_sent_after_its_commit_and_its_outcome_is_a_fact() -> None:
    run = IntakeRun()
    for device in DEVICES:
        run.intake.report(device, Heard(at_ms=1010), 1010)
    run.tell("shuffler", 1, 1010, 1010, Jammed(at_ms=1010))
    (sent,) = [one for one in run.advance(1010).after if isinstance(one, SendCommand)]
    assert (sent.device, sent.command.kind) == ("shoe", CommandKind.LOCK)
    for outcome in (Outcome.ACCEPTED, Outcome.FINISHED, Outcome.FINISHED):
        run.intake.report("shoe", CommandReport(sent.command.id, outcome), 1020)
    run.advance(1020 + PATIENCE_MS)
    told = [fact.outcome for fact in run.applied if isinstance(fact, CommandOutcome)]
    assert told == [Outcome.ACCEPTED, Outcome.FINISHED]


def test_the_outcome_is_unknown_when_the_link_dies_first() -> None:
    run = IntakeRun()
    for device in DEVICES:
        run.intake.report(device, Heard(at_ms=1010), 1010)
    run.tell("shuffler", 1, 1010, 1010, Jammed(at_ms=1010))
    run.intake.advance(1010)
    run.intake.report("shoe", LinkDown(reason="unplugged"), 1011)
    batch = run.intake.advance(1011)
    assert not [one for one in batch.after if isinstance(one, SendCommand)]
    run.intake.advance(1011 + GRACE_MS)
    (told,) = [fact for fact in run.applied if isinstance(fact, CommandOutcome)]
    assert (told.outcome, told.reason) == (Outcome.UNKNOWN, "unplugged")


def test_a_command_for_a_device_that_is_away_is_not_kept_for_later() -> None:
    run = IntakeRun()
    for device in DEVICES:
        run.intake.report(device, Heard(at_ms=1010), 1010)
    run.intake.report("shoe", LinkDown(reason="unplugged"), 1011)
    run.tell("shuffler", 1, 1010, 1012, Jammed(at_ms=1010))
    run.advance(1012)
    run.intake.report("shoe", UP, 1020)
    run.intake.report("shoe", Heard(at_ms=1020, asked_at_ms=1020), 1020)
    batch = run.advance(1020 + PATIENCE_MS)
    assert not [one for one in batch.after if isinstance(one, SendCommand)]
    (told,) = [fact for fact in run.applied if isinstance(fact, CommandOutcome)]
    assert told.outcome is Outcome.UNKNOWN


def test_a_time_limit_is_told_once_after_everything_before_it() -> None:
    run = IntakeRun()
    run.core.limit_ms = 1100
    assert run.intake.wake_at_ms(1000) == 1100
    run.tell("shoe", 1, 1099, 1100)
    assert set(run.advance(1100).ask) == set(DEVICES)
    assert run.applied == []
    for device in DEVICES:
        run.intake.report(device, Heard(at_ms=1090, asked_at_ms=1100), 1105)
    run.advance(1105)
    assert [type(fact) for fact in run.applied] == [SeatCount, TimePassed]
    assert run.applied[-1] == TimePassed(at_ms=1100)


def test_a_time_limit_runs_out_also_while_a_device_is_silent_or_lost() -> None:
    run = IntakeRun()
    run.core.limit_ms = 1100
    run.advance(1100)
    assert run.intake.wake_at_ms(1100) == 1100 + PATIENCE_MS
    run.advance(1100 + PATIENCE_MS)
    assert run.applied == [TimePassed(at_ms=1100)]
    run.core.limit_ms = 1200
    run.intake.report("shoe", LinkDown(reason="unplugged"), 1199)
    run.advance(1200)
    assert isinstance(run.applied[-1], DeviceLost)
    assert run.intake.wake_at_ms(1200) == 1199 + GRACE_MS
    run.advance(1199 + GRACE_MS)
    assert [fact for fact in run.applied if isinstance(fact, TimePassed)][1:] == [TimePassed(at_ms=1200)]


def test_a_barrier_is_reached_when_all_before_it_is_applied() -> None:
    run = IntakeRun()
    run.tell("shoe", 1, 1010, 1010)
    run.intake.barrier("b")
    assert not [one for one in run.advance(1010).after if isinstance(one, BarrierReached)]
    run.tell("shoe", 2, 1030, 1030)
    batch = run.advance(1010 + PATIENCE_MS)
    assert [one.token for one in batch.after if isinstance(one, BarrierReached)] == ["b"]
    run.intake.barrier("c")
    assert run.intake.waiting == 1


def test_a_request_repeated_while_it_waits_is_one_request() -> None:
    run = IntakeRun()
    for _ in range(2):
        run.intake.request("r", "dealer", NoMoreBets(at_ms=0), 1010)
    assert len(run.advance(1010).writes) == 1
    batch = run.advance(1010 + PATIENCE_MS)
    assert [one for one in batch.after if isinstance(one, Answer)] == [Answer("r", 1010, batch.after[0].events)]  # type: ignore[union-attr]


def test_after_a_restart_what_was_up_is_down_and_commands_are_unknown() -> None:
    run = IntakeRun()
    for device in DEVICES:
        run.intake.report(device, Heard(at_ms=1010), 1010)
    run.tell("shuffler", 1, 1010, 1010, Jammed(at_ms=1010))
    run.advance(1010)
    intake, core = run.journal.rebuild("another run", 2000)
    run.journal.commit(intake.advance(2000 + GRACE_MS).writes)
    new = core.facts[len(run.core.facts) :]
    assert [fact.device for fact in new if isinstance(fact, DeviceLost)] == DEVICE_NAMES
    assert [fact.outcome for fact in new if isinstance(fact, CommandOutcome)] == [Outcome.UNKNOWN]
    again, _ = run.journal.rebuild("a third run", 9000)
    assert len(again.advance(9000 + GRACE_MS).writes) == 2, "nothing is told twice: this run's start alone"


def test_a_device_that_is_no_longer_configured_is_told_as_lost() -> None:
    run = IntakeRun()
    intake = Intake(RecordingCore(), {"shoe": DEVICES["shoe"]}, "run 2")
    for received, _ in run.journal.applied:
        intake.replay(received, *run.journal.received[received])
    assert intake.lost == ("shoe",)


GAP_MS = 13
ERROR_MS = 6


@st.composite
def happenings(draw: st.DrawFn) -> list[tuple[int, str]]:
    """What happens at the table: (ms since the one before, device)."""
    step = st.tuples(st.integers(GAP_MS, 60), st.sampled_from(DEVICE_NAMES))
    return draw(st.lists(step, min_size=1, max_size=25))


ERRORS = st.lists(st.integers(-ERROR_MS, ERROR_MS), min_size=1, max_size=40)
DELAYS = st.lists(st.integers(0, PATIENCE_MS // 2 - 1), min_size=1, max_size=40)


def play(world: World, steps: list[tuple[int, str]]) -> None:
    at_ms = 1100
    for mark, (gap_ms, device) in enumerate(steps, start=1):
        at_ms += gap_ms
        for ahead_ms, other in enumerate(DEVICE_NAMES, start=1):
            world.at(at_ms - 2 * ahead_ms, world.machines[other].beat)
        world.at(at_ms, lambda mark=mark, device=device: world.machines[device].happen(mark))  # type: ignore[misc]


@given(happenings(), ERRORS, DELAYS)
def test_facts_are_applied_in_the_order_in_which_they_happened(
    steps: list[tuple[int, str]], errors_ms: list[int], delays_ms: list[int]
) -> None:
    world = World(errors_ms, delays_ms)
    for machine in world.machines.values():
        world.at(1001, machine.connect)
    play(world, steps)
    world.run()
    assert world.journal.marks() == list(range(1, len(steps) + 1))


@settings(max_examples=300)
@given(
    happenings(),
    ERRORS,
    DELAYS,
    st.lists(st.tuples(st.sampled_from(DEVICE_NAMES), st.integers(1000, 2500), st.integers(1, 400)), max_size=4),
    st.frozensets(st.integers(0, 120), max_size=6),
    st.lists(st.integers(1000, 2500), max_size=5),
)
def test_nothing_is_lost_doubled_or_swapped_by_pulled_cables_and_killed_daemons(
    steps: list[tuple[int, str]],
    errors_ms: list[int],
    delays_ms: list[int],
    pulled: list[tuple[str, int, int]],
    crash_at: frozenset[int],
    asked_ms: list[int],
) -> None:
    world = World(errors_ms, delays_ms, crash_at)
    for machine in world.machines.values():
        world.at(1001, machine.connect)
    for device, at_ms, for_ms in pulled:
        world.at(at_ms, world.machines[device].lose)
        world.at(at_ms + for_ms, world.machines[device].connect)
    play(world, steps)
    for number, at_ms in enumerate(asked_ms):
        world.at(at_ms, lambda number=number: world.request(f"r{number}", NoMoreBets(at_ms=0)))  # type: ignore[misc]
    world.run()
    assert world.journal.marks() == list(range(1, len(steps) + 1))
    assert len(world.answers) == len(set(world.answers))
    assert world.core.facts == _replayed(world.journal)


def _replayed(journal: MemoryJournal) -> list[Fact]:
    core = RecordingCore()
    intake = Intake(core, DEVICES, "reader")
    for received, events in journal.applied:
        assert intake.replay(received, *journal.received[received]) == events
    return core.facts
