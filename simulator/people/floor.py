"""The floor person: answers what the daemon holds, by the open holds on the screen and a look at the table."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from drivers.facts import Place
from simulator.mechanics.table import SimulatedTable
from simulator.people.screen import OpenHold, Screen
from simulator.people.script import Script, Settled, Tell, Until
from simulator.people.truth import RoundTruth

FloorRuling: TypeAlias = Literal["continue", "void_seat", "forfeit_seat", "void_round"]
CHANGE_DECK: Final = ("duplicate_card", "foreign_card", "boxed_cards")


class Floor:
    """`rulings`: irregularity to what this floor rules on it; what is not named there goes on."""

    def __init__(self, table: SimulatedTable, screen: Screen, rulings: Mapping[str, FloorRuling]) -> None:
        self._table = table
        self._screen = screen
        self._rulings = rulings

    def attend(self, truth: RoundTruth) -> Script:
        """Answer every open hold, oldest first, until none is open; then wait until the machines may go on."""
        while self._screen.holds:
            hold = self._screen.holds[0]
            truth.holds.append(hold.irregularity)
            if hold.irregularity == "count_conflict":
                for place in self._doubtful(hold, truth):
                    yield from say(truth, "floor", "seat_checked", seat=place, cards=len(self._table.cards_at(place)))
            ruling = self._rulings.get(hold.irregularity, "continue")
            truth.rulings.append((hold.irregularity, ruling))
            told: dict[str, object] = {"ruling": ruling, "reason": "looked at the table"}
            if ruling in ("void_seat", "forfeit_seat") and hold.seat is not None:
                told["seat"] = hold.seat
            yield from say(truth, "floor", "ruling", **told)
            yield Settled()
            if self._screen.holds[:1] == [hold]:
                msg = f"the floor ruled {ruling} on {hold.irregularity}, and it is still held"
                raise StuckRoundError(msg)
        if self._table.shuffler.stopped or self._table.shoe.locked:
            yield Until(self._machines_free, "the shuffler and the shoe to be released")
            yield Settled()

    def clear_alarms(self, truth: RoundTruth) -> Script:
        """Between rounds: put the deck right, say so where cards were wrong, acknowledge every alarm."""
        while self._screen.alarms:
            alarm = self._screen.alarms[0]
            self._table.put_deck_right()
            if alarm in CHANGE_DECK:
                yield from say(truth, "floor", "deck_changed")
            yield from say(truth, "floor", "alarm_acknowledged", alarm=alarm)
            yield Settled()
            if self._screen.alarms[:1] == [alarm]:
                msg = f"the floor acknowledged the alarm {alarm}, and it still stands"
                raise StuckRoundError(msg)

    def _doubtful(self, hold: OpenHold, truth: RoundTruth) -> tuple[Place, ...]:
        """The places to count: the one that is held, or all of them where the hold cannot say which."""
        return truth.order if hold.seat is None else (hold.seat,)

    def _machines_free(self) -> bool:
        return not (self._table.shuffler.stopped or self._table.shoe.locked) or bool(self._screen.holds)


class StuckRoundError(Exception):
    """The daemon did not do what a ruling or an acknowledgement asks of it; the text says which."""


def say(truth: RoundTruth, actor: str, fact: str, **fields: object) -> Script:
    """Tell one fact at the control door; a refusal is kept in the truth."""
    told = {"fact": fact, **fields}
    answer = yield Tell(actor, told)
    if not answer.get("accepted"):
        truth.refusals.append((told, str(answer.get("sentence") or answer.get("error"))))
