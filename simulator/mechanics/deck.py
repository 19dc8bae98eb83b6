"""Where every card is. A card lies in exactly one pile at every moment; only `move` changes that."""

from collections.abc import Iterator, Sequence
from typing import Final

from drivers.cards import FULL_DECK, Card


class PlayingCard:
    """One piece of plastic. Two of them may show the same `face`; each is itself alone.

    `marked` cards cannot be read by a machine. `face_up` is how it lies now.
    """

    __slots__ = ("face", "face_up", "foreign", "marked", "pile")

    def __init__(self, face: Card, *, foreign: bool = False) -> None:
        self.face = face
        self.foreign: Final = foreign
        self.marked = False
        self.face_up = False
        self.pile: Pile | None = None

    def __repr__(self) -> str:
        return f"<{self.face} in {self.pile.name if self.pile else 'no pile'}>"


class Pile:
    """A place where cards lie; the first card is the one that goes out next."""

    def __init__(self, name: str) -> None:
        self.name: Final = name
        self._cards: list[PlayingCard] = []

    def __len__(self) -> int:
        return len(self._cards)

    def __iter__(self) -> Iterator[PlayingCard]:
        return iter(tuple(self._cards))

    def __getitem__(self, index: int) -> PlayingCard:
        return self._cards[index]

    @property
    def faces(self) -> tuple[Card, ...]:
        """The cards' faces, bottom first."""
        return tuple(card.face for card in self._cards)

    def reorder(self, cards: Sequence[PlayingCard]) -> None:
        """The same cards in another order."""
        if len(cards) != len(self._cards) or set(cards) != set(self._cards):
            msg = f"{self.name}: a new order must have the same cards"
            raise ValueError(msg)
        self._cards = list(cards)

    def take(self, card: PlayingCard) -> None:
        """Take that card out; for Deck alone."""
        self._cards.remove(card)

    def put(self, card: PlayingCard) -> None:
        """Put that card on top; for Deck alone."""
        self._cards.append(card)


class Deck:
    """All cards of a table, and all piles they can lie in."""

    def __init__(self, decks: int = 1) -> None:
        self._piles: dict[str, Pile] = {}
        self._cards: list[PlayingCard] = []
        for _ in range(decks):
            for face in FULL_DECK:
                self.add(PlayingCard(face), self.pile("discard rack"))

    @property
    def cards(self) -> tuple[PlayingCard, ...]:
        """Every card of the deck, wherever it lies."""
        return tuple(self._cards)

    @property
    def piles(self) -> tuple[Pile, ...]:
        """Every pile that cards of it may lie on."""
        return tuple(self._piles.values())

    def pile(self, name: str) -> Pile:
        """The pile of that name, made when it is first asked for."""
        return self._piles.setdefault(name, Pile(name))

    def add(self, card: PlayingCard, pile: Pile) -> None:
        """A card comes to the table."""
        self._cards.append(card)
        card.pile = pile
        pile.put(card)

    def move(self, card: PlayingCard, to: Pile, *, face_up: bool = False) -> None:
        """Onto the end of `to`. A moved card lies face down unless told otherwise."""
        if card.pile is None:
            msg = f"{card} is not at this table"
            raise ValueError(msg)
        card.pile.take(card)
        to.put(card)
        card.pile = to
        card.face_up = face_up

    def move_all(self, origin: Pile, to: Pile) -> None:
        """Move every card of `origin` there, in its order."""
        for card in origin:
            self.move(card, to)

    def replace(self, faces: Sequence[Card], pile: Pile) -> None:
        """Put named cards on top of `pile`, in this order: a stacked deck, for written rounds.

        Raises ValueError where `pile` has no such card.
        """
        rest = list(pile)
        stacked: list[PlayingCard] = []
        for face in faces:
            found = next((card for card in rest if card.face is face), None)
            if found is None:
                msg = f"{pile.name} has no {face} left to be put on top"
                raise ValueError(msg)
            rest.remove(found)
            stacked.append(found)
        pile.reorder(stacked + rest)

    def misplaced(self) -> tuple[PlayingCard, ...]:
        """Cards that are not in exactly the one pile they say: none, or the simulator is wrong."""
        seen: dict[PlayingCard, list[Pile]] = {card: [] for card in self._cards}
        for pile in self._piles.values():
            for card in pile:
                seen.setdefault(card, []).append(pile)
        return tuple(card for card, where in seen.items() if where != [card.pile])
