"""Frames' names for a log: which, with which numbers, and nothing of what a fact says."""

from hypothesis import given
from hypothesis import strategies as st

from drivers.cards import Card
from drivers.commands import Outcome
from drivers.facts import CardDrawn
from drivers.tdp.codec.command_messages import Alive, OutcomeMessage, Ping
from drivers.tdp.codec.fact_messages import Ack, FactMessage
from drivers.tdp.codec.messages import Message, wire_frame
from drivers.tdp.codec.session_messages import Hello, Started
from drivers.tdp.host.frame_names import name_frames


def frame(message: Message) -> bytes:
    return b"\0" + wire_frame(message, session=1, sequence=7, acknowledgement=0)


def drawn(card: Card | None) -> FactMessage:
    return FactMessage.of(300, CardDrawn(at_ms=0, draw=55, card=card, face="down"))


def test_frames_are_named_in_order_with_their_numbers() -> None:
    pieces = [
        (False, frame(Hello(nonce=bytes(8), attempt=0))),
        (True, frame(Started(gap=False, first_number=1)) + frame(drawn(Card.ACE_OF_SPADES))[:9]),
        (False, frame(Ack()) + frame(Ping(id=4))),
        (True, frame(drawn(Card.ACE_OF_SPADES))[9:] + frame(Alive(ping=4, clock_ms=0, next_number=301))),
        (True, b"junk\0" + frame(OutcomeMessage(id=9, outcome=Outcome.REFUSED, reason="the door is open"))),
    ]
    assert name_frames(pieces) == [
        "> HELLO",
        "< STARTED seq 7",
        "> ACK",
        "> PING 4",
        "< FACT seq 7 number 300 card_drawn",
        "< ALIVE 4",
        "< OUTCOME seq 7 id 9 refused",
        "< junk",
    ]


def test_no_card_changes_a_name() -> None:
    names = {name_frames([(True, frame(drawn(card)))])[0] for card in (*Card, None)}
    assert names == {"< FACT seq 7 number 300 card_drawn"}


@given(st.lists(st.tuples(st.booleans(), st.binary(max_size=60)), max_size=20))
def test_any_bytes_have_names(pieces: list[tuple[bool, bytes]]) -> None:
    for name in name_frames(pieces):
        assert name[:2] in ("< ", "> ")
