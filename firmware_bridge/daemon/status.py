"""How the daemon stands, as it is told to whoever asks. No cards."""

import msgspec

from drivers.facts import Place
from firmware_bridge.core.table.round_snapshot import RoundSnapshot
from firmware_bridge.core.terms import DeckState, HandVerdict, Irregularity, Phase, RoundOutcome
from firmware_bridge.devices.link import DeviceState, LinkState


class HoldStatus(msgspec.Struct, frozen=True):
    """A question before the floor; `seat` is None for the table."""

    irregularity: Irregularity
    seat: Place | None


class PlaceStatus(msgspec.Struct, frozen=True):
    """`cards`: how many lie there."""

    cards: int
    verdict: HandVerdict


class RoundStatus(msgspec.Struct, frozen=True):
    """`holds`: what the floor has to rule on, oldest first. `places` by seat number, or "dealer"."""

    number: int
    phase: Phase
    outcome: RoundOutcome
    holds: tuple[HoldStatus, ...]
    places: dict[str, PlaceStatus]
    deck: DeckState


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """`trouble`: why nothing can be told at present. `waiting`: facts received and not yet applied, for instance
    because they wait for the devices that are `lost`.
    """

    table: str
    house: str
    version: str
    at_ms: int
    trouble: str | None
    applied: int
    waiting: int
    lost: tuple[str, ...]
    round: RoundStatus | None
    devices: dict[str, DeviceState]


def round_status(record: RoundSnapshot) -> RoundStatus:
    """What `status` shows of the round that is open, or of the last one."""
    return RoundStatus(
        number=record.number,
        phase=record.phase,
        outcome=record.outcome,
        holds=tuple(HoldStatus(hold.irregularity, hold.seat) for hold in record.holds),
        places={str(place): PlaceStatus(hand.count, hand.verdict) for place, hand in record.hands.items()},
        deck=record.deck,
    )


def in_one_line(told: Status) -> str:
    """For `systemctl status`: how the table stands."""
    if told.trouble is not None:
        return told.trouble
    up = sum(device.link is LinkState.UP for device in told.devices.values())
    connected = f"{up} of {len(told.devices)} devices connected"
    return f"{connected}; " + ("no round yet" if told.round is None else f"round {told.round.number}")
