"""What a table takes from one round into the next, as plain data: cards and devices, and money beside them."""

import msgspec

from drivers.cards import Card
from firmware_bridge.core.terms import Irregularity


class CarriedDeck(msgspec.Struct, frozen=True, kw_only=True):
    """One deck as `Deck` has it; `name` is None at a table with one deck."""

    name: str | None
    fresh: bool
    sorted: bool
    drawn_least: int
    drawn_most: int
    seen: dict[Card, int]
    uncounted_rounds: int
    alarms: dict[Irregularity, bool]
    wrong_cards: bool
    untold: tuple[tuple[Irregularity, int], ...]
    starts_again: bool


class CarriedDecks(msgspec.Struct, frozen=True, kw_only=True):
    """All decks of the table, and by their names: the one in play, those that wait after a shuffle, the one cut."""

    decks: tuple[CarriedDeck, ...]
    in_play: str | None
    waiting: tuple[str | None, ...]
    chosen: str | None
    shoe_empty: bool


class CarriedNumbers(msgspec.Struct, frozen=True, kw_only=True):
    """The running number of draws or groups; `forgiven`: the next is taken as it comes."""

    last: int | None
    forgiven: bool


class CarriedTable(msgspec.Struct, frozen=True, kw_only=True):
    """`rounds`: the number of the last round. `boxed_before`: when a boxed card of the next round's was found, in ms.

    `player_dealer`: who takes the position in the next round, where that has been told.
    """

    rounds: int
    decks: CarriedDecks
    draws: CarriedNumbers
    groups: CarriedNumbers
    tray_forgiven: bool
    player_dealer: int | None
    boxed_before: tuple[int, ...]
    lost_devices: tuple[str, ...]


class CarriedButton(msgspec.Struct, frozen=True, kw_only=True):
    """Who holds the player-dealer's position, for how many hands by now, and how far an offer of it has come."""

    holder: int | None
    hands: int
    accepted: int | None
    open_offer: int | None
    declined: tuple[int, ...]


class CarriedPosition(msgspec.Struct, frozen=True, kw_only=True):
    """The player-dealer's wager for the next round, in minor units."""

    seat: int
    wager: int
    action_seat: int


class CarriedLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits that were announced, per wager in minor units; in force from `from_ms` on."""

    minimum: int
    maximum: int
    from_ms: int


class CarriedSettlement(msgspec.Struct, frozen=True, kw_only=True):
    """The last settled round, and each seat's wagers in it: what a payment can be corrected of."""

    round: int
    wagers: dict[int, tuple[str, ...]]


class CarriedGame(msgspec.Struct, frozen=True, kw_only=True):
    """`players`: the seats of the last round. `button` is None where the house has no player-dealer."""

    limits: tuple[CarriedLimits, ...]
    button: CarriedButton | None
    position: CarriedPosition | None
    players: tuple[int, ...]
    settled: CarriedSettlement | None
