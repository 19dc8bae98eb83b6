"""A round is the same whether everything before it was seen, or only what was carried over into it."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drivers.cards import Card
from drivers.commands import CommandKind, Outcome
from drivers.driver import Claims, DeviceKind
from drivers.facts import Fact
from firmware_bridge.core.bridge import Bridge, Carried
from firmware_bridge.core.carried import (
    CarriedButton,
    CarriedDeck,
    CarriedDecks,
    CarriedGame,
    CarriedLimits,
    CarriedNumbers,
    CarriedPosition,
    CarriedSettlement,
    CarriedTable,
)
from firmware_bridge.core.events import CommandWanted, RoundOpened
from firmware_bridge.core.facts import CommandOutcome, DeviceBack, Wager, read_fact
from firmware_bridge.core.game.game import Game
from firmware_bridge.core.table.table import Table
from firmware_bridge.core.table_setup import TableSetup
from firmware_bridge.core.terms import Irregularity
from firmware_bridge.houses.loader import load_house
from firmware_bridge.journal.rows import event_body
from tests.firmware_bridge.core.any_facts import KEY, SOUP, Soup, lines, started
from tests.golden.recorded import SESSIONS, RandomSession, stored

SNAPSHOT = msgspec.json.Decoder(Carried)


@dataclass(frozen=True)
class Played:
    """What each fact caused, and for each round: the index of the fact that opened it, and what went over into it."""

    events: list[list[bytes]]
    openings: list[tuple[int, bytes]]


def played(told: Sequence[Fact], bridge: Bridge) -> Played:
    caused: list[list[bytes]] = []
    openings: list[tuple[int, bytes]] = []
    for index, fact in enumerate(told):
        events = bridge.apply(fact)
        caused.append([event_body(event) for event in events])
        if any(isinstance(event, RoundOpened) for event in events):
            openings.append((index, msgspec.json.encode(bridge.carried())))
    return Played(caused, openings)


def goes_on_the_same(told: Sequence[Fact], whole: Played, opening: tuple[int, bytes]) -> None:
    index, snapshot = opening
    resumed = Bridge.resumed(SNAPSHOT.decode(snapshot), KEY)
    rest = played(told[index:], resumed)
    assert rest.events == whole.events[index:]
    assert rest.openings == [(later - index, carried) for later, carried in whole.openings if later >= index]


@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session.name)
def test_every_seventh_round_of_a_recorded_session(session: RandomSession) -> None:
    text = stored(session.name)
    told = [read_fact(line[2:].encode()) for line in text.splitlines() if line.startswith("> ")]
    whole = played(told, Bridge(KEY))
    assert len(whole.openings) >= 50
    for opening in whole.openings[::7]:
        goes_on_the_same(told, whole, opening)


def facts_of(soup: Soup) -> list[Fact]:
    return [started(soup[0], soup[1]), *(read_fact(line) for line in lines(soup))]


@given(SOUP)
@settings(max_examples=150, deadline=None)
def test_every_round_of_any_facts(soup: Soup) -> None:
    told = facts_of(soup)
    whole = played(told, Bridge(KEY))
    for opening in whole.openings:
        goes_on_the_same(told, whole, opening)


@given(SOUP, st.data())
@settings(max_examples=60, deadline=None)
def test_a_house_that_changes_between_two_rounds(soup: Soup, data: st.DataObject) -> None:
    told = facts_of(soup)
    index = data.draw(st.integers(1, len(told)))
    house = data.draw(st.sampled_from(["classic", "licensed", "player-dealer", "six-card"]))
    change = started(house, TableSetup(deal=soup[1].deal, decks=2, maximum=50))
    told.insert(index, msgspec.structs.replace(change, at_ms=told[index - 1].at_ms))
    whole = played(told, Bridge(KEY))
    for opening in whole.openings:
        goes_on_the_same(told, whole, opening)


DECK = CarriedDeck(
    name="red",
    fresh=True,
    sorted=True,
    drawn_least=3,
    drawn_most=4,
    seen={Card("As"): 2, Card("2c"): 1},
    uncounted_rounds=5,
    alarms={Irregularity.DUPLICATE_CARD: True, Irregularity.STUB_MISMATCH: False},
    wrong_cards=True,
    untold=((Irregularity.RESIDUAL_CARDS, 7), (Irregularity.STUB_MISMATCH, 8)),
    starts_again=True,
)
OTHER_DECK = msgspec.structs.replace(DECK, name=None, fresh=False, starts_again=False, alarms={})
TABLE = CarriedTable(
    rounds=12,
    decks=CarriedDecks(decks=(OTHER_DECK, DECK), in_play="red", waiting=(None, "red"), chosen="red", shoe_empty=True),
    draws=CarriedNumbers(last=9, forgiven=True),
    groups=CarriedNumbers(last=3, forgiven=True),
    tray_forgiven=True,
    player_dealer=4,
    boxed_before=(10, 11),
    lost_devices=("shoe", "shuffler"),
)
GAME = CarriedGame(
    limits=(CarriedLimits(minimum=5, maximum=50, from_ms=0), CarriedLimits(minimum=10, maximum=90, from_ms=99)),
    button=CarriedButton(holder=1, hands=2, accepted=3, open_offer=4, declined=(5, 6)),
    position=CarriedPosition(seat=3, wager=100, action_seat=5),
    players=(1, 3, 5),
    settled=CarriedSettlement(round=12, wagers={1: ("ante", "play"), 5: ("pair_plus",)}),
)


def test_everything_that_is_carried_is_taken_over() -> None:
    house, setup = load_house("player-dealer"), TableSetup(deal="group")
    read = msgspec.json.decode(msgspec.json.encode(TABLE), type=CarriedTable)
    assert Table.resumed(read, house, setup, KEY).carried() == TABLE
    money = msgspec.json.decode(msgspec.json.encode(GAME), type=CarriedGame)
    assert Game.resumed(money, house, setup, KEY).carried() == GAME


def claims(kind: DeviceKind) -> Claims:
    return Claims(
        kind=kind.value,
        vendor="v",
        model="m",
        serial_number="1",
        firmware_version="1.0",
        firmware_hash="0" * 64,
        protocol="TDP 1.0",
    )


def test_a_command_that_was_never_finished_is_wanted_again_from_a_machine_that_comes_back() -> None:
    bridge = Bridge(KEY)
    bridge.apply(started("licensed", TableSetup(deal="group")))
    bridge.apply(Wager(at_ms=5, seat=1, ante=10))
    carried = bridge.carried()
    assert carried is not None
    resumed = Bridge.resumed(
        msgspec.structs.replace(carried, commands=4, unfinished={DeviceKind.SHOE: 4, DeviceKind.SHUFFLER: 3}), KEY
    )
    resumed.apply(Wager(at_ms=5, seat=1, ante=10))
    finished = CommandOutcome(at_ms=6, device="shuffler", command_id=3, outcome=Outcome.FINISHED)
    resumed.apply(finished)
    wanted = [
        event
        for kind in DeviceKind
        for event in resumed.apply(DeviceBack(at_ms=7, device=kind.value, claims=claims(kind)))
        if isinstance(event, CommandWanted)
    ]
    assert [(event.device, event.command_id, event.command) for event in wanted] == [("shoe", 5, CommandKind.UNLOCK)]


def test_before_the_first_round_nothing_is_carried() -> None:
    bridge = Bridge(KEY)
    assert bridge.carried() is None
    bridge.apply(started("licensed", TableSetup(deal="group")))
    assert bridge.carried() is None
    bridge.apply(Wager(at_ms=5, seat=1, ante=10))
    carried = bridge.carried()
    assert carried is not None
    assert (carried.at_ms, carried.table.rounds, carried.game.players) == (0, 0, ())


def test_what_was_carried_stays_as_it_was_while_the_round_goes_on() -> None:
    bridge = Bridge(KEY)
    bridge.apply(started("licensed", TableSetup(deal="group")))
    bridge.apply(Wager(at_ms=5, seat=1, ante=10))
    before = msgspec.json.encode(bridge.carried())
    for line in (
        '{"source": "shuffler", "fact": "shuffle_completed", "at_ms": 6, "cards": 51, "mode": "shuffle"}',
        '{"source": "operator", "fact": "no_more_bets", "at_ms": 7}',
        '{"source": "shoe", "fact": "card_drawn", "at_ms": 8, "draw": 1, "card": "As", "face": "down"}',
        '{"source": "bridge", "fact": "device_lost", "at_ms": 9, "device": "shoe"}',
    ):
        bridge.apply(read_fact(line))
    assert msgspec.json.encode(bridge.carried()) == before
