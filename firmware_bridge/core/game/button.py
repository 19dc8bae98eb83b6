"""The player-dealer's button: who holds it, for how many hands, and to whom it was offered."""

from collections.abc import Collection

from firmware_bridge.core.carried import CarriedButton
from firmware_bridge.core.events import Event, PositionDeclined, PositionOffered, PositionTaken
from firmware_bridge.core.facts import PlayerDealer, Position


class Button:
    """`limit`: consecutive hands after which the position must have been offered to all others.

    An offer round goes clockwise from the holder. Each offer is told, then its answer. When all others have declined
    the holder may go on, with a fresh count; a holder who declines too must be followed by somebody who accepts.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._holder: int | None = None
        self._hands = 0
        self._accepted: int | None = None
        self._open_offer: int | None = None
        self._declined: set[int] = set()

    def carried(self) -> CarriedButton:
        """What the next round takes over of it."""
        return CarriedButton(
            holder=self._holder,
            hands=self._hands,
            accepted=self._accepted,
            open_offer=self._open_offer,
            declined=tuple(sorted(self._declined)),
        )

    @classmethod
    def resumed(cls, carried: CarriedButton, limit: int) -> "Button":
        """The button as it was carried over."""
        button = cls(limit)
        button._holder, button._hands = carried.holder, carried.hands
        button._accepted, button._open_offer = carried.accepted, carried.open_offer
        button._declined = set(carried.declined)
        return button

    @property
    def holder(self) -> int | None:
        """The seat that holds the position, or held it last; None before the first."""
        return self._holder

    def position_refusal(self, fact: Position, others: Collection[int]) -> str | None:
        """Why an offer or answer does not fit; `others`: the seats that play, the holder's own left out."""
        if fact.answer != "offered":
            if fact.seat == self._holder and fact.answer == "declined":
                return None
            if fact.seat != self._open_offer:
                return f"the position was not offered to seat {fact.seat}: tell the offer first"
            return None
        if self._open_offer is not None:
            return f"seat {self._open_offer} has not answered: the position is offered to one seat at a time"
        if self._holder is None or fact.seat == self._holder:
            return None
        for seat in self._clockwise(others):
            if seat == fact.seat:
                break
            if seat not in self._declined:
                return f"the button goes clockwise: offer the position to seat {seat} before seat {fact.seat}"
        return None

    def taking_refusal(self, seat: int, others: Collection[int]) -> str | None:
        """Why the seat may not hold the position in the next hand; `others` as above."""
        if self._open_offer is not None:
            return f"seat {self._open_offer} has not answered the offer of the position"
        if seat in self._declined and seat != self._accepted:
            return f"seat {seat} has declined the position"
        if self._accepted is not None and seat != self._accepted:
            return f"seat {self._accepted} has accepted the position"
        if seat == self._holder and self._hands >= self._limit:
            unasked = [str(other) for other in self._clockwise(others) if other not in self._declined]
            if unasked:
                return (
                    f"seat {seat} has held the position for {self._hands} hands: "
                    f"offer it to seat {', then seat '.join(unasked)} first"
                )
        return None

    def answered(self, fact: Position) -> tuple[Event, ...]:
        """An offer or an answer that was not refused."""
        if fact.answer == "offered":
            self._open_offer = fact.seat
            return (PositionOffered(seat=fact.seat),)
        self._open_offer = None
        if fact.answer == "declined":
            self._declined.add(fact.seat)
            return (PositionDeclined(seat=fact.seat),)
        self._accepted = fact.seat
        self._declined.discard(fact.seat)
        return (PositionTaken(seat=fact.seat),)

    def taken(self, fact: PlayerDealer) -> tuple[Event, ...]:
        """The seat holds the position in the next hand."""
        told = fact.seat == self._accepted
        if fact.seat != self._holder or self._hands >= self._limit:
            self._hands = 0
        self._holder = fact.seat
        self._accepted = None
        self._declined.clear()
        return () if told else (PositionTaken(seat=fact.seat),)

    def hand_played(self) -> None:
        """A hand under the holder came to its end."""
        self._hands += 1

    def _clockwise(self, others: Collection[int]) -> list[int]:
        holder = self._holder or 0
        return sorted((seat for seat in others if seat != self._holder), key=lambda seat: (seat < holder, seat))
