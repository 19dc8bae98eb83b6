"""Where a round stands: each thing that is known of it is kept here once, and the table's other parts read it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from drivers.facts import Place
from firmware_bridge.core.events import Event
from firmware_bridge.core.rules.house import House
from firmware_bridge.core.table.deal import Deal
from firmware_bridge.core.table.deck import Deck, Decks
from firmware_bridge.core.table_setup import TableSetup
from firmware_bridge.core.terms import Irregularity, Phase

DEALER: Final = "dealer"


def dealing_order(seats: Iterable[int], player_dealer: int | None) -> tuple[Place, ...]:
    """The places in the order of dealing, dealer last.

    Clockwise from the dealer's left (seat 1); with a player-dealer, from the first seat in play after that seat,
    which itself is not dealt to: its hand lies at the dealer's place.
    """
    in_play = sorted(set(seats) - {player_dealer})
    if player_dealer is None:
        return (*in_play, DEALER)
    after = [seat for seat in in_play if seat > player_dealer]
    before = [seat for seat in in_play if seat < player_dealer]
    return (*after, *before, DEALER)


@dataclass(slots=True)
class RoundState:
    """`events`: what is still to be passed on. `decides`: every seat that is dealt in, and whether it has an ante.

    `wagers_kept`: the seats are known by their wagers. `closed`: no more bets. `folds`: seats in the order in which
    they folded or forfeited. `voided_by_policy`, by the house's policy; `voided_by_floor` and `forfeited`, by the
    floor's word. `ended`: the dealer's hand is shown and nothing is held, or the round is void.
    """

    number: int
    house: House
    setup: TableSetup
    decks: Decks
    events: list[Event] = field(default_factory=list)
    decides: dict[int, bool] = field(default_factory=dict)
    wagers_kept: bool = False
    player_dealer: int | None = None
    closed: bool = False
    deal: Deal | None = None
    decided: dict[int, bool] = field(default_factory=dict)
    folds: list[int] = field(default_factory=list)
    forfeited: set[int] = field(default_factory=set)
    voided_by_floor: set[int] = field(default_factory=set)
    voided_by_policy: set[int] = field(default_factory=set)
    void_reason: Irregularity | None = None
    revealed: bool = False
    ended: bool = False

    @property
    def deck(self) -> Deck:
        """The deck that the round is dealt from."""
        return self.decks.in_play

    @property
    def order(self) -> tuple[Place, ...]:
        """The places in the order of dealing, dealer last; fixed by the first card."""
        return dealing_order(self.decides, self.player_dealer) if self.deal is None else self.deal.order

    @property
    def deal_is_over(self) -> bool:
        """All cards are out that will be dealt before the players decide."""
        return self.deal is not None and self.deal.over

    @property
    def phase(self) -> Phase:
        """How far the round is."""
        if self.ended:
            return Phase.REVEALED
        if self.deal is None:
            return Phase.BETTING
        return Phase.DECIDING if self.deal.over else Phase.DEALING

    @property
    def void(self) -> bool:
        """The round is off, and all stakes go back."""
        return self.void_reason is not None

    @property
    def void_seats(self) -> frozenset[int]:
        """Seats whose wagers go back."""
        return frozenset(self.voided_by_policy | self.voided_by_floor)

    @property
    def passed_over(self) -> set[int]:
        """Seats that are out by the floor's word: their counts do not matter any more."""
        return self.voided_by_floor | self.forfeited

    @property
    def out(self) -> set[int]:
        """Seats that take no further part."""
        return self.voided_by_policy | self.voided_by_floor | self.forfeited

    @property
    def undecided(self) -> tuple[int, ...]:
        """Seats in play that have still to play or fold."""
        waiting = self.out.union(self.decided)
        return tuple(seat for seat in self.order if seat != DEALER and seat not in waiting and self.decides.get(seat))

    @property
    def decisions_kept(self) -> bool:
        """Decisions are reported here, so that a seat without one has still to decide."""
        return self.wagers_kept or bool(self.decided)

    @property
    def is_final(self) -> bool:
        """Nothing in it can change any more: it has ended, and nothing is open that money hangs on."""
        if not self.ended or self.void:
            return self.ended
        return not (self.wagers_kept and (self.undecided or self._has_unread_hand))

    @property
    def _has_unread_hand(self) -> bool:
        deal = self.deal
        return deal is not None and any(None in deal.cards(place) for place in deal.order if place not in self.out)
