"""What the game knows of the round that is open, beside what the table says of it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from drivers.facts import Place
from firmware_bridge.core.game.release import Releases, known_cards
from firmware_bridge.core.game.settlement import SeatRound, needs_hand
from firmware_bridge.core.game.wagers import SeatWagers
from firmware_bridge.core.rules.chosen_rules import Rules
from firmware_bridge.core.table.round_snapshot import HandSnapshot, RoundSnapshot


@dataclass(slots=True)
class OpenRound:
    """The stakes by seat, and which hands are released."""

    releases: Releases
    wagers: dict[int, SeatWagers] = field(default_factory=dict)

    def seats(self, record: RoundSnapshot) -> dict[int, SeatRound]:
        """Every seat with a wager, as its settlement will see it now."""
        seats: dict[int, SeatRound] = {}
        for seat, wagers in self.wagers.items():
            hand = record.hands.get(seat)
            seats[seat] = SeatRound(
                cards=() if hand is None else tuple(known_cards(hand)),
                wagers=wagers,
                plays=record.decided.get(seat),
                misdealt=seat not in record.forfeited and is_out(seat, record),
                forfeited=seat in record.forfeited,
            )
        return seats

    def undecided(self, record: RoundSnapshot) -> list[int]:
        """Seats with an ante that have still to play or fold."""
        return [
            seat
            for seat, wagers in sorted(self.wagers.items())
            if wagers.ante and seat not in record.decided and seat not in record.forfeited and not is_out(seat, record)
        ]

    def in_play(self, record: RoundSnapshot) -> Iterator[Place]:
        """The places whose hands count against each other now: the dealer, then the seats in the order of dealing."""
        if not is_wrong(record.hands.get("dealer")):
            yield "dealer"
        undecided = self.undecided(record)
        for place in record.order:
            if (
                place != "dealer"
                and not is_out(place, record)
                and place not in record.forfeited
                and place not in undecided
                and record.decided.get(place) is not False
            ):
                yield place

    def unread(self, rules: Rules, record: RoundSnapshot) -> list[Place]:
        """Places whose hands count and have a card that nobody has read; none, where the dealer has no hand."""
        if is_wrong(record.hands.get("dealer")):
            return []
        places: list[Place] = [seat for seat, told in self.seats(record).items() if needs_hand(rules, told)]
        return [place for place in (*places, "dealer") if has_unread(record.hands.get(place))]


def is_wrong(hand: HandSnapshot | None) -> bool:
    """No hand of three cards."""
    return hand is None or len(hand.cards) != 3


def is_out(seat: int, record: RoundSnapshot) -> bool:
    """Whether the seat's wagers go back: void, or, once all cards are out, without a hand of three cards."""
    return seat in record.void_seats or is_wrong(record.hands.get(seat))


def has_unread(hand: HandSnapshot | None) -> bool:
    """A card lies there that nobody has read."""
    return hand is not None and None in hand.cards
