"""What every wager of a round comes to, in the house's order. Money in minor units; nothing is rounded."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from drivers.cards import RANKS, Card
from firmware_bridge.core.events import Payment, SeatSettlement
from firmware_bridge.core.game.coverage import Bank, PositionWager, in_action_order
from firmware_bridge.core.game.wagers import SeatWagers
from firmware_bridge.core.ranking import best_of_six, category, highest_card, rank_cards
from firmware_bridge.core.rules.chosen_rules import Rules
from firmware_bridge.core.terms import HandCategory

Result: TypeAlias = Literal["win", "lose", "push", "returned", "bonus"]


class UnbalancedBooks(RuntimeError):
    """Money in is not money out plus returns: a bug in the settlement, never a state of the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatRound:
    """A seat's part in a round. `plays`: None where it had nothing to decide, or did not come to it.

    `cards` are three where `needs_hand` says so. `forfeited`: the floor took its wagers.
    """

    cards: tuple[Card, ...]
    wagers: SeatWagers
    plays: bool | None
    misdealt: bool = False
    forfeited: bool = False


@dataclass(frozen=True, slots=True)
class Settled:
    """`order`: (seat, wager) of every row that is not returned. Hands are None where they did not count."""

    seats: dict[int, SeatSettlement]
    order: tuple[tuple[str, str], ...]
    dealer_hand: HandCategory | None
    qualifies: bool | None
    player_dealer_net: int | None


@dataclass(frozen=True, slots=True)
class _Outcome:
    """`collected_first`: among what the folded seats lose, before all others are settled."""

    result: Result
    times: int = 0
    collected_first: bool = False


_PUSH = _Outcome("push")
_LOSE = _Outcome("lose")
_RETURNED = _Outcome("returned")
_EVEN = _Outcome("win", 1)
_FORFEIT = _Outcome("lose", collected_first=True)
_TIPS = {"play": "tip_play", "ante": "tip_ante", "pair_plus": "tip_pair_plus"}


def dealer_qualifies(rules: Rules, hand_rank: int) -> bool:
    """A pair or better, or a high card of at least the rank that the house asks for."""
    high = highest_card(hand_rank)
    return high is None or high >= RANKS.index(rules.house.settlement.qualifies_with)


def needs_hand(rules: Rules, seat: SeatRound) -> bool:
    """Whether some wager of the seat depends on its cards."""
    if seat.misdealt or seat.forfeited:
        return False
    terms = rules.house.settlement
    return (
        seat.plays is not False
        or (seat.wagers.pair_plus > 0 and not terms.fold_forfeits_pair_plus)
        or (seat.wagers.six_card > 0 and not terms.fold_forfeits_six_card)
    )


def settle(
    rules: Rules,
    dealer: tuple[Card, ...],
    seats: Mapping[int, SeatRound],
    *,
    folds: Sequence[int],
    position: PositionWager | None,
    void: bool,
) -> Settled:
    """Settle a round. `folds`: seats in the order in which they folded or forfeited; others of them follow ascending.

    `dealer` is three cards unless the round is void. Raises UnbalancedBooks if the settlement itself is wrong.
    """
    dealer_rank = None if void else rank_cards(dealer)
    rows: dict[int, list[tuple[Payment, _Outcome]]] = {}
    bank = Bank(position.wager, rules.coverage) if position is not None and rules.coverage is not None else None
    for seat in _turns(rules, seats, folds, position):
        at_seat = seats[seat]
        if dealer_rank is None or at_seat.misdealt:
            rows[seat] = _rows(rules, at_seat, _all_wagers(_RETURNED))
            continue
        outcomes = _outcomes(rules, at_seat, dealer, dealer_rank)
        if bank is None:
            rows[seat] = _rows(rules, at_seat, outcomes)
        else:
            rows[seat] = _covered(rules, at_seat, outcomes, bank, qualified=dealer_qualifies(rules, dealer_rank))
    settled = Settled(
        seats={seat: _seat_settlement(rules, seats[seat], rows[seat], void=void) for seat in sorted(seats)},
        order=tuple(_order(rules, rows, folds, position)),
        dealer_hand=None if dealer_rank is None else category(dealer_rank),
        qualifies=None if dealer_rank is None else dealer_qualifies(rules, dealer_rank),
        player_dealer_net=None if position is None else 0 if bank is None else bank.net,
    )
    _check_books(seats, settled)
    return settled


def _turns(
    rules: Rules, seats: Mapping[int, SeatRound], folds: Sequence[int], position: PositionWager | None
) -> list[int]:
    """The seats in the order in which their wagers have action."""
    if position is None:
        return list(seats)
    turns = in_action_order(list(seats), position.action_seat)
    if rules.house.position is not None and rules.house.position.folded_antes == "first":
        lost = [seat for seat in turns if seats[seat].plays is False or seats[seat].forfeited]
        first = [*(seat for seat in folds if seat in lost), *(seat for seat in lost if seat not in folds)]
        return [*first, *(seat for seat in turns if seat not in first)]
    return turns


def _all_wagers(outcome: _Outcome) -> dict[str, _Outcome]:
    return dict.fromkeys(("play", "ante", "pair_plus", "six_card"), outcome)


def _outcomes(rules: Rules, seat: SeatRound, dealer: tuple[Card, ...], dealer_rank: int) -> dict[str, _Outcome]:
    """What each wager of a seat whose hand counts comes to."""
    if not needs_hand(rules, seat):
        return _all_wagers(_FORFEIT)
    own_rank = rank_cards(seat.cards)
    pairs = rules.schedule.pair_plus.get(category(own_rank))
    best = best_of_six((*seat.cards, *dealer)) if seat.wagers.six_card else None
    six = None if best is None else rules.schedule.six_card.get(best)
    outcomes = {
        "pair_plus": _LOSE if pairs is None else _Outcome("win", pairs),
        "six_card": _LOSE if six is None else _Outcome("win", six),
    }
    if seat.plays is False:
        outcomes["ante"] = _FORFEIT
        if rules.house.settlement.fold_forfeits_pair_plus:
            outcomes["pair_plus"] = _FORFEIT
        if rules.house.settlement.fold_forfeits_six_card:
            outcomes["six_card"] = _FORFEIT
        return outcomes
    bonus = rules.schedule.ante_bonus.get(category(own_rank))
    if bonus is not None:
        outcomes["ante_bonus"] = _Outcome("bonus", bonus)
    compared = _EVEN if own_rank > dealer_rank else _PUSH if own_rank == dealer_rank else _LOSE
    if dealer_qualifies(rules, dealer_rank):
        outcomes["play"] = outcomes["ante"] = compared
        return outcomes
    outcomes["play"] = _Outcome(rules.house.settlement.nonqualify_play)
    if rules.nonqualify == "paid":
        outcomes["ante"] = _EVEN
    else:
        outcomes["ante"] = _PUSH if rules.nonqualify == "compare" and compared is _LOSE else compared
    return outcomes


def _rows(rules: Rules, seat: SeatRound, outcomes: Mapping[str, _Outcome]) -> list[tuple[Payment, _Outcome]]:
    """A seat's rows in the house's order, each tip right after the wager that it follows."""
    rows: list[tuple[Payment, _Outcome]] = []
    for wager in rules.house.settlement.order:
        stake = _stake(seat, wager)
        outcome = outcomes.get(wager)
        if stake and outcome is not None:
            rows.append((_payment(wager, stake, outcome), outcome))
        tip = _TIPS.get(wager)
        if tip is not None and seat.wagers.stake(tip):
            followed = outcome if stake and outcome is not None else _RETURNED
            rows.append((_payment(tip, seat.wagers.stake(tip), followed), followed))
    return rows


def _stake(seat: SeatRound, wager: str) -> int:
    if wager in {"play", "ante_bonus"}:
        return seat.wagers.ante if seat.plays else 0
    return seat.wagers.stake(wager)


def _payment(wager: str, stake: int, outcome: _Outcome) -> Payment:
    return Payment(wager=wager, stake=stake, result=outcome.result, paid=stake * outcome.times)


def _covered(
    rules: Rules, seat: SeatRound, outcomes: Mapping[str, _Outcome], bank: Bank, *, qualified: bool
) -> list[tuple[Payment, _Outcome]]:
    """A seat's rows as far as the bank covers them; a stack that is covered in part becomes two rows."""
    if rules.house.settlement.stacked and seat.plays and qualified:
        stacks = [("ante_play", 2 * seat.wagers.ante, outcomes["ante"])]
    else:
        stacks = [(payment.wager, payment.stake, outcome) for payment, outcome in _rows(rules, seat, outcomes)]
    rows: list[tuple[Payment, _Outcome]] = []
    for wager, stake, outcome in stacks:
        action = 0
        if outcome.result == "win" or outcome.result == "lose" or outcome.result == "push":
            action = bank.cover(stake, outcome.result)
        if action:
            rows.append((_payment(wager, action, outcome), outcome))
        if action < stake:
            rows.append((_payment(wager, stake - action, _RETURNED), _RETURNED))
    return rows


def _seat_settlement(
    rules: Rules, seat: SeatRound, rows: Iterable[tuple[Payment, _Outcome]], *, void: bool
) -> SeatSettlement:
    counts = not void and not seat.misdealt
    net = 0 if not counts and rules.house.wagers.fee_on_misdeal == "returned" else -seat.wagers.fee
    payments = tuple(payment for payment, _ in rows)
    for payment in payments:
        if not payment.wager.startswith("tip_"):
            net += -payment.stake if payment.result == "lose" else payment.paid
    hand = category(rank_cards(seat.cards)) if counts and len(seat.cards) == 3 else None
    return SeatSettlement(payments=payments, net=net, hand=hand)


def _order(
    rules: Rules,
    rows: Mapping[int, list[tuple[Payment, _Outcome]]],
    folds: Sequence[int],
    position: PositionWager | None,
) -> Iterable[tuple[str, str]]:
    """First what the folded seats lose, then the others seat by seat; with a player-dealer, in action order."""
    if position is not None:
        for seat, seat_rows in rows.items():
            yield from _named(seat, seat_rows)
        return
    for seat in (*dict.fromkeys(seat for seat in folds if seat in rows), *sorted(set(rows) - set(folds))):
        yield from _named(seat, [row for row in rows[seat] if row[1].collected_first])
    for seat in sorted(rows, reverse=rules.house.settlement.seats == "highest_first"):
        yield from _named(seat, [row for row in rows[seat] if not row[1].collected_first])


def _named(seat: int, rows: Iterable[tuple[Payment, _Outcome]]) -> Iterable[tuple[str, str]]:
    return ((str(seat), payment.wager) for payment, _ in rows if payment.result != "returned")


def _check_books(seats: Mapping[int, SeatRound], settled: Settled) -> None:
    """Every unit that went in is in exactly one row, and what the player-dealer is up the seats are down."""
    won = 0
    for number, seat in seats.items():
        staked = sum(stake for name, stake in seat.wagers.named().items() if name != "fee")
        staked += seat.wagers.ante if seat.plays else 0
        payments = settled.seats[number].payments
        out = sum(payment.stake for payment in payments if payment.result != "bonus")
        if out != staked:
            msg = f"seat {number}: {staked} in, {out} out or returned"
            raise UnbalancedBooks(msg)
        won += sum(p.paid if p.result in {"win", "bonus"} else -p.stake if p.result == "lose" else 0 for p in payments)
    if settled.player_dealer_net is not None and settled.player_dealer_net != -won:
        msg = f"the player-dealer is up {settled.player_dealer_net}, the seats {won}"
        raise UnbalancedBooks(msg)
