"""Every card is in exactly one place, whatever the hands at the table do."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.cards import FULL_DECK, Card
from drivers.driver import DeviceKind
from drivers.facts import DeviceFact
from simulator.mechanics.deck import Deck
from simulator.mechanics.table import Equipment, SimulatedTable
from simulator.mechanics.world import RandomStreams


def table(rig: str = "group", decks: int = 1) -> tuple[SimulatedTable, list[tuple[DeviceKind, DeviceFact]]]:
    told: list[tuple[DeviceKind, DeviceFact]] = []
    equipment = Equipment(rig="group" if rig == "group" else "rotation", decks=decks)
    return SimulatedTable(equipment, RandomStreams(7), lambda: 5, lambda kind, fact: told.append((kind, fact))), told


@given(
    hands=st.lists(
        st.sampled_from(("load", "shuffle", "feed", "lift", "put", "collect", "lose", "smuggle", "right")), max_size=60
    )
)
def test_no_card_is_ever_in_two_places_or_in_none(hands: list[str]) -> None:
    at, _ = table()
    for hand in hands:
        match hand:
            case "load":
                at.shuffler.load(at.rack)
            case "shuffle":
                at.shuffler.shuffle()
            case "feed" if len(at.shuffler.chamber):
                at.shuffler.feed(at.shoe.reader)
            case "lift":
                at.shuffler.lift(at.hand)
            case "put":
                for card in at.hand:
                    at.layout.put(card, 3)
            case "collect":
                at.collect()
            case "lose" if len(at.rack):
                at.lose_a_card()
            case "smuggle" if len(at.rack) > 1:
                at.smuggle_in_a_duplicate()
            case "right":
                at.put_deck_right()
        assert at.deck.misplaced() == ()
        assert sum(len(pile) for pile in at.deck.piles) == len(at.deck.cards)
    at.collect()
    at.put_deck_right()
    assert Counter(at.rack.faces) == Counter(FULL_DECK)


def test_a_card_taken_without_being_put_is_found_out() -> None:
    deck = Deck()
    rack = deck.pile("discard rack")
    card = rack[0]
    rack.take(card)
    assert deck.misplaced() == (card,)


def test_a_new_order_must_have_the_same_cards() -> None:
    deck = Deck()
    rack = deck.pile("discard rack")
    with pytest.raises(ValueError, match="the same cards"):
        rack.reorder(list(rack)[1:])


def test_the_reader_counts_on_and_reads_what_passes() -> None:
    at, told = table()
    at.shuffler.load(at.rack)
    at.shuffler.shuffle()
    faces = at.shuffler.chamber.faces[:4]
    at.shoe.reader.blind_for = 0
    for index in range(4):
        if index == 2:
            at.shoe.reader.blind_for = 1
        at.shuffler.feed(at.shoe.reader)
    drawn = [(fact.draw, fact.card) for kind, fact in told if kind is DeviceKind.SHOE and hasattr(fact, "draw")]  # type: ignore[union-attr]
    assert drawn == [(1, faces[0]), (2, faces[1]), (3, None), (4, faces[3])]


def test_sensors_settle_one_card_at_a_time() -> None:
    at, told = table()
    at.shuffler.load(at.rack)
    for _ in range(3):
        at.shuffler.feed(None)
    at.shuffler.lift(at.hand)
    for card in at.hand:
        at.layout.put(card, 2)
    told.clear()
    while at.layout.sense(2):
        pass
    assert [fact.cards for _, fact in told if hasattr(fact, "cards")] == [1, 2, 3]
    at.layout.lift(2, at.rack)
    assert at.layout.unsettled() == (2,)
    assert at.layout.sense(2)
    assert not at.layout.sense(2)


def test_a_locked_shoe_gives_no_card() -> None:
    at, told = table("rotation")
    at.shuffler.load(at.rack)
    at.shoe.load(at.shuffler.chamber)
    at.shoe.locked = True
    told.clear()
    with pytest.raises(ValueError, match="locked"):
        at.shoe.draw(at.hand)
    assert told == []


def test_the_shuffler_is_fair() -> None:
    """Chi-squared of where the ace of spades ends up, 51 degrees of freedom: 0.999 quantile is 87.97."""
    at, _ = table()
    at.shuffler.load(at.rack)
    counts = [0] * 52
    shuffles = 5200
    for _ in range(shuffles):
        at.shuffler.shuffle()
        counts[at.shuffler.chamber.faces.index(Card.ACE_OF_SPADES)] += 1
    expected = shuffles / 52
    assert sum((count - expected) ** 2 / expected for count in counts) < 87.97
