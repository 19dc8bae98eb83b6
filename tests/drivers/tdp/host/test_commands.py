"""Commands over the wire: each done at most once, and an end reported of every one."""

import pytest

from drivers.commands import Command, CommandKind, Outcome
from drivers.driver import CommandReport, LinkDown
from drivers.tdp.codec.enums import COMMAND_CODES
from tests.drivers.tdp.device import ModelDevice
from tests.drivers.tdp.link import Faults, Link, up


def test_commands_run_through_their_outcomes() -> None:
    link = up(Link(ModelDevice()))
    link.send(Command(id=7, kind=CommandKind.STOP))
    link.send(Command(id=9, kind=CommandKind.RESUME))
    link.run(100)
    order = [Outcome.ACCEPTED, Outcome.STARTED, Outcome.FINISHED]
    assert [(report.command_id, report.outcome) for report in link.outcomes()] == [
        *((7, outcome) for outcome in order),
        *((9, outcome) for outcome in order),
    ]
    codes = [COMMAND_CODES[CommandKind.STOP], COMMAND_CODES[CommandKind.RESUME]]
    assert link.device.commands == list(zip((7, 9), codes, strict=True))


def test_a_command_before_the_session_is_refused_at_once() -> None:
    link = Link(ModelDevice(), faults=Faults(loss=1.0))
    link.send(Command(id=1, kind=CommandKind.STOP))
    assert link.outcomes() == [CommandReport(1, Outcome.REFUSED, "there is no session with the device")]


def test_a_lost_command_that_moves_nothing_is_repeated() -> None:
    link = up(Link(ModelDevice()))
    link.faults = Faults(loss=1.0)
    link.send(Command(id=1, kind=CommandKind.STOP))
    link.run(120)
    link.faults = Faults()
    link.run(300)
    assert link.device.commands == [(1, COMMAND_CODES[CommandKind.STOP])]
    assert link.outcomes()[-1].outcome is Outcome.FINISHED


def test_a_command_that_moves_cards_is_sent_once() -> None:
    link = up(Link(ModelDevice()))
    link.faults = Faults(loss=1.0)
    link.send(Command(id=1, kind=CommandKind.DISPENSE_GROUP))
    link.faults = Faults()
    link.run(2500)
    assert link.device.commands == []
    assert link.outcomes() == [CommandReport(1, Outcome.UNKNOWN, "the device did not answer the command")]


@pytest.mark.parametrize("seed", range(8))
def test_no_command_is_done_twice_on_a_hostile_wire(seed: int) -> None:
    link = up(Link(ModelDevice(), seed=seed))
    link.faults = Faults(loss=0.3, double=0.4, late=0.3)
    kinds = (CommandKind.SHUFFLE, CommandKind.STOP, CommandKind.DISPENSE_GROUP, CommandKind.RESUME)
    for command_id in range(1, 21):
        link.send(Command(id=command_id, kind=kinds[command_id % 4]))
        link.run(300)
    link.faults = Faults()
    link.run(6000)
    done = [command_id for command_id, _ in link.device.commands]
    assert done == sorted(set(done))
    ended = (Outcome.FINISHED, Outcome.REFUSED, Outcome.UNKNOWN)
    for command_id in range(1, 21):
        assert any(report.command_id == command_id and report.outcome in ended for report in link.outcomes())


def test_ids_that_do_not_rise_are_refused() -> None:
    link = up(Link(ModelDevice()))
    link.send(Command(id=5, kind=CommandKind.STOP))
    link.send(Command(id=5, kind=CommandKind.STOP))
    assert link.outcomes()[0].outcome is Outcome.REFUSED
    link.run(100)
    assert len(link.device.commands) == 1


def test_when_the_link_dies_outcomes_are_unknown() -> None:
    link = up(Link(ModelDevice(command_outcomes=(Outcome.ACCEPTED,))))
    link.send(Command(id=1, kind=CommandKind.SHUFFLE))
    link.run(50)
    link.faults = Faults(loss=1.0)
    link.send(Command(id=2, kind=CommandKind.DISPENSE_GROUP))
    link.send(Command(id=3, kind=CommandKind.STOP))
    link.device.sequence = 0
    link.run(3200)
    last = {report.command_id: report.outcome for report in link.outcomes()}
    assert last[1] is Outcome.UNKNOWN
    assert last[2] is Outcome.UNKNOWN
    assert isinstance(link.reports[-1], LinkDown)
    assert not link.reports[-1].final
    assert link.driver.wake_at_ms is None
