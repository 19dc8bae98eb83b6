"""What can go wrong at a table, as data: each incident one small struct, named in scenarios and in the catalogue."""

from typing import Annotated, Literal, TypeAlias

import msgspec

from drivers.driver import DeviceKind
from drivers.facts import Place, fact_name

CardIndex: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=4)]


class Incident(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="incident", tag=fact_name, forbid_unknown_fields=True
):
    """One thing that goes wrong in one round."""


class PlacedIncident(Incident, frozen=True, kw_only=True):
    """It happens at `place`."""

    place: Place


class ExposedCard(PlacedIncident, frozen=True, kw_only=True):
    """A card turns over as it lands. Seen by the strip, or only told by the dealer."""

    index: CardIndex = 1
    seen_by: Literal["dealer", "layout"] = "dealer"


class ShortGroup(PlacedIncident, frozen=True, kw_only=True):
    """The place gets two cards: the dispenser kept one back (group), or the dealer passed it over (rotation)."""


class LongGroup(PlacedIncident, frozen=True, kw_only=True):
    """The place gets four cards."""


class WrongSeat(PlacedIncident, frozen=True, kw_only=True):
    """What goes first to `place` is put down at `instead`; `put_right`: before the next card goes out."""

    instead: Place
    put_right: bool = True


class UnreadCard(PlacedIncident, frozen=True, kw_only=True):
    """The reader cannot read the card; `identified`: a person reads it before the dealer's hand is shown."""

    index: CardIndex = 1
    identified: bool = True


class BoxedCard(PlacedIncident, frozen=True, kw_only=True):
    """The card lies face up in the machine, and comes out so."""

    index: CardIndex = 1


class DuplicateCard(Incident, frozen=True, kw_only=True):
    """A card of another deck has taken the place of one of this deck; its twin is dealt in this round too."""


class LostCard(Incident, frozen=True, kw_only=True):
    """A card fell under the table: the deck is one short, and the shuffler counts it so."""


class NotShuffled(Incident, frozen=True, kw_only=True):
    """The dealer deals on without a shuffle."""


class Miscount(PlacedIncident, frozen=True, kw_only=True):
    """The machine's own sensor counts the group of `place` wrong by `by`; the cards are right."""

    by: int = 1


class Jam(PlacedIncident, frozen=True, kw_only=True):
    """The shuffler jams after card `index` of the group for `place`; it is cleared when the round is over."""

    index: CardIndex = 1


class OpenDoor(PlacedIncident, frozen=True, kw_only=True):
    """Somebody opens the shuffler's door after card `index` of the group for `place`, and shuts it again."""

    index: CardIndex = 1


class CablePulled(PlacedIncident, frozen=True, kw_only=True):
    """The cable of `device` comes out after card `index` for `place`, and goes back in `cards` cards later."""

    device: DeviceKind = DeviceKind.SHOE
    index: CardIndex = 1
    cards: Annotated[int, msgspec.Meta(ge=0, le=3)] = 1


class ForeignCard(PlacedIncident, frozen=True, kw_only=True):
    """A person finds that a card at `place` does not belong to this deck, or is marked, once it lies there."""


class LateBet(PlacedIncident, frozen=True, kw_only=True):
    """The seat puts `more` on its ante once the bets are closed."""

    more: Annotated[int, msgspec.Meta(ge=1)] = 500


class MiscountedFold(PlacedIncident, frozen=True, kw_only=True):
    """The seat's folded hand is counted as `cards`; three lie there."""

    cards: Annotated[int, msgspec.Meta(ge=0, le=4)] = 2


AnyIncident: TypeAlias = (
    ExposedCard
    | ShortGroup
    | LongGroup
    | WrongSeat
    | UnreadCard
    | BoxedCard
    | DuplicateCard
    | LostCard
    | NotShuffled
    | Miscount
    | Jam
    | OpenDoor
    | CablePulled
    | ForeignCard
    | LateBet
    | MiscountedFold
)
