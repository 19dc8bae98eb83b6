"""Any fact a device can report and any message TDP can carry."""

from hypothesis import strategies as st

from drivers import facts
from drivers.cards import FULL_DECK
from drivers.commands import Outcome
from drivers.facts import DeviceFact
from drivers.tdp.codec import messages as tdp
from drivers.tdp.codec import pairing_messages as pairing
from drivers.tdp.codec.command_messages import Alive, CommandMessage, OutcomeMessage, Ping
from drivers.tdp.codec.enums import StopReason
from drivers.tdp.codec.fact_messages import Ack, Durable, FactMessage, Gap, State
from drivers.tdp.codec.session_messages import Hello, HelloAnswer, Start, Started

U8 = st.integers(0, 2**8 - 1)
U16 = st.integers(0, 2**16 - 1)
U32 = st.integers(0, 2**32 - 1)
U64 = st.integers(0, 2**64 - 1)
CLOCKS = st.integers(0, 2**62)
COUNTS = st.integers(0, 10_000)
CARDS = st.none() | st.sampled_from(FULL_DECK)
PLACES = st.just("dealer") | st.integers(1, 255)
KEYS = st.binary(min_size=32, max_size=32)
EIGHT = st.binary(min_size=8, max_size=8)
NAMES = st.text(max_size=10).filter(lambda text: len(text.encode()) <= 32)
OUTCOMES = st.sampled_from([outcome for outcome in Outcome if outcome is not Outcome.UNKNOWN])

FACTS: st.SearchStrategy[DeviceFact] = st.one_of(
    st.builds(
        facts.ShuffleCompleted,
        at_ms=CLOCKS,
        cards=COUNTS,
        mode=st.sampled_from(["shuffle", "sort"]),
        deck=st.none() | NAMES.filter(bool),
    ),
    st.builds(facts.GroupReady, at_ms=CLOCKS, group=U32, cards=COUNTS),
    st.builds(facts.GroupTaken, at_ms=CLOCKS, group=U32),
    *(
        st.builds(bare, at_ms=CLOCKS)
        for bare in (
            facts.BoxedCard,
            facts.Jammed,
            facts.JamCleared,
            facts.DoorOpened,
            facts.DoorClosed,
            facts.CutCard,
        )
    ),
    st.builds(facts.StubCounted, at_ms=CLOCKS, cards=COUNTS),
    st.builds(facts.ResidualCards, at_ms=CLOCKS, cards=COUNTS),
    st.builds(facts.ShoeLoaded, at_ms=CLOCKS, cards=COUNTS),
    st.builds(facts.CardDrawn, at_ms=CLOCKS, draw=U32, card=CARDS, face=st.sampled_from(["down", "up"])),
    st.builds(facts.SeatCount, at_ms=CLOCKS, seat=PLACES, cards=COUNTS),
    st.builds(facts.CardExposed, at_ms=CLOCKS, seat=PLACES, card=CARDS, source=st.just("layout")),
)

MESSAGES: st.SearchStrategy[tdp.Message] = st.one_of(
    st.builds(Hello, nonce=EIGHT, attempt=U16, lowest_major=U8, highest_major=U8, key_id=U32),
    st.builds(
        HelloAnswer,
        nonce=EIGHT,
        attempt=U16,
        boot=EIGHT,
        clock_ms=U64,
        kind=U8,
        lowest_major=U8,
        highest_major=U8,
        minor=U8,
        capabilities=U32,
        decks=U8,
        ring_size=U32,
        first_sequence=U16,
        key_id=U32,
        device_nonce=EIGHT,
        firmware_hash=st.binary(min_size=32, max_size=32),
        vendor=NAMES,
        model=NAMES,
        serial_number=NAMES,
        firmware_version=NAMES,
    ),
    st.builds(Start, resume=st.none() | st.tuples(EIGHT, U32)),
    st.builds(Started, gap=st.booleans(), first_number=U32),
    st.builds(State, clock_ms=U64, flags=U16, last_command=U64, last_outcome=st.none() | OUTCOMES),
    st.builds(FactMessage.of, U32, FACTS),
    st.builds(Gap, next_number=U32),
    st.builds(Ack),
    st.builds(Durable, number=U32),
    st.builds(Ping, id=U32.filter(bool), durable=st.none() | U32),
    st.builds(Alive, ping=U32, clock_ms=U64, next_number=U32),
    st.builds(CommandMessage, id=U64.filter(bool), command=U8),
    st.builds(OutcomeMessage, id=U64, outcome=OUTCOMES, reason=NAMES),
    st.builds(pairing.PairCommit, commitment=KEYS),
    st.builds(pairing.PairKey, device_public=KEYS),
    st.builds(pairing.PairReveal, host_public=KEYS),
    st.builds(pairing.PairConfirm, confirmation=st.binary(min_size=16, max_size=16)),
    st.builds(pairing.PairDone, confirmation=st.binary(min_size=16, max_size=16)),
    st.builds(pairing.PairStop),
    st.builds(pairing.PairStopped, reason=st.sampled_from(StopReason)),
)
