"""What a table is: its rig, its places, its limits. Loaded from TOML, carried by the fact `started`."""

from typing import Annotated, Literal

import msgspec


class TableSetup(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`deal` is the rig; `seats` the number of places; `sensors`: whether every place counts its cards.

    `dealer_group` "after_decisions": the dealer's group stays in the machine until the players have decided (group
    rig alone). `deal_limit_ms`: how long a deal may stand still. Limits are per wager, in minor units, 0 = none.
    """

    deal: Literal["group", "rotation"]
    decks: Annotated[int, msgspec.Meta(ge=1, le=8)] = 1
    seats: Annotated[int, msgspec.Meta(ge=1, le=14)] = 7
    sensors: bool = False
    dealer_group: Literal["with_the_others", "after_decisions"] = "with_the_others"
    deal_limit_ms: Annotated[int, msgspec.Meta(ge=1000)] = 120_000
    minimum: Annotated[int, msgspec.Meta(ge=0)] = 0
    maximum: Annotated[int, msgspec.Meta(ge=0)] = 0
    schedule: Annotated[int, msgspec.Meta(ge=1)] = 1
    options: dict[str, str] = {}
