"""Whether what the daemon told of a round is what its scenario says must be true."""

from collections.abc import Iterator, Sequence

from simulator.people.script import JsonObject
from simulator.scenarios.loader import Expectation, place_of


def rounds_of(events: Sequence[JsonObject]) -> dict[int, list[JsonObject]]:
    """The feed's events by round, in order; what was told before the first round stands under 0."""
    rounds: dict[int, list[JsonObject]] = {}
    for event in events:
        rounds.setdefault(event["round"], []).append(event)
    return rounds


def differences(expect: Expectation, events: Sequence[JsonObject]) -> Iterator[str]:
    """One sentence for each thing that is not as it must be. `events` are those of the round."""
    yield from _differs("outcome", outcome(events), expect.outcome)
    reasons = [event["reason"] for event in events if event["event"] == "round_void"]
    if expect.reason is not None:
        yield from _differs("reason", reasons, [expect.reason])
    latest = {(e["irregularity"], e.get("seat")): e["ruling"] for e in _named(events, "irregularity")}
    flags = sorted(_flag(irregularity, seat, ruling) for (irregularity, seat), ruling in latest.items())
    wanted = sorted(_flag(flag.irregularity, flag.seat, flag.ruling) for flag in expect.flags)
    yield from _differs("flags", flags, wanted)
    yield from _differs("holds", [e["irregularity"] for e in _named(events, "hold_raised")], list(expect.held))
    if expect.alarms:
        yield from _differs("alarms", [e["alarm"] for e in _named(events, "alarm_raised")], list(expect.alarms))
    lost = [event["device"] for event in _named(events, "device_down")]
    yield from _differs("devices lost", lost, list(expect.devices_lost))
    for place, verdict in expect.verdicts.items():
        yield from _differs(f"verdict of {place}", verdict_of(events, place), verdict)
    for place, evidence in expect.evidence.items():
        told = [event["evidence"] for event in _named(events, "hand_dealt") if event["seat"] == place_of(place)]
        yield from _differs(f"evidence of {place}", told[-1:], [evidence])
    if expect.qualifies is not None:
        told_qualifies = [event["qualifies"] for event in _named(events, "dealer_revealed")]
        yield from _differs("qualifies", told_qualifies, [expect.qualifies])
    yield from _money(expect, events)


def outcome(events: Sequence[JsonObject]) -> str:
    """What the round came to, in the words that written rounds use."""
    names = [event["event"] for event in events]
    if "round_void" in names:
        return "void"
    return "dealt" if "round_settled" in names else "held" if "hold_raised" in names else "open"


def verdict_of(events: Sequence[JsonObject], place: str) -> str:
    """What became of the place, in the words that written rounds use."""
    for settled in _named(events, "round_settled"):
        payments = settled["seats"].get(place, {}).get("payments", ())
        if payments and all(payment["result"] == "returned" for payment in payments):
            return "misdeal"
    shown = [event["cards"] for event in _named(events, "hand_released") if event["seat"] == place_of(place)]
    if not shown:
        return "not shown"
    return "unread" if None in shown[-1] else "ok"


def _money(expect: Expectation, events: Sequence[JsonObject]) -> Iterator[str]:
    settled = {seat: one for event in _named(events, "round_settled") for seat, one in event["seats"].items()}
    for seat, payments in expect.payments.items():
        told = [f"{p['wager']} {p['result']} {p['paid']}" for p in settled.get(seat, {}).get("payments", ())]
        yield from _differs(f"payments of seat {seat}", told, list(payments))
    if expect.player_dealer_net is not None:
        told_net = [event.get("player_dealer_net") for event in _named(events, "round_settled")]
        yield from _differs("net of the player-dealer", told_net, [expect.player_dealer_net])
    for seat, net in expect.net.items():
        yield from _differs(f"net of seat {seat}", settled.get(seat, {}).get("net"), net)


def _named(events: Sequence[JsonObject], name: str) -> list[JsonObject]:
    return [event for event in events if event["event"] == name]


def _flag(irregularity: str, seat: object, ruling: str) -> str:
    return f"{irregularity} at {'the table' if seat is None else seat}: {ruling}"


def _differs(what: str, told: object, wanted: object) -> Iterator[str]:
    if told != wanted:
        yield f"{what}: told {told}, must be {wanted}"
