"""What a device can report: one small struct a fact, its JSON in and out.

Every fact has `at_ms`, integer milliseconds on the table's one monotonic clock, and `source`. The JSON object
names the fact under "fact". Seats are integers from 1; the dealer's place is "dealer".
"""

import re
from typing import Annotated, Literal, TypeAlias

import msgspec

from drivers.cards import Card

AtMs: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=10_000)]
Number: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]
Place: TypeAlias = int | Literal["dealer"]


def fact_name(class_name: str) -> str:
    """`CardDrawn` is the fact `card_drawn`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", class_name).lower()


class Fact(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", tag=fact_name):
    """Anything that happened at the table, at `at_ms` of the table's clock."""

    at_ms: AtMs


class ShufflerFact(Fact, frozen=True, kw_only=True):
    """What a shuffler reports."""

    source: Literal["shuffler"] = "shuffler"


class ShoeFact(Fact, frozen=True, kw_only=True):
    """What a dealing shoe reports."""

    source: Literal["shoe"] = "shoe"


class ShuffleCompleted(ShufflerFact, frozen=True, kw_only=True):
    """The machine counted `cards` after a shuffle; `deck` names the deck where two alternate."""

    cards: Count
    mode: Literal["shuffle", "sort"]
    deck: str | None = None


class GroupReady(ShufflerFact, frozen=True, kw_only=True):
    """Group `group` (from 1 in the round) lies in the output tray, `cards` by the machine's own count."""

    group: Number
    cards: Count


class GroupTaken(ShufflerFact, frozen=True, kw_only=True):
    """The output tray is empty again: the dealer has the group."""

    group: Number


class BoxedCard(ShufflerFact, frozen=True, kw_only=True):
    """A card lies face up inside the machine."""


class Jammed(ShufflerFact, frozen=True, kw_only=True):
    """Cards are stuck; the machine stands still."""


class JamCleared(ShufflerFact, frozen=True, kw_only=True):
    """The machine goes on after a jam."""


class DoorOpened(ShufflerFact, frozen=True, kw_only=True):
    """Cards may have been touched."""


class DoorClosed(ShufflerFact, frozen=True, kw_only=True):
    """The machine's door is shut again."""


class StubCounted(ShufflerFact, frozen=True, kw_only=True):
    """The undealt rest was counted."""

    cards: Count


class ResidualCards(ShufflerFact, frozen=True, kw_only=True):
    """Cards were found inside the machine when it should have been empty."""

    cards: Count


class ShoeLoaded(ShoeFact, frozen=True, kw_only=True):
    """A shuffled deck of `cards` cards was put into the shoe."""

    cards: Count


class CardDrawn(ShoeFact, frozen=True, kw_only=True):
    """One card left the shoe or passed the reader; `card` is None where it could not be read."""

    draw: Number
    card: Card | None
    face: Literal["down", "up"]


class CutCard(ShoeFact, frozen=True, kw_only=True):
    """The cut card came: the round goes on, and the next needs a new deck."""


class SeatCount(Fact, frozen=True, kw_only=True):
    """Cards now lying at that place, by its sensor."""

    seat: Place
    cards: Count
    source: Literal["layout"] = "layout"


class CardExposed(Fact, frozen=True, kw_only=True):
    """A face-up card lies at that place, by a sensor or told by a person."""

    seat: Place
    card: Card | None = None
    source: Literal["layout", "operator"] = "layout"


DeviceFact: TypeAlias = (
    ShuffleCompleted
    | GroupReady
    | GroupTaken
    | BoxedCard
    | Jammed
    | JamCleared
    | DoorOpened
    | DoorClosed
    | StubCounted
    | ResidualCards
    | ShoeLoaded
    | CardDrawn
    | CutCard
    | SeatCount
    | CardExposed
)
