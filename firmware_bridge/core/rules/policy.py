"""What follows an irregularity: rows of a house's file, looked up by (irregularity, phase, who)."""

from dataclasses import dataclass
from typing import Annotated

import msgspec

from firmware_bridge.core.terms import Irregularity, Phase, Ruling, Who


@dataclass(frozen=True, slots=True)
class Consequence:
    """`deck_out`: whatever the ruling, this deck deals no more."""

    ruling: Ruling
    deck_out: bool


class PolicyRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of the policy; an empty `who` or `phases` means all of them."""

    irregularities: tuple[Irregularity, ...]
    ruling: Ruling
    who: tuple[Who, ...] = ()
    phases: tuple[Phase, ...] = ()
    deck_out: bool = False

    def covers(self, irregularity: Irregularity, phase: Phase, who: Who) -> bool:
        """Whether the row is for this irregularity, in this phase and at this kind of place."""
        return (
            irregularity in self.irregularities
            and (not self.who or who in self.who)
            and (not self.phases or phase in self.phases)
        )


class Policy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The first row that covers a question answers it; the loader sees to it that every question has a row.

    `boxed_cards_deck_out`: so many cards face up in one round put the deck out, whatever else follows.
    `boxed_also_exposed`: at whose place a card that comes face up out of the machine is an exposed card too.
    """

    boxed_cards_deck_out: Annotated[int, msgspec.Meta(ge=1, le=52)]
    boxed_also_exposed: tuple[Who, ...]
    rows: tuple[PolicyRow, ...]

    def row(self, irregularity: Irregularity, phase: Phase, who: Who) -> int | None:
        """The place in `rows` of the row that answers, or None."""
        for place, row in enumerate(self.rows):
            if row.covers(irregularity, phase, who):
                return place
        return None

    def consequence(self, irregularity: Irregularity, phase: Phase, who: Who) -> Consequence:
        """What the house does about it.

        `phase` is the round's phase when it happened: BETTING until the first card is out, REVEALED once the round
        is over. Raises LookupError for a policy that the loader has not checked and that is silent here.
        """
        place = self.row(irregularity, phase, who)
        if place is None:
            msg = f"the policy has no row for {irregularity.value}, {phase.value}, {who.value}"
            raise LookupError(msg)
        return Consequence(self.rows[place].ruling, self.rows[place].deck_out)

    def gaps(self) -> list[tuple[Irregularity, Phase, Who]]:
        """Every question that no row answers."""
        return [
            (irregularity, phase, who)
            for irregularity in Irregularity
            for phase in Phase
            for who in Who
            if self.row(irregularity, phase, who) is None
        ]
