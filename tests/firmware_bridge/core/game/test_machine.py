import itertools
from dataclasses import replace
from typing import Final

import pytest

from firmware_bridge.core.game.machine import (
    REFUSALS,
    RoundMachine,
    Stage,
    Trigger,
    TriggerRefused,
    mermaid,
    nothing_waits,
    waits_for,
)
from firmware_bridge.core.table.round_snapshot import Hold, RoundSnapshot
from firmware_bridge.core.terms import Irregularity
from tests.firmware_bridge.core.game.paper_table import PaperTable

TO: Final = {
    Stage.IDLE: [],
    Stage.BETTING: [Trigger.OPEN_ROUND],
    Stage.DEALING: [Trigger.OPEN_ROUND, Trigger.CLOSE_BETS],
    Stage.DECIDING: [Trigger.OPEN_ROUND, Trigger.CLOSE_BETS, Trigger.END_DEAL],
    Stage.REVEALING: [Trigger.OPEN_ROUND, Trigger.CLOSE_BETS, Trigger.END_DEAL, Trigger.REVEAL],
    Stage.SETTLING: [Trigger.OPEN_ROUND, Trigger.CLOSE_BETS, Trigger.END_DEAL, Trigger.REVEAL, Trigger.SETTLE],
    Stage.VOID: [Trigger.OPEN_ROUND, Trigger.VOID_ROUND],
}
STAYS: Final = {
    (Stage.IDLE, Trigger.WAGER),
    (Stage.IDLE, Trigger.TAKE_POSITION),
    (Stage.BETTING, Trigger.WAGER),
    (Stage.BETTING, Trigger.TAKE_POSITION),
    (Stage.DEALING, Trigger.DECIDE),
    (Stage.DECIDING, Trigger.DECIDE),
    (Stage.DEALING, Trigger.SHOW_DEALER),
    (Stage.DECIDING, Trigger.SHOW_DEALER),
    (Stage.REVEALING, Trigger.SHOW_DEALER),
}
MOVES: Final = {
    (Stage.IDLE, Trigger.OPEN_ROUND): Stage.BETTING,
    (Stage.BETTING, Trigger.CLOSE_BETS): Stage.DEALING,
    (Stage.DEALING, Trigger.END_DEAL): Stage.DECIDING,
    (Stage.DECIDING, Trigger.REVEAL): Stage.REVEALING,
    (Stage.REVEALING, Trigger.SETTLE): Stage.SETTLING,
    (Stage.SETTLING, Trigger.FINISH): Stage.IDLE,
    (Stage.VOID, Trigger.FINISH): Stage.IDLE,
    (Stage.BETTING, Trigger.VOID_ROUND): Stage.VOID,
    (Stage.DEALING, Trigger.VOID_ROUND): Stage.VOID,
    (Stage.DECIDING, Trigger.VOID_ROUND): Stage.VOID,
    (Stage.REVEALING, Trigger.VOID_ROUND): Stage.VOID,
}
GUARDED: Final = {(Stage.BETTING, Trigger.TAKE_POSITION), (Stage.REVEALING, Trigger.SETTLE)}


def record(*, held: bool = False, suspended: bool = False) -> RoundSnapshot:
    table = PaperTable()
    table.open(2)
    holds = (Hold(Irregularity.COUNT_CONFLICT, 2, 0),) if held else ()
    return replace(table.current(), holds=holds, suspended=suspended)


CLEAR: Final = record()
WAITING: Final = (record(held=True), record(suspended=True), record(held=True, suspended=True))


def machine_at(stage: Stage) -> RoundMachine:
    machine = RoundMachine()
    for trigger in TO[stage]:
        machine.fire(trigger, CLEAR)
    assert machine.stage is stage
    return machine


@pytest.mark.parametrize(("stage", "trigger"), list(itertools.product(Stage, Trigger)), ids=lambda value: value.value)
def test_every_trigger_at_every_stage(stage: Stage, trigger: Trigger) -> None:
    machine = machine_at(stage)
    if (stage, trigger) in STAYS:
        machine.fire(trigger, CLEAR)
        assert machine.stage is stage
    elif (stage, trigger) in MOVES:
        machine.fire(trigger, CLEAR)
        assert machine.stage is MOVES[stage, trigger]
    else:
        with pytest.raises(TriggerRefused, match=f"{trigger.value} does not fit a round that is {stage.value}"):
            machine.fire(trigger, CLEAR)
        assert machine.stage is stage


@pytest.mark.parametrize(("stage", "trigger"), sorted({*STAYS, *MOVES}, key=str), ids=lambda value: value.value)
def test_a_hold_or_a_lost_device_stops_the_settlement_and_the_position_alone(stage: Stage, trigger: Trigger) -> None:
    for waiting in WAITING:
        machine = machine_at(stage)
        if (stage, trigger) not in GUARDED:
            machine.fire(trigger, waiting)
            continue
        with pytest.raises(TriggerRefused):
            machine.fire(trigger, waiting)
        assert machine.stage is stage
        machine.fire(trigger, CLEAR)


def test_what_a_round_waits_for_is_said() -> None:
    assert [waits_for(None), waits_for(CLEAR)] == [None, None]
    held, suspended, both = WAITING
    assert waits_for(held) == "the round is held: the floor rules first"
    assert waits_for(suspended) == waits_for(both) == "the round is suspended: a device is gone"
    assert nothing_waits(None) is nothing_waits(CLEAR) is True
    assert not any(nothing_waits(waiting) for waiting in WAITING)


@pytest.mark.parametrize("trigger", [Trigger.DECIDE, Trigger.TAKE_POSITION])
@pytest.mark.parametrize("stage", [Stage.IDLE, Stage.BETTING, Stage.DEALING, Stage.DECIDING, Stage.REVEALING])
def test_what_people_do_is_let_through_or_refused_with_a_sentence(stage: Stage, trigger: Trigger) -> None:
    machine = machine_at(stage)
    for now in (None, CLEAR, *WAITING):
        fits = (stage, trigger) in STAYS and (nothing_waits(now) or (stage, trigger) not in GUARDED)
        assert (machine.refusal(trigger, now) is None) is fits
    waits = machine.refusal(Trigger.TAKE_POSITION, WAITING[0]) == waits_for(WAITING[0])
    assert waits is (stage is not Stage.IDLE)


def test_a_decision_is_refused_for_its_stage_whatever_the_round_waits_for() -> None:
    machine = machine_at(Stage.REVEALING)
    for now in (CLEAR, *WAITING):
        assert machine.refusal(Trigger.DECIDE, now) == REFUSALS[Stage.REVEALING, Trigger.DECIDE]


def test_two_tables_do_not_move_each_other() -> None:
    one, other = machine_at(Stage.DEALING), machine_at(Stage.IDLE)
    one.fire(Trigger.END_DEAL, CLEAR)
    assert (one.stage, other.stage) == (Stage.DECIDING, Stage.IDLE)


def test_the_diagram_has_every_trigger_of_every_stage() -> None:
    drawn = mermaid()
    assert "stateDiagram-v2" in drawn.splitlines()
    assert "[*] --> IDLE" in drawn
    arrows = dict(line.strip().split(": ") for line in drawn.splitlines() if "-->" in line and ":" in line)
    for stage, trigger in STAYS:
        assert f"{trigger.value} [internal]" in arrows[f"{stage.name} --> {stage.name}"]
    for (stage, trigger), to in MOVES.items():
        assert trigger.value in arrows[f"{stage.name} --> {to.name}"]
    assert arrows["REVEALING --> SETTLING"] == "settle [nothing_waits]"
