"""What really happened, told by the hands that did it and without asking the daemon: the oracle of every test."""

from dataclasses import dataclass, field

from drivers.cards import Card
from drivers.facts import Place
from simulator.people.incidents import AnyIncident
from simulator.people.players import Wagers
from simulator.people.script import JsonObject


@dataclass(slots=True)
class RoundTruth:
    """One round. `hands`: the true faces at each place, in the order in which they came to lie there.

    `refusals`: what the daemon refused to be told, with its sentence: a clean round has none.
    """

    wagers: dict[int, Wagers] = field(default_factory=dict)
    order: tuple[Place, ...] = ()
    hands: dict[Place, tuple[Card, ...]] = field(default_factory=dict)
    incidents: tuple[AnyIncident, ...] = ()
    exposed: list[tuple[Place, Card]] = field(default_factory=list)
    foreign: list[Place] = field(default_factory=list)
    decisions: dict[int, bool] = field(default_factory=dict)
    holds: list[str] = field(default_factory=list)
    rulings: list[tuple[str, str]] = field(default_factory=list)
    refusals: list[tuple[JsonObject, str]] = field(default_factory=list)
    shuffled: bool = False
    drawn: int = 0
    dealt_face_up: int = 0
    revealed: bool = False
    void: bool = False


@dataclass(slots=True)
class Truth:
    """All rounds of a run, in order."""

    rounds: list[RoundTruth] = field(default_factory=list)

    def begin(self) -> RoundTruth:
        """A round begins: what truly happens in it is written down here."""
        self.rounds.append(RoundTruth())
        return self.rounds[-1]
