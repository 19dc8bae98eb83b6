"""One deck of cards: what was drawn since its last shuffle, and the alarms that keep it from being dealt."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from drivers.cards import DECK_SIZE, Card
from firmware_bridge.core.carried import CarriedDeck, CarriedDecks
from firmware_bridge.core.events import AlarmRaised, DeckIn, DeckOut, Event
from firmware_bridge.core.terms import Irregularity

WRONG_CARDS: Final = frozenset({Irregularity.DUPLICATE_CARD, Irregularity.FOREIGN_CARD, Irregularity.BOXED_CARDS})


@dataclass(slots=True, eq=False)
class Deck:
    """A deck made of `decks` packs. `name` is None at a table with one deck.

    `fresh`: shuffled, and not dealt from since. `drawn_least` and `drawn_most` differ where the reader and the
    machine counted differently. `alarms`: those not yet cleared, and whether a person has acknowledged them.
    `untold`: irregularities found between rounds, with their time; they belong to the next round of this deck.
    """

    name: str | None
    decks: int
    fresh: bool = False
    sorted: bool = False
    drawn_least: int = 0
    drawn_most: int = 0
    seen: Counter[Card] = field(default_factory=Counter)
    uncounted_rounds: int = 0
    alarms: dict[Irregularity, bool] = field(default_factory=dict)
    wrong_cards: bool = False
    untold: list[tuple[Irregularity, int]] = field(default_factory=list)
    starts_again: bool = False

    @property
    def size(self) -> int:
        """The number of cards of a whole deck."""
        return DECK_SIZE * self.decks

    @property
    def out(self) -> bool:
        """An alarm keeps it from being dealt."""
        return bool(self.alarms)

    @property
    def is_dealt_from(self) -> bool:
        """Cards have left it since all of them were in it."""
        return self.drawn_most > 0 and not self.starts_again and not self.fresh

    @property
    def left(self) -> int:
        """The fewest cards that can be left to deal."""
        return self.size if self.starts_again else self.size - self.drawn_most

    def start_again(self, *, cards_are_out: bool) -> None:
        """All cards are in the deck again; where cards of it lie on the table, from the next round on."""
        self.starts_again = cards_are_out
        if not cards_are_out:
            self.drawn_least = self.drawn_most = 0
            self.seen.clear()

    def shuffled(self, *, cards_are_out: bool) -> None:
        """All cards are in it again and shuffled; `cards_are_out`: those on the table once they are back."""
        self.fresh, self.sorted = True, False
        self.start_again(cards_are_out=cards_are_out)

    def deal_begins(self) -> None:
        """The first card of a round leaves."""
        if self.starts_again:
            self.start_again(cards_are_out=False)
        self.fresh = False
        self.uncounted_rounds += 1

    def draw(self, card: Card | None, missing: int) -> bool:
        """One card left, after `missing` that nobody told of; whether it was seen too often."""
        self.drawn_least += 1
        self.drawn_most += 1 + missing
        return card is not None and self.see(card)

    def see(self, card: Card) -> bool:
        """A card of it was seen; whether that was once more than it can be there."""
        self.seen[card] += 1
        return self.seen[card] > self.decks

    def machine_counted(self, cards: int, read: int) -> None:
        """The machine counted a group otherwise than the reader: either may be right."""
        self.drawn_most += max(0, cards - read)
        self.drawn_least += min(0, cards - read)

    def is_stub(self, cards: int) -> bool:
        """Whether so many cards can be left of it."""
        return self.size - self.drawn_most <= cards <= self.size - self.drawn_least

    def alarm(self, irregularity: Irregularity) -> tuple[Event, ...]:
        """Latch an alarm. What is to be told of it: nothing where it is latched and waits already."""
        if self.alarms.get(irregularity) is False:
            return ()
        was_out = self.out
        self.alarms[irregularity] = False
        self.wrong_cards = self.wrong_cards or irregularity in WRONG_CARDS
        raised = AlarmRaised(alarm=irregularity, deck=self.name)
        return (raised,) if was_out else (raised, DeckOut(deck=self.name))

    def changed(self, *, cards_are_out: bool) -> None:
        """New cards are in."""
        self.wrong_cards = self.fresh = self.sorted = False
        self.start_again(cards_are_out=cards_are_out)

    def good_shuffle(self) -> tuple[Event, ...]:
        """The machine counted the right number after a shuffle: the deck is in again where nothing else is missing."""
        if not self.out or self.wrong_cards or not all(self.alarms.values()):
            return ()
        self.alarms.clear()
        return (DeckIn(deck=self.name),)

    def carried(self) -> CarriedDeck:
        """What the next round takes over of it."""
        return CarriedDeck(
            name=self.name,
            fresh=self.fresh,
            sorted=self.sorted,
            drawn_least=self.drawn_least,
            drawn_most=self.drawn_most,
            seen=dict(self.seen),
            uncounted_rounds=self.uncounted_rounds,
            alarms=dict(self.alarms),
            wrong_cards=self.wrong_cards,
            untold=tuple(self.untold),
            starts_again=self.starts_again,
        )

    @classmethod
    def resumed(cls, carried: CarriedDeck, decks: int) -> "Deck":
        """The deck as it was carried over, of `decks` packs."""
        return cls(
            carried.name,
            decks,
            fresh=carried.fresh,
            sorted=carried.sorted,
            drawn_least=carried.drawn_least,
            drawn_most=carried.drawn_most,
            seen=Counter(carried.seen),
            uncounted_rounds=carried.uncounted_rounds,
            alarms=dict(carried.alarms),
            wrong_cards=carried.wrong_cards,
            untold=list(carried.untold),
            starts_again=carried.starts_again,
        )


class Decks:
    """The decks of a table, and the one that is dealt from: `in_play`."""

    def __init__(self, decks: int) -> None:
        self._decks = decks
        self._known: dict[str | None, Deck] = {None: Deck(None, decks)}
        self.in_play = self._known[None]
        self._shuffled: list[Deck] = []
        self._chosen: Deck | None = None
        self._shoe_empty = False

    def carried(self) -> CarriedDecks:
        """What the next round takes over of them."""
        return CarriedDecks(
            decks=tuple(deck.carried() for deck in self._known.values()),
            in_play=self.in_play.name,
            waiting=tuple(deck.name for deck in self._shuffled),
            chosen=None if self._chosen is None else self._chosen.name,
            shoe_empty=self._shoe_empty,
        )

    @classmethod
    def resumed(cls, carried: CarriedDecks, decks: int) -> "Decks":
        """The decks as they were carried over, each of `decks` packs."""
        resumed = cls(decks)
        resumed._known = known = {deck.name: Deck.resumed(deck, decks) for deck in carried.decks}
        resumed.in_play = known[carried.in_play]
        resumed._shuffled = [known[name] for name in carried.waiting]
        resumed._chosen = None if carried.chosen is None else known[carried.chosen]
        resumed._shoe_empty = carried.shoe_empty
        return resumed

    def named(self, name: str | None) -> Deck:
        """The deck of that name; without a name, the one in play."""
        if name is None:
            return self.in_play
        return self._known.setdefault(name, Deck(name, self._decks))

    @property
    def alternate(self) -> bool:
        """Decks are known by name."""
        return len(self._known) > 1

    def all(self) -> tuple[Deck, ...]:
        """Every deck the table has heard of."""
        return tuple(self._known.values())

    def shuffled(self, deck: Deck) -> None:
        """The deck waits to be dealt from, after those that were shuffled before it."""
        if deck in self._shuffled:
            self._shuffled.remove(deck)
        self._shuffled.append(deck)

    def cut(self, deck: Deck) -> None:
        """A person cut that deck: it is the next to be dealt from."""
        self._chosen = deck

    def shoe_ends(self) -> None:
        """The shoe is loaded again or its cut card came: the next round may be dealt from another deck."""
        self._shoe_empty = True

    def choose(self, *, shoe: bool) -> Deck:
        """The deck that the round is dealt from, as far as is known before its first card.

        The one that was cut by name, else the one that has waited longest after its shuffle; a deck that is out
        only where no other waits. A shoe goes on with its deck until it is loaded again or its cut card came.
        """
        waiting = [deck for deck in self._shuffled if deck.fresh or deck.sorted] or self._shuffled[-1:]
        whole = [deck for deck in waiting if not deck.out] or waiting
        if self._chosen is not None:
            self.in_play = self._chosen
        elif whole and not (shoe and not self._shoe_empty and self.in_play.is_dealt_from):
            self.in_play = whole[0]
        return self.in_play

    def deal_begins(self) -> None:
        """The first card leaves: the deck in play is no longer waiting."""
        if self.in_play in self._shuffled:
            self._shuffled.remove(self.in_play)
        self._chosen = None
        self._shoe_empty = False
        self.in_play.deal_begins()
