"""What people and the shell report, beside the devices' own facts, and how any fact is read from JSON."""

from typing import Annotated, Final, Literal, TypeAlias, get_args

import msgspec

from drivers import facts as device
from drivers.cards import Card
from drivers.commands import Outcome
from drivers.driver import Claims
from drivers.facts import AtMs, Count, Fact, Place
from firmware_bridge.core.terms import Irregularity

Money: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class OperatorFact(Fact, frozen=True, kw_only=True):
    """What a person at the table reports: dealer, floor or a console in their name."""

    source: Literal["operator"] = "operator"


class BridgeFact(Fact, frozen=True, kw_only=True):
    """What the daemon itself reports: its start, its devices, the time."""

    source: Literal["bridge"] = "bridge"


class Seats(OperatorFact, frozen=True, kw_only=True):
    """Who is dealt in, when no wagers are kept here."""

    seats: tuple[int, ...]


class Wager(OperatorFact, frozen=True, kw_only=True):
    """What a seat has wagered, in minor units; a later one for the seat replaces it, all zero = out."""

    seat: int
    ante: Money = 0
    pair_plus: Money = 0
    six_card: Money = 0
    tip_ante: Money = 0
    tip_pair_plus: Money = 0
    tip_play: Money = 0
    fee: Money = 0


class PlayerDealer(OperatorFact, frozen=True, kw_only=True):
    """Who holds the position this round."""

    seat: int
    wager: Money
    action_seat: int


class Position(OperatorFact, frozen=True, kw_only=True):
    """The button going round."""

    seat: int
    answer: Literal["offered", "accepted", "declined"]


class NoMoreBets(OperatorFact, frozen=True, kw_only=True):
    """The dealer has announced no more bets."""


class HandShuffled(OperatorFact, frozen=True, kw_only=True):
    """A deck was shuffled by hand; None: the one in play."""

    deck: str | None = None


class Cut(OperatorFact, frozen=True, kw_only=True):
    """A deck was cut: where it is named, it is the next to be dealt from."""

    deck: str | None = None


class DeckChanged(OperatorFact, frozen=True, kw_only=True):
    """New cards are in for this deck; None: for the one in play."""

    deck: str | None = None


class CardTurnedDown(OperatorFact, frozen=True, kw_only=True):
    """A face-up card was turned down again; None: which one was not said."""

    seat: Place
    card: Card | None = None


class CardIdentified(OperatorFact, frozen=True, kw_only=True):
    """An unreadable card, read by a person; `index` is 1..3 within the hand."""

    seat: Place
    index: Annotated[int, msgspec.Meta(ge=1, le=3)]
    card: Card


class ForeignCard(OperatorFact, frozen=True, kw_only=True):
    """A card of another deck, a damaged or a marked one."""

    seat: Place


class DealingDone(OperatorFact, frozen=True, kw_only=True):
    """The dealer says that all cards are out."""


class Decision(OperatorFact, frozen=True, kw_only=True):
    """A seat plays (True) or folds."""

    seat: int
    play: bool


class FoldCounted(OperatorFact, frozen=True, kw_only=True):
    """The folded hand, spread face down."""

    seat: int
    cards: Count


class DealerRevealed(OperatorFact, frozen=True, kw_only=True):
    """The dealer's hand is turned over."""


class SeatChecked(OperatorFact, frozen=True, kw_only=True):
    """The floor counted that place by hand: it overrules every sensor."""

    seat: Place
    cards: Count


class FloorRuling(OperatorFact, frozen=True, kw_only=True, tag="ruling"):
    """The floor decides a held question; `seat` for the rulings about a seat."""

    ruling: Literal["continue", "void_seat", "forfeit_seat", "void_round"]
    seat: Place | None = None
    reason: str | None = None


class AlarmAcknowledged(OperatorFact, frozen=True, kw_only=True):
    """The floor has taken note of an alarm of a deck."""

    alarm: Irregularity


class LimitsAnnounced(OperatorFact, frozen=True, kw_only=True):
    """New limits per wager, in minor units, 0 = none, from `effective_at_ms` on; the house sets the notice."""

    minimum: Money
    maximum: Money
    effective_at_ms: AtMs


class PaymentCorrected(OperatorFact, frozen=True, kw_only=True):
    """After settlement; stands beside the record, never instead of it."""

    seat: int
    wager: str
    paid: Money
    reason: str


class DeviceLost(BridgeFact, frozen=True, kw_only=True):
    """The link to a device has ended; `reason` is a sentence for a person."""

    device: str
    reason: str | None = None


class DeviceBack(BridgeFact, frozen=True, kw_only=True):
    """`gap`: facts were lost in between."""

    device: str
    gap: bool = False
    claims: Claims | None = None


class CommandOutcome(BridgeFact, frozen=True, kw_only=True):
    """How far a machine has come with a command that the core wanted."""

    device: str
    command_id: int
    outcome: Outcome
    reason: str | None = None


class TimePassed(BridgeFact, frozen=True, kw_only=True):
    """The clock itself; sent when a time limit of the table runs out."""


class Started(BridgeFact, frozen=True, kw_only=True):
    """First fact of every run: the version, and house and table as loaded, as JSON values."""

    version: str
    house: msgspec.Raw
    table: msgspec.Raw


class UnknownFact(Fact, frozen=True, kw_only=True):
    """A fact this version does not know: kept, counted and passed over."""

    source: str
    name: str


KNOWN: Final[dict[tuple[str, str], type[Fact]]] = {}
for _type in (*get_args(device.DeviceFact), *OperatorFact.__subclasses__(), *BridgeFact.__subclasses__()):
    for _source in get_args(_type.__annotations__.get("source") or _type.__mro__[1].__annotations__["source"]):
        KNOWN[_source, str(_type.__struct_config__.tag)] = _type


class BadFact(ValueError):
    """A line that is not a fact, or a known fact with a bad field; the text says which, in one sentence."""


class _Head(msgspec.Struct):
    source: str
    fact: str
    at_ms: AtMs


_HEAD: Final = msgspec.json.Decoder(_Head)
_DECODERS: Final = {known: msgspec.json.Decoder(known) for known in set(KNOWN.values())}


def read_fact(line: bytes | str) -> Fact:
    """One JSON object as a fact; unknown fields are ignored, an unknown fact becomes an UnknownFact.

    Raises BadFact.
    """
    try:
        head = _HEAD.decode(line)
        known = KNOWN.get((head.source, head.fact))
        if known is None:
            return UnknownFact(at_ms=head.at_ms, source=head.source, name=head.fact)
        return _DECODERS[known].decode(line)
    except msgspec.ValidationError as error:
        raise BadFact(f"not a good fact: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadFact(f"not JSON: {error}") from error


def write_fact(fact: Fact) -> bytes:
    """The JSON that `read_fact` reads back to an equal fact."""
    return msgspec.json.encode(fact)
