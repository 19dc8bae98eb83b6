from drivers.cards import Card
from firmware_bridge.core.events import AlarmRaised, DeckIn, DeckOut
from firmware_bridge.core.table.deck import Deck, Decks
from firmware_bridge.core.terms import Irregularity


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
