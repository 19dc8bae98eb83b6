"""Whether the feed tells what really happened: each round of the truth against the events of that round."""

from collections.abc import Iterator, Sequence

from drivers.facts import Place
from simulator.people.incidents import Miscount, ShortGroup, UnreadCard, WrongSeat
from simulator.people.script import JsonObject
from simulator.people.truth import RoundTruth, Truth


def disagreements(truth: Truth, events: Sequence[JsonObject]) -> Iterator[str]:
    """One sentence for each thing that the feed tells otherwise than it was, or does not tell."""
    rounds: dict[int, list[JsonObject]] = {}
    for event in events:
        if event["round"]:
            rounds.setdefault(event["round"], []).append(event)
    if len(rounds) != len(truth.rounds):
        yield f"{len(truth.rounds)} rounds were played, {len(rounds)} were told"
    for number, real in enumerate(truth.rounds, start=1):
        for said in _round(real, rounds.get(number, [])):
            yield f"round {number}: {said}"


def _round(real: RoundTruth, events: Sequence[JsonObject]) -> Iterator[str]:
    for told, sentence in real.refusals:
        yield f"{told['fact']} was refused: {sentence}"
    yield from _ending(real, events)
    yield from _hands(real, events)
    decided = {event["seat"]: event["play"] for event in _named(events, "decision_taken")}
    if decided != real.decisions:
        yield f"decisions {real.decisions} were told as {decided}"
    yield from _money(real, events)
    told_exposed = {e["seat"] for e in _named(events, "irregularity") if e["irregularity"] == "exposed_card"}
    really_exposed = {place for place, _ in real.exposed if not (place == "dealer" and real.dealt_face_up)}
    if not real.void and told_exposed != really_exposed:
        yield f"cards were exposed at {really_exposed}, told at {told_exposed}"
    if not real.incidents and (flagged := _named(events, "irregularity")):
        yield f"nothing went wrong, and {[event['irregularity'] for event in flagged]} was flagged"


def _ending(real: RoundTruth, events: Sequence[JsonObject]) -> Iterator[str]:
    void = bool(_named(events, "round_void"))
    settled = len(_named(events, "round_settled"))
    if void != real.void:
        yield f"told as {'void' if void else 'not void'}"
    if len(_named(events, "round_void")) > 1 or settled > 1:
        yield f"ended more than once: settled {settled} times"
    if real.revealed and not real.void and settled != 1:
        yield "was revealed and never settled"


def _hands(real: RoundTruth, events: Sequence[JsonObject]) -> Iterator[str]:
    """Every card shown is the one that lay there; no place is shown twice; nothing is shown before the reveal.

    A card may stay unknown where the reader could not read it, or where the round was held over a count.
    """
    shown: set[Place] = set()
    over = False
    for event in events:
        over = over or event["event"] in ("dealer_revealed", "round_void")
        if event["event"] != "hand_released":
            continue
        place, cards = event["seat"], event["cards"]
        if not over:
            yield f"the hand of {place} was shown before the dealer's"
        if place in shown:
            yield f"the hand of {place} was shown twice"
        shown.add(place)
        lay = [str(card) for card in real.hands.get(place, ())]
        unread = {
            incident.index - 1
            for incident in real.incidents
            if isinstance(incident, UnreadCard) and incident.place == place
        }
        if len(cards) != len(lay) and not _may_be_unsure(real):
            yield f"{place} had {len(lay)} cards, {len(cards)} were shown"
        for index, (told, true) in enumerate(zip(cards, lay, strict=False)):
            if told != true and not (told is None and (index in unread or real.holds)):
                yield f"{place} had {true} as card {index + 1}, {told} was shown"
    if real.revealed and not real.void:
        folded = {seat for seat, play in real.decisions.items() if not play}  # some houses keep these to themselves
        missing = [place for place in real.order if place not in shown | folded]
        if missing:
            yield f"the hands of {missing} were never shown"


def _may_be_unsure(real: RoundTruth) -> bool:
    return real.void or any(isinstance(incident, Miscount | ShortGroup | WrongSeat) for incident in real.incidents)


def _money(real: RoundTruth, events: Sequence[JsonObject]) -> Iterator[str]:
    """Every unit that was put down is settled, once; a void round gives all of it back."""
    for settled in _named(events, "round_settled"):
        for seat, wagers in real.wagers.items():
            payments = settled["seats"].get(str(seat), {}).get("payments", ())
            staked = sum(p["stake"] for p in payments if p["result"] != "bonus")
            played = wagers.get("ante", 0) if real.decisions.get(seat) else 0
            put_down = sum(stake for name, stake in wagers.items() if name != "fee") + played
            if staked != put_down:
                yield f"seat {seat} put down {put_down}, {staked} was settled"
            if real.void and any(p["result"] != "returned" for p in payments):
                yield f"the round was void and seat {seat} did not get everything back"


def _named(events: Sequence[JsonObject], name: str) -> list[JsonObject]:
    return [event for event in events if event["event"] == name]
