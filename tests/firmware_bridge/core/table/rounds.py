"""A round's state and irregularities under a policy that the test writes down."""

import json

import msgspec

from firmware_bridge.core.events import Event
from firmware_bridge.core.facts import read_fact
from firmware_bridge.core.rules.policy import Policy, PolicyRow
from firmware_bridge.core.table.deck import Decks
from firmware_bridge.core.table.round import Round
from firmware_bridge.core.table.round_snapshot import RoundSnapshot
from firmware_bridge.core.table.round_state import RoundState
from firmware_bridge.core.table.table import Table
from firmware_bridge.core.table_setup import TableSetup
from firmware_bridge.core.terms import Irregularity, Ruling
from firmware_bridge.houses.loader import load_house
from tests.firmware_bridge.core.table.recording import Recording

LICENSED = load_house("licensed")


def policy(ruling: Ruling, *, deck_out: bool = False, **others: Ruling) -> Policy:
    """One ruling for everything, and others for the irregularities that are named."""
    rows = [PolicyRow(irregularities=(Irregularity(name),), ruling=other) for name, other in others.items()]
    rows.append(PolicyRow(irregularities=tuple(Irregularity), ruling=ruling, deck_out=deck_out))
    return Policy(boxed_cards_deck_out=2, boxed_also_exposed=(), rows=tuple(rows))


def state_of(rules: Policy, *, seats: tuple[int, ...] = (1, 2), setup: TableSetup | None = None) -> RoundState:
    """A round of these seats before its first card."""
    house = msgspec.structs.replace(LICENSED, policy=rules)
    state = RoundState(1, house, setup or TableSetup(deal="group"), Decks(1))
    state.decides = dict.fromkeys(seats, True)
    return state


def kinds(events: list[Event]) -> list[str]:
    """What was told, by name; the list is empty afterwards."""
    told = [type(event).__name__ for event in events]
    events.clear()
    return told


def table_of(recording: Recording) -> Table:
    """A table that has seen the recording, but for what does not fit."""
    table = Table(LICENSED, recording.setup, bytes(32))
    for row in recording.facts:
        fact = read_fact(json.dumps(row))
        if table.refusal(fact) is None:
            table.apply(fact)
    return table


def round_of(recording: Recording) -> Round:
    """The round that such a table has open, or had last."""
    current = table_of(recording)._round
    assert current is not None
    return current


def record_of(recording: Recording) -> RoundSnapshot:
    """Its record."""
    record = table_of(recording).record
    assert record is not None
    return record
