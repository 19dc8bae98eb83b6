"""Cards that leave machine or shoe together, and what is known of each place's cards."""

import enum
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from drivers.cards import Card
from drivers.facts import Place
from firmware_bridge.core.terms import Irregularity, Ruling


class Missing(enum.Enum):
    """A draw whose fact is missing: it may or may not have been a card."""

    FACT = "fact"


MISSING: Final = Missing.FACT
Dealt: TypeAlias = Card | Missing | None


@dataclass(slots=True, eq=False)
class OpenFlag:
    """One irregularity at one place (None: at the table); found of a card on its way, it goes with the card."""

    irregularity: Irregularity
    seat: Place | None
    at_ms: int
    ruling: Ruling


@dataclass(slots=True, eq=False)
class CardBatch:
    """A group, or one card of a rotation; `index` counts from 0 in the round.

    `machine`: the machine's own count of a group. `place`: where it landed; `turn`: whose turn it was.
    `boxed`: the cards of it that came face up. `flags`: what was flagged of its cards before they landed.
    """

    index: int
    turn: Place | None
    cards: list[Dealt] = field(default_factory=list)
    machine: int | None = None
    number: int | None = None
    taken: bool = False
    place: Place | None = None
    boxed: list[Card | None] = field(default_factory=list)
    flags: list[OpenFlag] = field(default_factory=list)

    @property
    def read(self) -> int:
        """How many of its cards passed the reader."""
        return len([card for card in self.cards if card is not MISSING])

    @property
    def size(self) -> int:
        """How many cards a sensor will see, at the most."""
        return max(self.read, self.machine or 0) or len(self.cards)


@dataclass(slots=True, eq=False)
class PlaceCards:
    """`now`: the sensor's last count; `read`: the count when it was last read; None: never heard of.

    `slid`: cards are known to have moved between places without passing the reader, so that the sensor alone counts.
    `accepted`: the floor let the round go on although the counts disagreed.
    """

    batches: list[CardBatch] = field(default_factory=list)
    now: int = 0
    read: int | None = None
    sensed: bool = False
    checked: int | None = None
    dealt_when_checked: int = 0
    identified: dict[int, Card] = field(default_factory=dict)
    slid: bool = False
    accepted: bool = False

    @property
    def expected(self) -> int:
        """How many cards were dealt there, as far as machine and reader know."""
        return sum([batch.size for batch in self.batches])

    def read_sensor(self) -> None:
        """Keep the sensor's count as it stands; later falls are cards picked up."""
        if self.sensed:
            self.read = max(self.read or 0, self.now)


class Counts(NamedTuple):
    """What each source says of one place; None: it says nothing. Missing facts leave the reader a range."""

    machine: int | None
    reader_least: int
    reader_most: int
    seat: int | None

    @property
    def agreed(self) -> int | None:
        """The number that no source contradicts; None where two disagree."""
        known = self.machine if self.seat is None else self.seat
        if known is None:
            return self.reader_least if self.reader_least == self.reader_most else None
        same = self.machine in (None, known)
        return known if same and self.reader_least <= known <= self.reader_most else None

    @property
    def likeliest(self) -> int:
        """What two of three say, else a whole hand where one of them says so, else the most that any says."""
        said = [count for count in (self.machine, self.seat, self.reader_least) if count is not None]
        for count in said:
            if said.count(count) > 1:
                return count
        return 3 if 3 in said or self.reader_least <= 3 <= self.reader_most else max(said)
