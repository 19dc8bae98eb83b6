"""Facts in any order: rounds as they should be, spoilt, under any house and setup. For hypothesis."""

import json
from typing import Any

import msgspec
from hypothesis import strategies as st

from drivers.cards import FULL_DECK
from firmware_bridge.core.facts import Started
from firmware_bridge.core.table_setup import TableSetup
from firmware_bridge.core.terms import Irregularity
from firmware_bridge.houses.loader import built_in_houses, load_house
from tests.firmware_bridge.core.table.recording import Recording

HOUSES = {name: load_house(name) for name in built_in_houses()}
KEY = bytes(range(32))
SEAT = st.integers(1, 4)
WIDE_SEAT = st.one_of(SEAT, st.integers(-1, 16))
PLACE = st.one_of(WIDE_SEAT, st.just("dealer"))
CARD = st.one_of(st.sampled_from([card.value for card in FULL_DECK]), st.none())
DECK = st.sampled_from([None, None, "red", "blue"])
MODE = st.sampled_from(["shuffle", "shuffle", "sort"])
STAKE = st.sampled_from([0, 5, 100])
SMALL = st.integers(0, 5)
COUNT = st.sampled_from([3, 3, 3, 0, 1, 2, 4, 6])


def fact(source: str, name: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"source": st.just(source), "fact": st.just(name), **fields})


FACTS = st.one_of(
    fact("shuffler", "shuffle_completed", cards=st.sampled_from([52, 52, 104, 51]), mode=MODE, deck=DECK),
    *[fact("shuffler", "group_ready", group=st.integers(0, 6), cards=COUNT)] * 2,
    *[fact("shuffler", "group_taken", group=st.integers(0, 6))] * 2,
    *[fact("shuffler", name) for name in ("boxed_card", "jammed", "jam_cleared", "door_opened", "door_closed")],
    fact("shuffler", "stub_counted", cards=st.integers(30, 52)),
    fact("shuffler", "residual_cards", cards=SMALL),
    fact("shoe", "shoe_loaded", cards=st.sampled_from([52, 104, 3])),
    *[fact("shoe", "card_drawn", draw=st.integers(0, 12), card=CARD, face=st.sampled_from(["down", "down", "up"]))] * 4,
    fact("shoe", "cut_card"),
    *[fact("layout", "seat_count", seat=PLACE, cards=SMALL)] * 4,
    fact("layout", "card_exposed", seat=PLACE, card=CARD),
    *[fact("operator", "seats", seats=st.lists(SEAT, min_size=1, max_size=3))] * 2,
    fact("operator", "seats", seats=st.lists(WIDE_SEAT, max_size=3)),
    *[fact("operator", "wager", seat=WIDE_SEAT, ante=STAKE, pair_plus=STAKE, fee=st.sampled_from([0, 1]))] * 2,
    fact("operator", "player_dealer", seat=WIDE_SEAT, wager=st.just(100), action_seat=SEAT),
    fact("operator", "position", seat=WIDE_SEAT, answer=st.sampled_from(["offered", "accepted", "declined"])),
    *[fact("operator", "no_more_bets")] * 3,
    *[fact("operator", name, deck=DECK) for name in ("hand_shuffled", "cut", "deck_changed")],
    fact("operator", "card_exposed", seat=PLACE, card=CARD),
    fact("operator", "card_turned_down", seat=PLACE, card=CARD),
    fact("operator", "card_identified", seat=PLACE, index=st.integers(1, 3), card=st.sampled_from(["As", "2c", "Th"])),
    fact("operator", "foreign_card", seat=PLACE),
    *[fact("operator", "dealing_done")] * 2,
    *[fact("operator", "decision", seat=SEAT, play=st.booleans())] * 3,
    fact("operator", "fold_counted", seat=SEAT, cards=COUNT),
    *[fact("operator", "dealer_revealed")] * 3,
    fact("operator", "seat_checked", seat=PLACE, cards=SMALL),
    *[fact("operator", "ruling", ruling=st.sampled_from(["continue", "continue", "void_round"]))] * 3,
    fact("operator", "ruling", ruling=st.sampled_from(["void_seat", "forfeit_seat"]), seat=st.one_of(PLACE, st.none())),
    fact("operator", "alarm_acknowledged", alarm=st.sampled_from([known.value for known in Irregularity])),
    fact("bridge", "device_lost", device=st.sampled_from(["shoe", "shuffler"])),
    fact("bridge", "device_back", device=st.sampled_from(["shoe", "shuffler"]), gap=st.booleans()),
    fact("bridge", "time_passed"),
    fact("bridge", "of_another_version"),
)  # fmt: skip
STEP = st.sampled_from([0, 1, 400, 400, 400, 130_000, -5])
SETUP = st.builds(
    TableSetup,
    deal=st.sampled_from(["group", "rotation"]),
    seats=st.sampled_from([4, 7]),
    sensors=st.booleans(),
    dealer_group=st.sampled_from(["with_the_others", "after_decisions"]),
)
DECKS = st.permutations([card.value for card in FULL_DECK])
Soup = tuple[str, TableSetup, list[tuple[int, dict[str, Any]]]]


@st.composite
def _soups(draw: st.DrawFn) -> Soup:
    """Rounds as they should be, spoilt: facts left out, doubled, swapped, and anything at all thrown in."""
    setup = draw(SETUP)
    recording = Recording(
        setup.deal, sensors=setup.sensors, seats=setup.seats, dealer_group=setup.dealer_group, deck=draw(DECKS)
    )
    for _ in range(draw(st.integers(0, 2))):
        seats = draw(st.lists(SEAT, min_size=1, max_size=3, unique=True))
        if draw(st.booleans()):
            recording.bet(dict.fromkeys(seats, 100), pair_plus=dict.fromkeys(seats, 5))
        else:
            recording.open(seats)
        recording.deal()
        for seat in seats:
            recording.operator("decision", seat=seat, play=draw(st.booleans()))
        recording.reveal()
    told: list[tuple[int, dict[str, Any]]] = []
    for one in recording.facts:
        fields = {key: value for key, value in one.items() if key != "at_ms"}
        what = draw(st.integers(0, 30))
        if what == 0:
            continue
        told.append((400, fields))
        if what == 1:
            told.append((400, fields))
        elif what == 2 and len(told) > 1:
            told[-1], told[-2] = told[-2], told[-1]
        elif what in (3, 4):
            told.append((draw(STEP), draw(FACTS)))
    told += draw(st.lists(st.tuples(STEP, FACTS), max_size=15))
    return draw(st.sampled_from(sorted(HOUSES))), setup, told


SOUP = _soups()


def started(house: str, setup: TableSetup) -> Started:
    return Started(
        at_ms=0,
        version="1",
        house=msgspec.Raw(msgspec.json.encode(HOUSES[house])),
        table=msgspec.Raw(msgspec.json.encode(setup)),
    )


def lines(soup: Soup) -> list[str]:
    at_ms, told = 0, []
    for step, one in soup[2]:
        at_ms = max(0, at_ms + step)
        told.append(json.dumps({"at_ms": at_ms, **one}))
    return told
