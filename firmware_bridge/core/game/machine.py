"""The round as a state machine: one table says what every trigger does in every state.

`held` and `suspended` lie over a round: the round keeps the stage it stands at, and goes back to it. What the cards
and the players do meanwhile moves the stage underneath.
"""

import enum
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from transitions import EventData, Machine


class State(enum.Enum):
    IDLE = "idle"
    BETTING = "betting"
    DEALING = "dealing"
    DECIDING = "deciding"
    REVEALING = "revealing"
    SETTLING = "settling"
    HELD = "held"
    SUSPENDED = "suspended"
    VOID = "void"


class Trigger(enum.Enum):
    """The first four are what people do, the others what follows from cards, clocks and the floor."""

    WAGER = "wager"
    DECIDE = "decide"
    SHOW_DEALER = "show_dealer"
    TAKE_POSITION = "take_position"
    OPEN_ROUND = "open_round"
    CLOSE_BETS = "close_bets"
    END_DEAL = "end_deal"
    REVEAL = "reveal"
    SETTLE = "settle"
    FINISH = "finish"
    HOLD = "hold"
    LIFT = "lift"
    SUSPEND = "suspend"
    RESTORE = "restore"
    VOID_ROUND = "void_round"


class Over(enum.Enum):
    """Where a trigger leads that ends a hold or a suspension: to the stage that the round stands at."""

    STAGE = "the stage it stands at"
    HELD_OR_STAGE = "held, if it is, else the stage it stands at"


Answer: TypeAlias = State | Over | str

STAGES: Final = (State.BETTING, State.DEALING, State.DECIDING, State.REVEALING)
_COVERED: Final = (State.HELD, State.SUSPENDED)

_NO_ROUND: Final = "no round is open: it begins with the first wager, or with the seats that are dealt in"
_BETTING: Final = "the bets are still open: announce no more bets first"
_DEALING: Final = "the deal is not over yet"
_BETS_CLOSED: Final = "the bets are closed"
_DECIDED: Final = "every seat has decided and the dealer's hand is shown"
_SETTLING: Final = "the round is being settled"
_VOID: Final = "the round is void"
_NOT_HELD: Final = "nothing is held: there is nothing for the floor to rule on"
_NOT_SUSPENDED: Final = "the round is not suspended: every device is there"
_OPEN: Final = "a round is open already"


def _table() -> dict[tuple[State, Trigger], Answer]:
    """Every pair: the state it leads to (its own, where nothing moves), or the sentence that refuses it."""
    reasons = {
        State.IDLE: _NO_ROUND,
        State.BETTING: _BETTING,
        State.DEALING: _DEALING,
        State.DECIDING: "some seats have still to decide, or the dealer's hand is not shown",
        State.REVEALING: _DECIDED,
        State.SETTLING: _SETTLING,
        State.HELD: "the round is held: the floor rules first",
        State.SUSPENDED: "the round is suspended: a device is gone",
        State.VOID: _VOID,
    }
    table: dict[tuple[State, Trigger], Answer] = {(s, t): reasons[s] for s in State for t in Trigger}

    # A wager with no round open opens one; after the bets are closed it is taken as late, refused and given back.
    for state in (State.IDLE, *STAGES, *_COVERED):
        table[state, Trigger.WAGER] = state
    # Whether a first decision or the reveal may end a deal is the table's to say: it is asked before the game.
    for state in (State.DEALING, State.DECIDING, *_COVERED):
        table[state, Trigger.DECIDE] = state
    for state in (State.DEALING, State.DECIDING, State.REVEALING, *_COVERED):
        table[state, Trigger.SHOW_DEALER] = state
    for state in (State.IDLE, State.BETTING):
        table[state, Trigger.TAKE_POSITION] = state
    for state in (State.DEALING, State.DECIDING, State.REVEALING):
        table[state, Trigger.TAKE_POSITION] = _BETS_CLOSED
        table[state, Trigger.CLOSE_BETS] = _BETS_CLOSED

    for state in (*STAGES, *_COVERED):
        table[state, Trigger.OPEN_ROUND] = _OPEN
        table[state, Trigger.VOID_ROUND] = State.VOID
        table[state, Trigger.SUSPEND] = State.SUSPENDED
        table[state, Trigger.LIFT] = _NOT_HELD
        table[state, Trigger.RESTORE] = _NOT_SUSPENDED
    table[State.IDLE, Trigger.LIFT] = _NOT_HELD
    table[State.IDLE, Trigger.RESTORE] = _NOT_SUSPENDED
    for state in STAGES:
        table[state, Trigger.HOLD] = State.HELD
    for state in (State.DECIDING, State.REVEALING):
        table[state, Trigger.END_DEAL] = "the deal is over already"
    for state in _COVERED:
        for trigger in (Trigger.CLOSE_BETS, Trigger.END_DEAL, Trigger.REVEAL, Trigger.HOLD):
            table[state, trigger] = state

    table[State.IDLE, Trigger.OPEN_ROUND] = State.BETTING
    table[State.BETTING, Trigger.CLOSE_BETS] = State.DEALING
    table[State.DEALING, Trigger.END_DEAL] = State.DECIDING
    table[State.DECIDING, Trigger.REVEAL] = State.REVEALING
    table[State.REVEALING, Trigger.SETTLE] = State.SETTLING
    table[State.SETTLING, Trigger.FINISH] = State.IDLE
    table[State.VOID, Trigger.FINISH] = State.IDLE
    table[State.HELD, Trigger.LIFT] = Over.STAGE
    table[State.SUSPENDED, Trigger.LIFT] = State.SUSPENDED
    table[State.SUSPENDED, Trigger.RESTORE] = Over.HELD_OR_STAGE
    return table


PAIRS: Final[Mapping[tuple[State, Trigger], Answer]] = _table()
_ADVANCE: Final = {
    Trigger.CLOSE_BETS: State.DEALING,
    Trigger.END_DEAL: State.DECIDING,
    Trigger.REVEAL: State.REVEALING,
}


class TriggerRefused(ValueError):
    """A trigger that does not fit the state; the text is the sentence that the table has for the pair."""


class RoundMachine:
    """One table's rounds, one after the other. `stage` is where the round stands, whatever lies over it."""

    def __init__(self) -> None:
        self.stage = State.IDLE
        self.held = False
        self._machine = Machine(
            model=self,
            states=[state.value for state in State],
            initial=State.IDLE.value,
            transitions=transitions_of_table(),
            auto_transitions=False,
            send_event=True,
            model_attribute="state_name",
            before_state_change="note",
        )
        check_callbacks(self._machine, self)

    state_name: str

    @property
    def state(self) -> State:
        return State(self.state_name)

    def refusal(self, trigger: Trigger) -> str | None:
        """The sentence for a trigger that does not fit now, else None. Changes nothing."""
        answer = PAIRS[self.state, trigger]
        return answer if isinstance(answer, str) else None

    def fire(self, trigger: Trigger) -> None:
        """Let it happen. Raises TriggerRefused where the table refuses it; nothing is changed then."""
        refused = self.refusal(trigger)
        if refused is not None:
            raise TriggerRefused(refused)
        self._machine.events[trigger.value].trigger(self)

    def note(self, event: EventData) -> None:
        """Keep the stage and the hold as the transition that is about to happen leaves them."""
        trigger = Trigger(event.event.name)
        if trigger in {Trigger.HOLD, Trigger.LIFT}:
            self.held = trigger is Trigger.HOLD
        elif trigger in _ADVANCE:
            self.stage = _ADVANCE[trigger]
        elif trigger in {Trigger.OPEN_ROUND, Trigger.FINISH}:
            self.stage = State.BETTING if trigger is Trigger.OPEN_ROUND else State.IDLE
            self.held = False

    def goes_to_held(self, _event: EventData) -> bool:
        return self.held

    def goes_to_betting(self, _event: EventData) -> bool:
        return self.stage is State.BETTING

    def goes_to_dealing(self, _event: EventData) -> bool:
        return self.stage is State.DEALING

    def goes_to_deciding(self, _event: EventData) -> bool:
        return self.stage is State.DECIDING

    def goes_to_revealing(self, _event: EventData) -> bool:
        return self.stage is State.REVEALING


def transitions_of_table() -> list[dict[str, Any]]:
    """The table as the list that `transitions` takes: refused pairs have none, ends of a hold one for each stage."""
    rows: list[dict[str, Any]] = []
    for (state, trigger), answer in PAIRS.items():
        if isinstance(answer, State):
            rows.append({"trigger": trigger.value, "source": state.value, "dest": answer.value})
        elif isinstance(answer, Over):
            stages = (State.HELD, *STAGES) if answer is Over.HELD_OR_STAGE else STAGES
            rows.extend(
                {
                    "trigger": trigger.value,
                    "source": state.value,
                    "dest": stage.value,
                    "conditions": f"goes_to_{stage.value}",
                }
                for stage in stages
            )
    return rows


def check_callbacks(machine: Machine, model: object) -> None:
    """Every callback that the machine names is a method of the model. Raises TypeError for the first that is not."""
    names = list(machine.before_state_change)
    for event in machine.events.values():
        for rows in event.transitions.values():
            for transition in rows:
                names += [condition.func for condition in transition.conditions]
                names += [*transition.prepare, *transition.before, *transition.after]
    for name in names:
        method = getattr(model, name, None) if isinstance(name, str) else name
        if not callable(method):
            msg = f"the machine names a callback {name!r} that the model does not have"
            raise TypeError(msg)


def mermaid() -> str:
    """The machine as a Mermaid state diagram, read off the machine itself; triggers that move nothing are left out."""
    machine = RoundMachine()
    edges: dict[tuple[str, str | None], list[str]] = {}
    for name, event in machine._machine.events.items():  # noqa: SLF001
        for rows in event.transitions.values():
            for transition in rows:
                if transition.source != transition.dest:
                    edges.setdefault((transition.source, transition.dest), []).append(name)
    order = [state.value for state in State]
    lines = ["stateDiagram-v2", f"    [*] --> {State.IDLE.value}"]
    for (source, dest), names in sorted(edges.items(), key=lambda edge: [order.index(end) for end in edge[0] if end]):
        lines.append(f"    {source} --> {dest}: {', '.join(names)}")
    return "\n".join(lines) + "\n"
