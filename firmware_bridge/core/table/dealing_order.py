"""Who is dealt to, and in which order."""

from collections.abc import Iterable
from typing import Final

from drivers.facts import Place

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
