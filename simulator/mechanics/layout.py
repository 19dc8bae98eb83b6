"""The table itself: a pile at every place, and the strip of sensors under them."""

from collections.abc import Callable
from typing import Final

from drivers.facts import CardExposed, DeviceFact, Place, SeatCount
from simulator.mechanics.deck import Deck, Pile, PlayingCard


class Layout:
    """`sensors`: whether the places count their cards. Sensors settle: three cards put down are told as 1, 2, 3."""

    def __init__(
        self,
        deck: Deck,
        seats: int,
        clock: Callable[[], int],
        report: Callable[[DeviceFact], None],
        *,
        sensors: bool,
    ) -> None:
        self._deck = deck
        self._clock = clock
        self._report = report
        self.sensors: Final = sensors
        places: tuple[Place, ...] = (*range(1, seats + 1), "dealer")
        self.places: Final[dict[Place, Pile]] = {
            place: deck.pile("dealer's place" if place == "dealer" else f"seat {place}") for place in places
        }
        self._told: dict[Place, int] = dict.fromkeys(places, 0)

    def put(self, card: PlayingCard, place: Place) -> None:
        """Lay the card down at that place."""
        self._deck.move(card, self.places[place], face_up=card.face_up)

    def lift(self, place: Place, to: Pile) -> None:
        """Someone picks the cards of a place up, or collects them."""
        self._deck.move_all(self.places[place], to)

    def sense(self, place: Place) -> bool:
        """The sensor of a place comes one card nearer to what lies there, and tells so; False once it has settled."""
        lying, told = len(self.places[place]), self._told[place]
        if not self.sensors or lying == told:
            return False
        self._told[place] = told + 1 if lying > told else lying
        self._report(SeatCount(at_ms=self._clock(), seat=place, cards=self._told[place]))
        return True

    def unsettled(self) -> tuple[Place, ...]:
        """Places whose sensor has not told yet what lies there."""
        return tuple(p for p, pile in self.places.items() if self.sensors and len(pile) != self._told[p])

    def sees_face_up(self, place: Place) -> None:
        """The strip sees that a card lies face up; it cannot read it."""
        if self.sensors:
            self._report(CardExposed(at_ms=self._clock(), seat=place))
