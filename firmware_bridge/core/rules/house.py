"""A house: every rule in which houses differ, as data. Files are read by `firmware_bridge.houses.loader`.

Money is in minor units, pays are "to 1". A house goes through JSON unchanged: the fact `started` carries it.
"""

from typing import Annotated, Literal, TypeAlias

import msgspec

from firmware_bridge.core.ranking import SixCardHand
from firmware_bridge.core.rules.policy import Policy
from firmware_bridge.core.terms import HandCategory

Pay: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=100_000)]
Amount: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Decks: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=8)]
InitialWager: TypeAlias = Literal["ante", "pair_plus", "six_card"]
Tip: TypeAlias = Literal["tip_play", "tip_ante", "tip_pair_plus"]
Row: TypeAlias = Literal["play", "ante_bonus", "ante", "pair_plus", "six_card"]
Nonqualify: TypeAlias = Literal["paid", "compare", "compare_lose"]
Coverage: TypeAlias = Literal["gross", "bankroll"]


class HouseStruct(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of a house's file: a key that is not known is refused."""


class Provenance(HouseStruct, frozen=True, kw_only=True):
    """Where a rule comes from: a paragraph of the house's document, or, where that is silent, our reason."""

    source: str | None = None
    silent: bool = False
    reason: str | None = None


class Deal(HouseStruct, frozen=True, kw_only=True):
    """Cards and seating. `dealer_face_up`: cards of the dealer's three that are dealt face up."""

    decks_min: Decks
    decks_max: Decks
    places: Annotated[int, msgspec.Meta(ge=1, le=14)]
    shuffle: Literal["each_round", "shoe"]
    cut: Literal["after_shuffle", "never_by_players", "free"]
    dealer_face_up: Annotated[int, msgspec.Meta(ge=0, le=3)]
    bets_close: Literal["no_more_bets", "first_card"]
    ace_low: Literal["3-2-A"]


class FeeTier(HouseStruct, frozen=True, kw_only=True):
    """Antes up to and including `ante_up_to` pay `fee`."""

    ante_up_to: Amount
    fee: Amount


class Wagers(HouseStruct, frozen=True, kw_only=True):
    """What may be wagered before the deal. `required`: without these a seat is not dealt in.

    `fee_tiers`, smallest ante first; empty = any fee that is told is taken as collected.
    """

    offered: tuple[InitialWager, ...]
    required: tuple[InitialWager, ...]
    tips: tuple[Tip, ...]
    above_maximum: Literal["excess_returned", "refused"]
    limits_notice_ms: Amount
    fee: Literal["none", "flat"]
    fee_tiers: tuple[FeeTier, ...]
    fee_on_misdeal: Literal["returned", "kept"]


class Settlement(HouseStruct, frozen=True, kw_only=True):
    """How a round is decided and in which order it is collected and paid.

    `nonqualify_ante`, a dealer who does not qualify: `paid` pays every ante; `compare` pays those that beat the
    dealer and pushes the others; `compare_lose` takes the antes that are beaten.
    `stacked`: under a qualified dealer ante and play are one wager. `seats`: who comes first in the second part;
    `action`: clockwise from the action seat, folded seats in their turn.
    """

    qualifies_with: Literal["2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A"]
    nonqualify_ante: Nonqualify
    nonqualify_ante_options: tuple[Nonqualify, ...]
    nonqualify_play: Literal["push", "returned"]
    fold_forfeits_pair_plus: bool
    fold_forfeits_six_card: bool
    stacked: bool
    order: tuple[Row, ...]
    seats: Literal["highest_first", "lowest_first", "action"]


class Schedule(HouseStruct, frozen=True, kw_only=True):
    """One set of pay tables; a hand that a table does not name is not paid by it."""

    number: Annotated[int, msgspec.Meta(ge=1, le=99)]
    ante_bonus: dict[HandCategory, Pay] = {}
    pair_plus: dict[HandCategory, Pay] = {}
    six_card: dict[SixCardHand, Pay] = {}


class Folds(HouseStruct, frozen=True, kw_only=True):
    """`counted`: spread face down and counted as they are collected. `seen_by`: who may see a folded hand later."""

    counted: bool
    seen_by: Literal["anyone", "floor"]


class Position(HouseStruct, frozen=True, kw_only=True):
    """The player-dealer's position. `folded_antes`: when what folded seats lose takes its share of the wager."""

    coverage: Coverage
    coverage_options: tuple[Coverage, ...]
    folded_antes: Literal["in_turn", "first"]
    consecutive_hands: Annotated[int, msgspec.Meta(ge=1, le=1000)]


class House(HouseStruct, frozen=True, kw_only=True):
    """`sources`: provenance by key path ("deal.shuffle", "policy.rows[3]")."""

    name: str
    document: str
    deal: Deal
    wagers: Wagers
    settlement: Settlement
    schedules: tuple[Schedule, ...]
    folds: Folds
    policy: Policy
    position: Position | None = None
    sources: dict[str, Provenance] = {}

    def schedule(self, number: int) -> Schedule | None:
        """The schedule of that number, or None."""
        return next((schedule for schedule in self.schedules if schedule.number == number), None)
