"""One deal told as JSON, settled: what `firmware-bridge settle` reads and prints."""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Literal, TypeAlias

import msgspec

from drivers.cards import Card
from firmware_bridge.core.events import SeatSettlement
from firmware_bridge.core.facts import Money
from firmware_bridge.core.game.coverage import PositionWager
from firmware_bridge.core.game.settlement import SeatRound, Settled, settle
from firmware_bridge.core.game.wagers import SeatWagers, fee_refusal, wagers_refusal
from firmware_bridge.core.rules.chosen_rules import Rules, RulesRefused, choose_rules
from firmware_bridge.core.rules.house import House
from firmware_bridge.core.terms import HandCategory
from firmware_bridge.houses.loader import HouseError, load_house

Cards: TypeAlias = tuple[Card | None, ...]
Number: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=1000)]


class CaseRefused(ValueError):
    """A case that cannot be settled; the text says why, in one sentence."""


class _Closed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class DealerCase(_Closed, frozen=True, kw_only=True):
    """The dealer's cards, as text."""

    cards: Cards = ()


class SeatCase(_Closed, frozen=True, kw_only=True):
    """One seat of a case: cards, wagers in minor units, and what it decided."""

    cards: Cards = ()
    ante: Money = 0
    pair_plus: Money = 0
    six_card: Money = 0
    tip_ante: Money = 0
    tip_pair_plus: Money = 0
    tip_play: Money = 0
    fee: Money = 0
    decision: Literal["play", "fold"] | None = None
    misdeal: bool = False


class PositionCase(_Closed, frozen=True, kw_only=True):
    """The player-dealer: its wager in minor units, and the seat that has action first."""

    seat: Number
    wager: Money
    action_seat: Number


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """`fold_order`: the seats in the order in which they folded; without it, ascending."""

    house: str
    seats: dict[str, SeatCase]
    schedule: Number = 1
    decks: Number = 1
    options: dict[str, str] = {}
    dealer: DealerCase = DealerCase()
    fold_order: tuple[Number, ...] = ()
    player_dealer: PositionCase | None = None
    void: bool = False


class DealerAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What the dealer's hand is, and whether it qualifies; None where its cards are not known."""

    hand: HandCategory | None
    qualifies: bool | None


class PositionAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What the player-dealer won or lost in all, in minor units."""

    net: int


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One case settled: what `settle` prints."""

    dealer: DealerAnswer
    seats: dict[str, SeatSettlement]
    order: tuple[tuple[str, str], ...]
    player_dealer: PositionAnswer | None = None


_CASE = msgspec.json.Decoder(Case)


class CaseBook:
    """Settles cases, reading each house once."""

    def __init__(self) -> None:
        self._houses: dict[str, House] = {}

    def answer(self, line: bytes) -> Answer:
        """The settlement of one case. Raises CaseRefused."""
        try:
            case = _CASE.decode(line)
        except msgspec.ValidationError as error:
            msg = f"the case cannot be read: {error}"
            raise CaseRefused(msg) from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            msg = f"the case is not JSON: {error}"
            raise CaseRefused(msg) from error
        try:
            house = self._houses.get(case.house) or load_house(case.house)
            self._houses[case.house] = house
            rules = choose_rules(house, schedule=case.schedule, decks=case.decks, options=case.options)
        except (HouseError, RulesRefused) as error:
            raise CaseRefused(str(error)) from error
        for sentence in _objections(case, rules):
            raise CaseRefused(sentence)
        return _told(_settled(case, rules))


def _settled(case: Case, rules: Rules) -> Settled:
    seats = {
        int(number): SeatRound(
            cards=_read(seat.cards),
            wagers=_wagers(seat),
            plays=None if seat.decision is None else seat.decision == "play",
            misdealt=seat.misdeal,
        )
        for number, seat in case.seats.items()
    }
    held = case.player_dealer
    position = None if held is None else PositionWager(held.seat, held.wager, held.action_seat)
    folds = tuple(seat for seat in case.fold_order if seats[seat].plays is False)
    return settle(rules, _read(case.dealer.cards), seats, folds=folds, position=position, void=case.void)


def _read(cards: Cards) -> tuple[Card, ...]:
    return tuple(card for card in cards if card is not None)


def _wagers(seat: SeatCase) -> SeatWagers:
    return SeatWagers(**{name: getattr(seat, name) for name in SeatWagers.__struct_fields__})


def _told(settled: Settled) -> Answer:
    net = settled.player_dealer_net
    return Answer(
        dealer=DealerAnswer(hand=settled.dealer_hand, qualifies=settled.qualifies),
        seats={str(seat): told for seat, told in settled.seats.items()},
        order=settled.order,
        player_dealer=None if net is None else PositionAnswer(net=net),
    )


def _objections(case: Case, rules: Rules) -> Iterator[str]:
    """Why the case cannot be settled, one sentence after the other."""
    seen: Counter[Card] = Counter(_read(case.dealer.cards))
    if not case.void and len(_read(case.dealer.cards)) != 3:
        yield f"the dealer's hand has {len(_read(case.dealer.cards))} known cards: a hand that counts has three"
    for number, seat in case.seats.items():
        seen.update(_read(seat.cards))
        if not _is_seat(number, rules.house):
            yield f"there is no seat {number!r}: the house {rules.house.name} has seats 1 to {rules.house.deal.places}"
            continue
        for what in _seat_objections(case, seat, rules.house):
            yield f"seat {number} {what}"
    for card, times in seen.items():
        if times > case.decks:
            yield f"the card {card} is there {times} times, but {case.decks} of it can be in {case.decks} deck(s)"
    for fold in case.fold_order:
        if str(fold) not in case.seats:
            yield f"fold_order names seat {fold}, which is not in the case"
    yield from _position_objections(case, rules.house)


def _is_seat(number: str, house: House) -> bool:
    return number in {str(seat) for seat in range(1, house.deal.places + 1)}


def _seat_objections(case: Case, seat: SeatCase, house: House) -> Iterator[str]:
    wagers = _wagers(seat)
    counts = not seat.misdeal and not case.void
    if counts and len(_read(seat.cards)) != 3:
        yield f"has {len(_read(seat.cards))} known cards: a hand that counts has three"
    if seat.decision == "play" and not seat.ante:
        yield "decides to play without an ante"
    refused = wagers_refusal(house, wagers) or fee_refusal(house, wagers)
    if refused is not None:
        yield refused
    if seat.decision == "fold" and not seat.ante:
        yield "folds without an ante: pair plus alone has nothing to decide"
    if seat.tip_play and seat.decision == "fold":
        yield "has a tip_play without a play wager of the player's own"
    if counts and seat.ante and seat.decision is None:
        yield "has an ante, but neither plays nor folds"


def _position_objections(case: Case, house: House) -> Iterator[str]:
    held = case.player_dealer
    if (held is None) != (house.position is None):
        yield f"the house {house.name} has {'no' if held is not None else 'a'} player-dealer"
    if held is None or house.position is None:
        return
    for what, seat in (("the player-dealer", held.seat), ("the action", held.action_seat)):
        if seat > house.deal.places:
            yield f"{what} is at seat {seat}, but the house {house.name} has {house.deal.places}"
    if str(held.seat) in case.seats:
        yield f"seat {held.seat} holds the player-dealer's position and cannot wager against itself"
