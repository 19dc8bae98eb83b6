"""The stages of a round as a state machine of `transitions`: which trigger leads from which stage to which.

Held and suspended are no stages. They lie over one, are kept at the table and guard what has to wait for the floor or
for a device; cards and players go on moving the stage underneath.
"""

import enum
from collections.abc import Callable
from typing import Any, Final

from transitions import Machine
from transitions.extensions import GraphMachine

from firmware_bridge.core.table.refusals import NO_ROUND
from firmware_bridge.core.table.round_snapshot import RoundSnapshot


class Stage(enum.Enum):
    """Where a round stands. `SETTLING` and `VOID` are left again within the fact that leads to them."""

    IDLE = "idle"
    BETTING = "betting"
    DEALING = "dealing"
    DECIDING = "deciding"
    REVEALING = "revealing"
    SETTLING = "settling"
    VOID = "void"


class Trigger(enum.Enum):
    """The first four are what people do, and move nothing; the others follow from cards, people and the floor."""

    WAGER = "wager"
    TAKE_POSITION = "take_position"
    DECIDE = "decide"
    SHOW_DEALER = "show_dealer"
    OPEN_ROUND = "open_round"
    CLOSE_BETS = "close_bets"
    END_DEAL = "end_deal"
    REVEAL = "reveal"
    SETTLE = "settle"
    VOID_ROUND = "void_round"
    FINISH = "finish"


def nothing_waits(record: RoundSnapshot | None) -> bool:
    """No question is before the floor, and no device is gone."""
    return record is None or not (record.holds or record.suspended)


_OPEN: Final = (Stage.BETTING, Stage.DEALING, Stage.DECIDING, Stage.REVEALING)
_TRANSITIONS: Final[list[dict[str, Any]]] = [
    {"trigger": Trigger.WAGER.value, "source": [Stage.IDLE, Stage.BETTING], "dest": None},
    {"trigger": Trigger.TAKE_POSITION.value, "source": Stage.IDLE, "dest": None},
    {"trigger": Trigger.TAKE_POSITION.value, "source": Stage.BETTING, "dest": None, "conditions": nothing_waits},
    {"trigger": Trigger.OPEN_ROUND.value, "source": Stage.IDLE, "dest": Stage.BETTING},
    {"trigger": Trigger.CLOSE_BETS.value, "source": Stage.BETTING, "dest": Stage.DEALING},
    {"trigger": Trigger.END_DEAL.value, "source": Stage.DEALING, "dest": Stage.DECIDING},
    # Whether a first decision or the reveal may end the deal is the table's to say: it is asked before the game.
    {"trigger": Trigger.DECIDE.value, "source": [Stage.DEALING, Stage.DECIDING], "dest": None},
    {"trigger": Trigger.SHOW_DEALER.value, "source": [Stage.DEALING, Stage.DECIDING, Stage.REVEALING], "dest": None},
    {"trigger": Trigger.REVEAL.value, "source": Stage.DECIDING, "dest": Stage.REVEALING},
    {
        "trigger": Trigger.SETTLE.value,
        "source": Stage.REVEALING,
        "dest": Stage.SETTLING,
        "conditions": nothing_waits,
    },
    {"trigger": Trigger.VOID_ROUND.value, "source": list(_OPEN), "dest": Stage.VOID},
    {"trigger": Trigger.FINISH.value, "source": [Stage.SETTLING, Stage.VOID], "dest": Stage.IDLE},
]

_CLOSED: Final = "the bets are closed"
REFUSALS: Final = {
    (Stage.DEALING, Trigger.TAKE_POSITION): _CLOSED,
    (Stage.DECIDING, Trigger.TAKE_POSITION): _CLOSED,
    (Stage.REVEALING, Trigger.TAKE_POSITION): _CLOSED,
    (Stage.IDLE, Trigger.DECIDE): NO_ROUND,
    (Stage.BETTING, Trigger.DECIDE): "the bets are still open: announce no more bets first",
    (Stage.REVEALING, Trigger.DECIDE): "every seat has decided and the dealer's hand is shown",
}
"""What people are told where their trigger does not fit the stage, of those that the table lets pass."""


class TriggerRefused(ValueError):
    """A trigger that does not fit the stage, or has to wait."""


class RoundMachine:
    """One table's rounds, one after the other. `stage` is where the round stands, whatever lies over it."""

    stage: Stage
    trigger: Callable[..., bool]
    may_trigger: Callable[..., bool]

    def __init__(self) -> None:
        Machine(
            model=self,
            states=Stage,
            initial=Stage.IDLE,
            transitions=_TRANSITIONS,
            auto_transitions=False,
            model_attribute="stage",
        )

    def refusal(self, trigger: Trigger, record: RoundSnapshot | None) -> str | None:
        """The sentence where a person decides or takes the position and that does not fit now, else None."""
        if self.may_trigger(trigger.value, record):
            return None
        waits = waits_for(record) if trigger is Trigger.TAKE_POSITION else None
        return waits or REFUSALS[self.stage, trigger]

    def fire(self, trigger: Trigger, record: RoundSnapshot | None) -> None:
        """Let it happen. Raises TriggerRefused where it does not fit; nothing is changed then."""
        if not (self.may_trigger(trigger.value, record) and self.trigger(trigger.value, record)):
            raise TriggerRefused(f"{trigger.value} does not fit a round that is {self.stage.value}")


def waits_for(record: RoundSnapshot | None) -> str | None:
    """What keeps a round from going on; None where nothing does."""
    if record is not None and record.suspended:
        return "the round is suspended: a device is gone"
    return "the round is held: the floor rules first" if record is not None and record.holds else None


def mermaid() -> str:
    """The stages as a Mermaid state diagram, drawn by the machine itself; `internal` are triggers that move nothing."""
    drawing = GraphMachine(
        states=Stage,
        initial=Stage.IDLE,
        transitions=_TRANSITIONS,
        auto_transitions=False,
        graph_engine="mermaid",
        show_conditions=True,
        title="title: The stages of a round",  # written as front matter, word for word
    )
    text = str(drawing.get_combined_graph().draw(None))
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
