"""The reader on the way out, and the shoe that a dealer draws from."""

from collections.abc import Callable
from typing import Final, Literal

from drivers.facts import CardDrawn, CutCard, DeviceFact, ShoeLoaded
from simulator.mechanics.deck import Deck, Pile, PlayingCard


class Reader:
    """Sees one card at a time. Counts them with a running number that goes on from round to round."""

    def __init__(self, clock: Callable[[], int], report: Callable[[DeviceFact], None]) -> None:
        self._clock = clock
        self._report = report
        self.draws = 0
        self.blind_for = 0

    def passes(self, card: PlayingCard) -> None:
        """`blind_for` cards to come stay unread, as marked ones always do."""
        self.draws += 1
        unread = card.marked or self.blind_for > 0
        self.blind_for = max(0, self.blind_for - 1)
        face: Literal["down", "up"] = "up" if card.face_up else "down"
        self._report(CardDrawn(at_ms=self._clock(), draw=self.draws, card=None if unread else card.face, face=face))


class Shoe:
    """A reader with a lock. In a rotation rig the cards lie in it; in a group rig it stands where groups come out."""

    def __init__(self, deck: Deck, clock: Callable[[], int], report: Callable[[DeviceFact], None]) -> None:
        self._deck = deck
        self._clock = clock
        self._report = report
        self.reader: Final = Reader(clock, report)
        self.pile: Final[Pile] = deck.pile("shoe")
        self.locked = False
        self._cut_after: int | None = None

    def load(self, origin: Pile, *, cut_card_from_end: int | None = None) -> None:
        """All cards of `origin` go in, and are counted. The cut card comes out when that many are left behind it."""
        self._deck.move_all(origin, self.pile)
        self._cut_after = None if cut_card_from_end is None else len(self.pile) - cut_card_from_end
        self._report(ShoeLoaded(at_ms=self._clock(), cards=len(self.pile)))

    def draw(self, to: Pile) -> PlayingCard:
        """The dealer pulls one card. Raises ValueError when the shoe is locked or empty."""
        if self.locked:
            msg = "the shoe is locked"
            raise ValueError(msg)
        if not len(self.pile):
            msg = "the shoe is empty"
            raise ValueError(msg)
        if self._cut_after == 0:
            self._report(CutCard(at_ms=self._clock()))
        if self._cut_after is not None:
            self._cut_after -= 1
        card = self.pile[0]
        self.reader.passes(card)
        self._deck.move(card, to)
        return card
