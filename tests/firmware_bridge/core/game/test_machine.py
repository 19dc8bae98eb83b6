import itertools

import pytest
from transitions import Machine

from firmware_bridge.core.game.machine import (
    PAIRS,
    STAGES,
    Over,
    RoundMachine,
    State,
    Trigger,
    TriggerRefused,
    check_callbacks,
    mermaid,
)

TO = {
    State.IDLE: [],
    State.BETTING: [Trigger.OPEN_ROUND],
    State.DEALING: [Trigger.OPEN_ROUND, Trigger.CLOSE_BETS],
    State.DECIDING: [Trigger.OPEN_ROUND, Trigger.CLOSE_BETS, Trigger.END_DEAL],
    State.REVEALING: [Trigger.OPEN_ROUND, Trigger.CLOSE_BETS, Trigger.END_DEAL, Trigger.REVEAL],
    State.SETTLING: [Trigger.OPEN_ROUND, Trigger.CLOSE_BETS, Trigger.END_DEAL, Trigger.REVEAL, Trigger.SETTLE],
    State.HELD: [Trigger.OPEN_ROUND, Trigger.CLOSE_BETS, Trigger.HOLD],
    State.SUSPENDED: [Trigger.OPEN_ROUND, Trigger.CLOSE_BETS, Trigger.SUSPEND],
    State.VOID: [Trigger.OPEN_ROUND, Trigger.VOID_ROUND],
}


def machine_in(state: State) -> RoundMachine:
    machine = RoundMachine()
    for trigger in TO[state]:
        machine.fire(trigger)
    assert machine.state is state
    return machine


@pytest.mark.parametrize(("state", "trigger"), list(itertools.product(State, Trigger)), ids=lambda value: value.value)
def test_every_pair_does_what_the_table_says(state: State, trigger: Trigger) -> None:
    machine = machine_in(state)
    stage, held = machine.stage, machine.held
    answer = PAIRS[state, trigger]
    if isinstance(answer, str):
        assert machine.refusal(trigger) == answer
        with pytest.raises(TriggerRefused, match=answer.split(":")[0]):
            machine.fire(trigger)
        assert (machine.state, machine.stage, machine.held) == (state, stage, held)
    else:
        assert machine.refusal(trigger) is None
        machine.fire(trigger)
        assert machine.state is (stage if isinstance(answer, Over) else answer)


def test_the_table_has_every_pair_and_nothing_else() -> None:
    assert set(PAIRS) == set(itertools.product(State, Trigger))


@pytest.mark.parametrize("stage", STAGES)
def test_a_hold_and_a_suspension_lead_back_to_the_stage(stage: State) -> None:
    machine = machine_in(stage)
    for trigger, state in (
        (Trigger.HOLD, State.HELD),
        (Trigger.SUSPEND, State.SUSPENDED),
        (Trigger.RESTORE, State.HELD),
        (Trigger.LIFT, stage),
        (Trigger.SUSPEND, State.SUSPENDED),
        (Trigger.HOLD, State.SUSPENDED),
        (Trigger.LIFT, State.SUSPENDED),
        (Trigger.RESTORE, stage),
    ):
        machine.fire(trigger)
        assert machine.state is state


def test_the_stage_moves_under_a_hold() -> None:
    machine = machine_in(State.HELD)
    machine.fire(Trigger.END_DEAL)
    assert (machine.state, machine.stage) == (State.HELD, State.DECIDING)
    machine.fire(Trigger.LIFT)
    assert machine.state is State.DECIDING


def test_a_void_round_leaves_nothing_behind() -> None:
    machine = machine_in(State.HELD)
    machine.fire(Trigger.VOID_ROUND)
    machine.fire(Trigger.FINISH)
    machine.fire(Trigger.OPEN_ROUND)
    assert (machine.state, machine.held) == (State.BETTING, False)


def test_a_callback_that_is_not_there_is_found_at_the_start() -> None:
    machine = Machine(model=None, states=["a", "b"], initial="a", auto_transitions=False)
    machine.add_transition("go", "a", "b", conditions="is_ready")
    with pytest.raises(TypeError, match="'is_ready'"):
        check_callbacks(machine, object())


def test_the_diagram_has_every_change_of_state() -> None:
    drawn = mermaid()
    assert drawn.startswith("stateDiagram-v2\n    [*] --> idle\n")
    for (state, trigger), answer in PAIRS.items():
        if isinstance(answer, State) and answer is not state:
            line = next(
                line for line in drawn.splitlines() if line.startswith(f"    {state.value} --> {answer.value}:")
            )
            assert trigger.value in line
    assert "settling --> idle: finish" in drawn
    assert "held --> held" not in drawn
