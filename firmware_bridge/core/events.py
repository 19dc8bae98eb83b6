"""What the core tells, in one order. Cards stand in HandReleased and nowhere else.

Table and game build events without `seq`, `round` and `at_ms`; the bridge stamps all three.
"""

from functools import reduce
from operator import or_
from typing import Final, Literal

import msgspec

from drivers.cards import Card
from drivers.commands import CommandKind, Outcome
from drivers.driver import Claims
from drivers.facts import Place, fact_name
from firmware_bridge.core.terms import Evidence, HandCategory, Irregularity, Phase, Ruling


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag=fact_name):
    """`seq` counts from 1 in the life of a journal; `round` is 0 before the first round."""

    seq: int = 0
    round: int = 0
    at_ms: int = 0


class RoundOpened(Event, frozen=True, kw_only=True):
    """`seats`: in play as far as is known now; `bets_closed` completes it."""

    house: str
    seats: tuple[int, ...]
    player_dealer: int | None = None


class WagerAccepted(Event, frozen=True, kw_only=True):
    """`wagers`: name to stake in minor units, what stands for the seat now; `returned`: what was over the limit."""

    seat: int
    wagers: dict[str, int]
    returned: dict[str, int] = {}


class WagerRefused(Event, frozen=True, kw_only=True):
    """What a seat put down after the bets were closed goes back; `wagers` in minor units, by name."""

    seat: int
    wagers: dict[str, int]
    reason: str


class BetsClosed(Event, frozen=True, kw_only=True):
    """No more bets; `seats` are dealt in, in the order of dealing."""

    seats: tuple[int, ...]


class CardDealt(Event, frozen=True, kw_only=True):
    """A card reached a place, as far as the evidence says; `index` counts from 1."""

    seat: Place
    index: int


class HandDealt(Event, frozen=True, kw_only=True):
    """A place has its hand. `commitment`: SHA-256 over salt and cards, hex; one identified later has `number` 2."""

    seat: Place
    count: int
    evidence: Evidence
    commitment: str
    number: int = 1


class IrregularityFlagged(Event, frozen=True, kw_only=True, tag="irregularity"):
    """Something is wrong at a place, or (None) at the table; `ruling` is what follows by the house's policy."""

    irregularity: Irregularity
    seat: Place | None
    phase: Phase
    ruling: Ruling


class HoldRaised(Event, frozen=True, kw_only=True):
    """The round waits for the floor to rule."""

    irregularity: Irregularity
    seat: Place | None = None


class HoldLifted(Event, frozen=True, kw_only=True):
    """The floor has ruled; with the last one lifted, the round goes on, or is void."""

    irregularity: Irregularity
    ruling: Ruling
    seat: Place | None = None
    reason: str | None = None


class DealOver(Event, frozen=True, kw_only=True):
    """All cards are out that are dealt before the players decide."""


class DecisionTaken(Event, frozen=True, kw_only=True):
    """A seat plays, or folds."""

    seat: int
    play: bool


class HandReleased(Event, frozen=True, kw_only=True):
    """The one event with cards; `salt` (hex) opens the commitment. `hand` is None where the cards make none."""

    seat: Place
    cards: tuple[Card | None, ...]
    hand: HandCategory | None
    salt: str


class DealerRevealed(Event, frozen=True, kw_only=True):
    """The dealer's hand is shown; `qualifies` is None where one of its cards is not known."""

    qualifies: bool | None


class Payment(msgspec.Struct, frozen=True, kw_only=True):
    """`paid` is what is won on top of the stake, in minor units."""

    wager: str
    stake: int
    result: Literal["win", "lose", "push", "returned", "bonus"]
    paid: int


class SeatSettlement(msgspec.Struct, frozen=True, kw_only=True):
    """What a seat's wagers came to; `net` in minor units, won less lost. `hand` is None where it is not known."""

    payments: tuple[Payment, ...]
    net: int
    hand: HandCategory | None = None


class RoundSettled(Event, frozen=True, kw_only=True):
    """`seats` by seat number as text; `order`: (seat, wager) in the order of collecting and paying."""

    seats: dict[str, SeatSettlement]
    order: tuple[tuple[str, str], ...]
    player_dealer_net: int | None = None


class RoundVoid(Event, frozen=True, kw_only=True):
    """The round is off, and every stake goes back."""

    reason: Irregularity | None


class AlarmRaised(Event, frozen=True, kw_only=True):
    """Something is wrong with a deck; `deck` is None where the table has only one."""

    alarm: Irregularity
    deck: str | None = None


class AlarmAcknowledged(Event, frozen=True, kw_only=True):
    """A person has taken note of the alarm."""

    alarm: Irregularity


class DeckOut(Event, frozen=True, kw_only=True):
    """The deck must not be dealt from."""

    deck: str | None = None


class DeckIn(Event, frozen=True, kw_only=True):
    """The deck may be dealt from again."""

    deck: str | None = None


class DeviceUp(Event, frozen=True, kw_only=True):
    """A device is connected; `gap`: facts of it were lost meanwhile. Its claims are no proofs."""

    device: str
    claims: Claims | None
    gap: bool


class DeviceDown(Event, frozen=True, kw_only=True):
    """A device is lost; `reason` is a sentence for a person."""

    device: str
    reason: str | None


class CommandWanted(Event, frozen=True, kw_only=True):
    """A machine is to do this; `command_id` counts from 1 in the life of a journal."""

    device: str
    command_id: int
    command: CommandKind


class CommandOutcome(Event, frozen=True, kw_only=True):
    """How far a command has come; `reason` is the machine's where it refuses."""

    device: str
    command_id: int
    outcome: Outcome
    reason: str | None


class PositionOffered(Event, frozen=True, kw_only=True):
    """The player-dealer's position was offered to this seat."""

    seat: int


class PositionTaken(Event, frozen=True, kw_only=True):
    """This seat holds the player-dealer's position in the next round."""

    seat: int


class PositionDeclined(Event, frozen=True, kw_only=True):
    """This seat does not want the player-dealer's position."""

    seat: int


class PaymentCorrected(Event, frozen=True, kw_only=True):
    """`settled_round`: the round whose payment it is; another may be open already."""

    settled_round: int
    seat: int
    wager: str
    paid: int
    reason: str


class LimitsChanged(Event, frozen=True, kw_only=True):
    """Limits per wager, in minor units, 0 = none; in force from `effective_at_ms` on, on the table's clock."""

    minimum: int
    maximum: int
    effective_at_ms: int


class FactRefused(Event, frozen=True, kw_only=True):
    """`fact` is the fact's name, never its content: a refused fact may carry a card."""

    source: str
    fact: str
    sentence: str


class UnknownEvent(Event, frozen=True, kw_only=True):
    """An event of a newer version: its name is all that can be shown of it."""

    name: str


class BadLine(ValueError):
    """Not an event's JSON."""


def read_event(line: bytes | str) -> Event:
    """One line of the feed. Raises BadLine."""
    try:
        head = _HEAD.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadLine(f"not an event: {error}") from error
    try:
        return _DECODER.decode(line)
    except msgspec.ValidationError:
        return UnknownEvent(seq=head.seq, round=head.round, at_ms=head.at_ms, name=head.event)


class _Head(msgspec.Struct):
    event: str
    seq: int
    round: int = 0
    at_ms: int = 0


_KNOWN: Final = tuple(kind for kind in Event.__subclasses__() if kind is not UnknownEvent)
_DECODER: Final[msgspec.json.Decoder[Event]] = msgspec.json.Decoder(reduce(or_, _KNOWN))
_HEAD: Final = msgspec.json.Decoder(_Head)
