"""Which cards lie face up at a place, when several see them."""

from collections import Counter

from drivers.cards import Card


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
