from drivers.cards import Card
from firmware_bridge.core import commitments
from firmware_bridge.core.events import HandDealt
from firmware_bridge.core.table.hand_commitments import Commitments
from tests.firmware_bridge.core.table.recording import Recording
from tests.firmware_bridge.core.table.rounds import round_of

KEY = b"k" * 32
CARDS = ("As", "Ad", "9d")


def due(made: Commitments, recording: Recording) -> list[HandDealt]:
    return [event for event in made.due(round_of(recording)) if isinstance(event, HandDealt)]


def test_nothing_is_committed_to_before_the_deal_is_over() -> None:
    made = Commitments(KEY, 1)
    assert due(made, Recording().open([1])) == []
    assert due(made, Recording().open([1]).group(1, CARDS)) == []


def test_every_hand_is_committed_to_once_and_its_cards_open_it() -> None:
    made = Commitments(KEY, 1)
    recording = Recording().open([1]).group(1, CARDS).group("dealer")
    told = due(made, recording)
    assert [(event.seat, event.count, event.number) for event in told] == [(1, 3, 1), ("dealer", 3, 1)]
    salt = commitments.salt(KEY, 1, 1, 1)
    assert told[0].commitment == commitments.commitment(salt, [Card(card) for card in CARDS])
    assert due(made, recording) == []


def test_what_is_known_better_gets_another_commitment_under_the_next_number() -> None:
    made = Commitments(KEY, 1)
    recording = Recording().open([1]).group(1, ("As", None, "9d")).group("dealer")
    first = due(made, recording)
    recording.operator("card_identified", seat=1, index=2, card="Ad")
    (second,) = due(made, recording)
    assert (second.seat, second.number) == (1, 2)
    assert second.commitment != first[0].commitment


def test_a_void_round_commits_to_what_was_dealt_and_to_nothing_after_it() -> None:
    made = Commitments(KEY, 1)
    recording = Recording().open([1, 2]).group(1, CARDS, machine=4).group(2).group("dealer").rule("void_round")
    assert [event.seat for event in due(made, recording)] == [1, 2, "dealer"]
    recording.operator("seat_checked", seat=1, cards=2)
    assert due(made, recording) == []
