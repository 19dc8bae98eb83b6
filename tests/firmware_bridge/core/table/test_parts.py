"""The smaller rooms of the table, each by itself."""

import pytest

from drivers.cards import Card
from firmware_bridge.core.events import AlarmRaised, DeckIn, DeckOut
from firmware_bridge.core.table.card_batch import Counts
from firmware_bridge.core.table.deck import Deck, Decks
from firmware_bridge.core.table.exposure import FaceUp
from firmware_bridge.core.table.gap_detector import GapDetector, Step
from firmware_bridge.core.table.round_state import dealing_order
from firmware_bridge.core.terms import Irregularity


@pytest.mark.parametrize(
    ("seats", "player_dealer", "order"),
    [
        ([3, 1, 2], None, (1, 2, 3, "dealer")),
        ([2, 3, 5], 3, (5, 2, "dealer")),
        ([1, 2], 14, (1, 2, "dealer")),
        ([1, 13, 14], 13, (14, 1, "dealer")),
        ([5, 9], 1, (5, 9, "dealer")),
        ([], None, ("dealer",)),
    ],
)
def test_the_order_of_dealing(seats: list[int], player_dealer: int | None, order: tuple[object, ...]) -> None:
    assert dealing_order(seats, player_dealer) == order


def test_one_card_told_by_two_sources_is_one_card() -> None:
    up = FaceUp(1)
    assert up.report("layout", Card("As"))
    assert not up.report("operator", Card("As"))
    assert not up.report("operator", Card("As"))
    assert up.report("operator", Card("Ks"))
    assert not up.report("layout", None)
    assert up.count == 2


def test_two_like_cards_of_two_decks_lie_face_up() -> None:
    up = FaceUp(2)
    assert up.report("layout", Card("As"))
    assert up.report("layout", Card("As"))
    assert not up.report("layout", Card("As"))
    assert up.count == 2


@pytest.mark.parametrize(
    ("reports", "down", "left"),
    [
        ([("layout", "As"), ("operator", "As")], "As", 0),
        ([("layout", "As"), ("operator", "Ks")], None, 1),
        ([("layout", "As"), ("layout", None)], None, 1),
        ([("layout", None)], "As", 0),
        ([("layout", "As")], "Ks", 1),
        ([], None, 0),
    ],
)
def test_a_card_turned_down(reports: list[tuple[str, str | None]], down: str | None, left: int) -> None:
    up = FaceUp(1)
    for source, card in reports:
        up.report(source, None if card is None else Card(card))
    up.turned_down(None if down is None else Card(down))
    assert up.count == left


def test_numbers_go_on_or_start_at_one_between_rounds() -> None:
    numbers = GapDetector(from_one=False)
    assert [numbers.take(number) for number in (41, 42)] == [Step(0, gap=False)] * 2
    assert numbers.take(45) == Step(2, gap=True)
    assert numbers.take(1) == Step(0, gap=True)
    numbers.round_opens()
    assert numbers.take(2) == Step(0, gap=False)
    numbers.round_opens()
    assert numbers.take(1) == Step(0, gap=False)
    numbers.round_opens()
    assert numbers.take(3) == Step(1, gap=True)


def test_numbers_wrap_and_are_forgiven_once() -> None:
    numbers = GapDetector(from_one=False)
    numbers.take(2**32 - 1)
    assert numbers.take(0) == Step(0, gap=False)
    numbers.forgive()
    assert numbers.take(5) == Step(4, gap=False)
    assert numbers.take(9) == Step(3, gap=True)


def test_groups_start_at_one() -> None:
    assert GapDetector(from_one=True).take(2) == Step(1, gap=True)


@pytest.mark.parametrize(
    ("counts", "agreed"),
    [
        (Counts(3, 3, 3, None), 3),
        (Counts(3, 2, 2, None), None),
        (Counts(3, 3, 3, 2), None),
        (Counts(2, 2, 2, 2), 2),
        (Counts(None, 3, 3, None), 3),
        (Counts(None, 2, 3, None), None),
        (Counts(None, 2, 3, 3), 3),
        (Counts(3, 2, 3, None), 3),
        (Counts(4, 2, 3, None), None),
    ],
)
def test_counts_agree_or_not(counts: Counts, agreed: int | None) -> None:
    assert counts.agreed == agreed


@pytest.mark.parametrize(
    ("counts", "likeliest"),
    [
        (Counts(3, 2, 2, None), 3),
        (Counts(2, 3, 3, None), 3),
        (Counts(2, 3, 3, 2), 2),
        (Counts(3, 3, 3, 0), 3),
        (Counts(2, 4, 4, None), 4),
    ],
)
def test_what_the_floor_accepts(counts: Counts, likeliest: int) -> None:
    assert counts.likeliest == likeliest


def test_a_deck_comes_back_after_acknowledgement_and_a_good_shuffle() -> None:
    deck = Deck("red", 1)
    assert deck.alarm(Irregularity.STUB_MISMATCH) == (
        AlarmRaised(alarm=Irregularity.STUB_MISMATCH, deck="red"),
        DeckOut(deck="red"),
    )
    assert deck.alarm(Irregularity.STUB_MISMATCH) == ()
    assert deck.good_shuffle() == ()
    deck.alarms[Irregularity.STUB_MISMATCH] = True
    assert deck.good_shuffle() == (DeckIn(deck="red"),)
    assert not deck.out


def test_wrong_cards_need_a_new_deck() -> None:
    deck = Deck(None, 1)
    deck.alarm(Irregularity.DUPLICATE_CARD)
    deck.alarms[Irregularity.DUPLICATE_CARD] = True
    assert deck.good_shuffle() == ()
    deck.changed(cards_are_out=False)
    assert deck.good_shuffle() == (DeckIn(deck=None),)


def test_cards_on_the_table_are_not_in_the_deck_that_was_shuffled_meanwhile() -> None:
    deck = Deck(None, 1)
    deck.deal_begins()
    deck.draw(Card("As"), 0)
    deck.shuffled(cards_are_out=True)
    assert not deck.is_stub(52)
    assert deck.is_stub(51)
    assert deck.left == 52
    deck.deal_begins()
    assert not deck.draw(Card("As"), 0)


def test_the_deck_that_waited_longest_is_dealt_from() -> None:
    decks = Decks(1)
    red, blue = decks.named("red"), decks.named("blue")
    for deck in (red, blue):
        deck.shuffled(cards_are_out=False)
        decks.shuffled(deck)
    assert decks.choose(shoe=False) is red
    decks.deal_begins()
    assert decks.choose(shoe=False) is blue
    decks.cut(red)
    assert decks.choose(shoe=False) is red


def test_a_deck_that_is_out_is_passed_over_while_another_waits() -> None:
    decks = Decks(1)
    red, blue = decks.named("red"), decks.named("blue")
    for deck in (red, blue):
        deck.shuffled(cards_are_out=False)
        decks.shuffled(deck)
    red.alarm(Irregularity.BAD_SHUFFLE_COUNT)
    assert decks.choose(shoe=False) is blue


def test_a_shoe_goes_on_with_its_deck_until_its_cut_card() -> None:
    decks = Decks(2)
    red, blue = decks.named("red"), decks.named("blue")
    red.shuffled(cards_are_out=False)
    decks.shuffled(red)
    assert decks.choose(shoe=True) is red
    decks.deal_begins()
    red.draw(None, 0)
    blue.shuffled(cards_are_out=False)
    decks.shuffled(blue)
    assert decks.choose(shoe=True) is red
    decks.shoe_ends()
    assert decks.choose(shoe=True) is blue
