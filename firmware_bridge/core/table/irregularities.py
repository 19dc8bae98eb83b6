"""What was found wrong in a round and what follows from it: flags, holds, the void, by the house's policy."""

from dataclasses import dataclass
from typing import Final

from drivers.facts import Place
from firmware_bridge.core.events import HoldLifted, HoldRaised, IrregularityFlagged, RoundVoid
from firmware_bridge.core.table.card_batch import OpenFlag
from firmware_bridge.core.table.round_state import DEALER, RoundState
from firmware_bridge.core.terms import Irregularity, Ruling, Who

EVERYWHERE: Final = None
NOWHERE: Final[frozenset[Place]] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class OpenHold:
    """`touches`: places whose counts cannot be judged before the floor has ruled; EVERYWHERE: none can."""

    irregularity: Irregularity
    seat: Place | None
    at_ms: int
    touches: frozenset[Place] | None

    def concerns(self, place: Place) -> bool:
        """Whether that place's hand waits for the ruling."""
        return self.seat is None or self.seat == place or self.touches is EVERYWHERE or place in self.touches


def who_is(place: Place | None) -> Who:
    """Whose place that is, as policies distinguish it; None is the table."""
    if place is None:
        return Who.TABLE
    return Who.DEALER if place == DEALER else Who.PLAYER


class Irregularities:
    """Flags and holds of one round. What they come to for seats and round is written into its state."""

    def __init__(self, state: RoundState) -> None:
        self._state: Final = state
        self._policy: Final = state.house.policy
        self.flags: list[OpenFlag] = []
        self.holds: list[OpenHold] = []
        self.alarms_raised = 0
        self._void_due: Irregularity | None = None

    def touched(self, place: Place) -> bool:
        """Whether an open hold keeps that place's count from being judged."""
        return any(hold.touches is EVERYWHERE or place in hold.touches for hold in self.holds)

    @property
    def everything_waits(self) -> bool:
        """No count at all can be judged before the floor has ruled."""
        return any(hold.touches is EVERYWHERE for hold in self.holds)

    def find(self, irregularity: Irregularity, seat: Place | None) -> OpenFlag | None:
        """The flag of that irregularity and place, if there is one."""
        return next((flag for flag in self.flags if flag.irregularity is irregularity and flag.seat == seat), None)

    def note(self, irregularity: Irregularity, seat: Place | None, at_ms: int, ruling: Ruling) -> OpenFlag:
        """Put a flag down, one an irregularity and place, and tell of it; nothing follows from it here."""
        flag = self.find(irregularity, seat)
        if flag is None:
            flag = OpenFlag(irregularity, seat, at_ms, ruling)
            self.flags.append(flag)
        elif flag.ruling is ruling or ruling is not Ruling.HOLD or flag.ruling is not Ruling.CONTINUE:
            return flag
        flag.ruling = ruling
        self._state.events.append(
            IrregularityFlagged(irregularity=irregularity, seat=seat, phase=self._state.phase, ruling=ruling)
        )
        return flag

    def flag(
        self,
        irregularity: Irregularity,
        seat: Place | None,
        at_ms: int,
        *,
        touches: frozenset[Place] | None = NOWHERE,
        deck_out: bool = False,
    ) -> OpenFlag:
        """Flag an irregularity, and let follow what the house's policy says; `deck_out`: whatever it says."""
        consequence = self._policy.consequence(irregularity, self._state.phase, who_is(seat))
        ruling = consequence.ruling
        if ruling is Ruling.FORFEIT_SEAT or (ruling is Ruling.VOID_SEAT and not isinstance(seat, int)):
            ruling = Ruling.HOLD
        flag = self.note(irregularity, seat, at_ms, ruling)
        if consequence.deck_out or deck_out:
            self.alarms_raised += 1
            self._state.events += self._state.deck.alarm(irregularity)
        if self._state.void or self._state.is_final:
            return flag
        if ruling is Ruling.HOLD:
            self.hold(irregularity, seat, at_ms, touches)
        elif ruling is Ruling.VOID_ROUND:
            self.void_round(irregularity)
        elif ruling is Ruling.VOID_SEAT and isinstance(seat, int):
            self._state.voided_by_policy.add(seat)
        return flag

    def hold(
        self, irregularity: Irregularity, seat: Place | None, at_ms: int, touches: frozenset[Place] | None = NOWHERE
    ) -> None:
        """Hold the round; one open hold an irregularity and place."""
        if self._state.void or any(hold.irregularity is irregularity and hold.seat == seat for hold in self.holds):
            return
        self.holds.append(OpenHold(irregularity, seat, at_ms, touches))
        self._state.events.append(HoldRaised(irregularity=irregularity, seat=seat))

    def void_round(self, irregularity: Irregularity) -> None:
        """The round is void; a held one only once the floor has ruled."""
        if self.holds:
            self._void_due = self._void_due or irregularity
            return
        self._state.void_reason = irregularity
        self._state.events.append(RoundVoid(reason=irregularity))

    def rule(self, ruling: Ruling, reason: str | None) -> tuple[OpenHold, ...]:
        """The floor answers every hold of the oldest one's irregularity; void_round answers all. Those answered."""
        oldest = self.holds[0].irregularity
        every = ruling is Ruling.VOID_ROUND
        answered = tuple(hold for hold in self.holds if every or hold.irregularity is oldest)
        self.holds = [hold for hold in self.holds if hold not in answered]
        for hold in answered:
            self._state.events.append(
                HoldLifted(irregularity=hold.irregularity, ruling=ruling, seat=hold.seat, reason=reason)
            )
        if every:
            self.void_round(oldest)
        elif not self.holds and self._void_due is not None:
            self.void_round(self._void_due)
        return answered
