"""Cards that lie face up: in the machine, in the shoe, at a place."""

from collections import Counter
from typing import Final

from drivers.cards import Card
from drivers.facts import Place
from firmware_bridge.core.table.card_batch import OpenFlag
from firmware_bridge.core.table.irregularities import Irregularities, who_is
from firmware_bridge.core.table.round_state import DEALER, RoundState
from firmware_bridge.core.terms import Irregularity

_READER: Final = "shoe"


class FaceUp:
    """Face-up cards of one place. Reports of one card by different sources are one card."""

    def __init__(self, decks: int) -> None:
        self._decks = decks
        self._reports: list[tuple[str, Card | None]] = []

    def report(self, source: str, card: Card | None) -> bool:
        """A card was seen face up (None: which one was not seen); whether more are known now than before."""
        before = self.count
        if card is None or self._reports.count((source, card)) < self._decks:
            self._reports.append((source, card))
        return self.count > before

    def turned_down(self, card: Card | None) -> None:
        """A card was turned down again; None: one not known by name, else the last that was seen."""
        seen = [known for _, known in self._reports]
        if card not in seen and None in seen:
            card = None
        elif card is None and seen:
            card = seen[-1]
        for source in {source for source, known in self._reports if known == card}:
            self._reports.remove((source, card))

    @property
    def count(self) -> int:
        """The fewest cards that explain every report."""
        by_source: dict[str, list[Card | None]] = {}
        for source, card in self._reports:
            by_source.setdefault(source, []).append(card)
        named: Counter[Card] = Counter()
        for seen in by_source.values():
            named |= Counter(card for card in seen if card is not None)
        return max([named.total(), *(len(seen) for seen in by_source.values())])


class Exposure:
    """Face-up cards of one round."""

    def __init__(self, state: RoundState, irregularities: Irregularities) -> None:
        self._house: Final = state.house
        self._decks: Final = state.setup.decks
        self._irregularities: Final = irregularities
        self._places: dict[Place, FaceUp] = {}
        self._boxed_by_machine = 0
        self._boxed_by_reader = 0
        self._fewer_judged = False

    def boxed(self, seat: Place | None, at_ms: int, *, by_reader: bool) -> OpenFlag:
        """A card lies face up in machine or shoe. One that the machine told of may be the one the reader sees later."""
        before = max(self._boxed_by_machine, self._boxed_by_reader)
        self._boxed_by_reader += by_reader
        self._boxed_by_machine += not by_reader
        boxed = max(self._boxed_by_machine, self._boxed_by_reader)
        out = before < self._house.policy.boxed_cards_deck_out <= boxed
        irregularity = Irregularity.BOXED_CARDS if boxed >= 2 else Irregularity.BOXED_CARD
        return self._irregularities.flag(irregularity, seat, at_ms, deck_out=out)

    def boxed_arrives(self, place: Place, card: Card | None, at_ms: int) -> None:
        """A boxed card reached its place; there it may count as exposed too."""
        if place == DEALER and self._house.deal.dealer_face_up:
            self._at(place).report(_READER, card)
            self._too_many(at_ms)
        elif who_is(place) in self._house.policy.boxed_also_exposed and self._at(place).report(_READER, card):
            self._irregularities.flag(Irregularity.EXPOSED_CARD, place, at_ms)

    def exposed(self, place: Place, card: Card | None, source: str, at_ms: int) -> None:
        """A face-up card at a place, not part of the reveal."""
        if not self._at(place).report(source, card):
            return
        if place == DEALER and self._house.deal.dealer_face_up:
            self._too_many(at_ms)
        else:
            self._irregularities.flag(Irregularity.EXPOSED_CARD, place, at_ms)

    def revealed(self, card: Card | None, source: str) -> None:
        """A card of the dealer's, face up once every seat in play has decided: no irregularity."""
        self._at(DEALER).report(source, card)

    def turned_down(self, place: Place, card: Card | None) -> None:
        """A face-up card at the place was turned down; None: which one was not said."""
        self._at(place).turned_down(card)

    def too_few(self, at_ms: int) -> None:
        """The players begin to decide: the dealer's cards that are dealt face up must lie so by now."""
        if not self._fewer_judged and self._at(DEALER).count < self._house.deal.dealer_face_up:
            self._irregularities.flag(Irregularity.DEALER_FACE_UP, DEALER, at_ms)
        self._fewer_judged = True

    def _too_many(self, at_ms: int) -> None:
        if self._at(DEALER).count > self._house.deal.dealer_face_up:
            self._irregularities.flag(Irregularity.DEALER_FACE_UP, DEALER, at_ms)

    def _at(self, place: Place) -> FaceUp:
        return self._places.setdefault(place, FaceUp(self._decks))
