"""Cards, hands, money and places in a person's words."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from drivers.cards import RANKS, Card
from drivers.facts import Place
from firmware_bridge.core.events import Payment
from firmware_bridge.core.terms import HandCategory

_RANK_NAMES: Final = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king", "ace",
)  # fmt: skip
_LOW_STRAIGHT: Final = (RANKS.index("A"), RANKS.index("3"), RANKS.index("2"))


def money(minor: int) -> str:
    """1050 is "10.50"."""
    sign = "-" if minor < 0 else ""
    return f"{sign}{abs(minor) // 100}.{abs(minor) % 100:02d}"


def signed_money(minor: int) -> str:
    """1050 is "+10.50", 0 is "0.00"."""
    return ("+" if minor > 0 else "") + money(minor)


def table_time(at_ms: int) -> str:
    """3723004 is "1:02:03.004" on the table's clock."""
    seconds, ms = divmod(at_ms, 1000)
    return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{ms:03d}"


def place_name(place: Place) -> str:
    """The place in words: "dealer", or "seat 4"."""
    return "dealer" if place == "dealer" else f"seat {place}"


def at_place(place: Place | None) -> str:
    """ " at seat 2", " at the dealer", or nothing."""
    if place is None:
        return ""
    return " at the dealer" if place == "dealer" else f" at seat {place}"


def seat_list(seats: Iterable[int]) -> str:
    """The seats in one line: "seats 1, 2, 4", or "no seats"."""
    listed = ", ".join(str(seat) for seat in seats)
    return f"seats {listed}" if listed else "no seats"


def plain(name: str) -> str:
    """`pair_plus` is "pair plus"."""
    return name.replace("_", " ")


def stakes(wagers: Mapping[str, int]) -> str:
    """The wagers that are not nothing, each with its amount."""
    return ", ".join(f"{plain(wager)} {money(stake)}" for wager, stake in wagers.items() if stake)


def card_list(cards: Sequence[Card | None]) -> str:
    """High to low: "Kh 8d 2c"; cards that nobody has read last, as "??"."""
    read = sorted((card for card in cards if card is not None), key=lambda card: -card.index)
    return " ".join([*(card.value for card in read), *("??" for card in cards if card is None)])


def hand_name(category: HandCategory, cards: Sequence[Card | None]) -> str:
    """ "pair of queens", "flush, king high", "three nines"; the category alone where the cards are not known."""
    ranks = sorted((card.rank for card in cards if card is not None), reverse=True)
    if len(ranks) != len(cards) or len(ranks) != 3:
        return plain(category.value)
    # The middle of three sorted ranks is in every pair.
    high = ranks[1] if category in (HandCategory.PAIR, HandCategory.THREE_OF_A_KIND) else ranks[0]
    if category in (HandCategory.STRAIGHT, HandCategory.STRAIGHT_FLUSH) and tuple(ranks) == _LOW_STRAIGHT:
        high = ranks[1]
    name = _RANK_NAMES[high]
    plural = f"{name}es" if name == "six" else f"{name}s"
    match category:
        case HandCategory.PAIR:
            return f"pair of {plural}"
        case HandCategory.THREE_OF_A_KIND:
            return f"three {plural}"
        case HandCategory.HIGH_CARD:
            return f"{name} high"
        case _:
            return f"{plain(category.value)}, {name} high"


def payment_words(payment: Payment) -> str:
    """ "ante +10.00", "ante -10.00", "play push", "ante 10.00 returned"."""
    name = plain(payment.wager)
    match payment.result:
        case "win" | "bonus":
            return f"{name} {signed_money(payment.paid)}"
        case "lose":
            return f"{name} {signed_money(-payment.stake)}"
        case "push":
            return f"{name} push"
        case "returned":
            return f"{name} {money(payment.stake)} returned"
