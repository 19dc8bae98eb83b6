"""Clean deals are never flagged; one incident gives exactly its irregularity. Any house, rig, order, decks."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.houses.loader import load_house
from tests.firmware_bridge.core.table.recording import CARDS, Recording, flags, summary

HOUSES = ("licensed", "six-card", "player-dealer", "classic")


@dataclass
class Clean:
    """A recording that has been opened but not dealt, and what its house does."""

    house: str
    recording: Recording
    seats: list[int]
    waits: bool


@st.composite
def shuffled(draw: st.DrawFn, decks: int) -> list[str]:
    """All cards in some order: every so-many-th, from somewhere."""
    stride = draw(st.sampled_from([stride for stride in range(1, 52) if stride % 2 and stride % 13]))
    start = draw(st.integers(0, 51))
    one = [CARDS[(start + place * stride) % 52] for place in range(52)]
    return one * decks


@st.composite
def opened(draw: st.DrawFn, *, sensors: bool | None = None, rig: str | None = None, waits: bool | None = None) -> Clean:
    house = draw(st.sampled_from(HOUSES))
    chosen = rig or draw(st.sampled_from(["group", "rotation"]))
    late = chosen == "group" and (draw(st.booleans()) if waits is None else waits)
    decks = draw(st.sampled_from([1, 2, 8])) if house == "player-dealer" else 1
    places = 14 if house == "player-dealer" else 7
    recording = Recording(
        chosen,
        sensors=draw(st.booleans()) if sensors is None else sensors,
        deck=draw(shuffled(decks)),
        decks=decks,
        seats=places,
        dealer_group="after_decisions" if late else "with_the_others",
    )
    seats = draw(st.lists(st.integers(1, places), min_size=1, max_size=places - 1, unique=True))
    holder = draw(st.sampled_from([seat for seat in range(1, places + 1) if seat not in seats]))
    recording.open(seats, player_dealer=holder if house == "player-dealer" else None)
    return Clean(house, recording, [place for place in recording.order if place != "dealer"], late)


def finish(clean: Clean, *, decide: bool = True, collect: bool = True) -> None:
    """Decisions, the late group, the reveal, and what sensors see meanwhile."""
    recording = clean.recording
    if load_house(clean.house).deal.dealer_face_up and not clean.waits:
        recording.operator("card_exposed", seat="dealer", card=None)
    for seat in clean.seats:
        if recording.setup.sensors:
            recording.count(seat, 0)
        if decide:
            recording.operator("decision", seat=seat, play=seat % 2 == 0)
    if clean.waits:
        recording.group("dealer")
    if decide and recording.setup.sensors:
        recording.fact("layout", "card_exposed", seat="dealer", card=None)
        recording.fact("layout", "card_exposed", seat="dealer", card=None)
    recording.reveal()
    if collect and recording.setup.sensors:
        for place in recording.order:
            recording.count(place, 0)


@given(opened(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_clean_deal_is_never_flagged(clean: Clean, decide: bool) -> None:  # noqa: FBT001
    order = clean.recording.order[:-1] if clean.waits else clean.recording.order
    clean.recording.deal(order)
    finish(clean, decide=decide)
    rows, sentences = clean.recording.judged_with_sentences(clean.house)
    assert sentences == []
    assert [summary(row) for row in rows] == [("dealt", None, [])]
    assert rows[0]["deck"] == "in"
    assert {place: (seat["verdict"], seat["count"]) for place, seat in rows[0]["seats"].items()} == {
        str(place): ("ok", 3) for place in clean.recording.order
    }


@given(opened(sensors=True), st.data())
@settings(max_examples=40, deadline=None)
def test_sensors_may_settle_and_players_may_lift_their_cards(clean: Clean, data: st.DataObject) -> None:
    recording = clean.recording
    order = recording.order[:-1] if clean.waits else recording.order
    if recording.setup.deal == "group":
        for place in order:
            recording.group(place, lands=0)
            recording.lands(place, 3, step_by_step=True)
    else:
        recording.deal()
    for _ in range(data.draw(st.integers(0, 6))):
        recording.count(data.draw(st.sampled_from(clean.seats)), data.draw(st.integers(0, 3)))
    finish(clean)
    assert summary(recording.last(clean.house)) == ("dealt", None, [])


@given(st.lists(opened(), min_size=1, max_size=1), st.integers(2, 5))
@settings(max_examples=15, deadline=None)
def test_rounds_follow_each_other(cleans: list[Clean], rounds: int) -> None:
    (clean,) = cleans
    recording = clean.recording
    for number in range(rounds):
        if number:
            recording.new_deck(CARDS * recording.setup.decks)
            recording.open(clean.seats)
            clean.seats = sorted(clean.seats)
        recording.deal(recording.order[:-1] if clean.waits else None)
        finish(clean)
    assert [summary(row) for row in recording.judged(clean.house)] == [("dealt", None, [])] * rounds


# One incident each: what goes wrong, and all that may be said of it

GROUP_SLIPS: dict[str, tuple[str, ...]] = {
    "short": ("short_hand",),
    "long": ("long_hand",),
    "machine_counts_otherwise": ("count_conflict",),
    "unread": ("unread_card",),
    "boxed": ("boxed_card",),
    "draw_missing": ("fact_gap",),
    "door": ("door_opened",),
    "jam": ("jam",),
    "twice": ("duplicate_card",),
}


@pytest.mark.parametrize("incident", GROUP_SLIPS)
@given(clean=opened(rig="group", waits=False), data=st.data())
@settings(max_examples=12, deadline=None)
def test_one_slip_gives_exactly_its_irregularity(incident: str, clean: Clean, data: st.DataObject) -> None:
    recording = clean.recording
    victim = data.draw(st.sampled_from(clean.seats))
    for place in recording.order:
        if place != victim:
            recording.group(place)
        else:
            spoilt_group(recording, incident, victim)
    recording.operator("dealing_done")
    finish(clean)
    row = recording.last(clean.house)
    found = {flag[0] for flag in flags(row)}
    assert found == set(GROUP_SLIPS[incident])


def spoilt_group(recording: Recording, incident: str, place: Any) -> None:
    match incident:
        case "short":
            recording.group(place, ("next", "next"))
        case "long":
            recording.group(place, ("next",) * 4)
        case "machine_counts_otherwise":
            recording.group(place, machine=4)
        case "unread":
            recording.group(place, ("next", None, "next"))
        case "boxed":
            recording.group(place, faces=("down", "down", "up"))
        case "draw_missing":
            recording.card().card(skip=1)
            recording.group(place, ("next",), machine=3, lands=3)
        case "door":
            recording.shuffler("door_opened").shuffler("door_closed").group(place)
        case "jam":
            recording.group(place).shuffler("jammed")
        case _:
            card = recording.facts[-1 if recording.setup.deal == "rotation" else 0].get("card") or "As"
            for _ in range(recording.setup.decks):
                recording.card(card)
            recording.group(place, (card,) * 1 + ("next",) * 2)


@given(clean=opened(rig="group", waits=False), data=st.data())
@settings(max_examples=40, deadline=None)
def test_two_slips_in_one_round_are_both_told(clean: Clean, data: st.DataObject) -> None:
    """Under a house that ends no round for a player's hand, each seat's incident is judged by itself."""
    recording = clean.recording
    house = "classic" if clean.house == "six-card" else clean.house
    incidents = ["short", "long", "unread", "boxed", "machine_counts_otherwise"]
    victims = {seat: data.draw(st.sampled_from(incidents)) for seat in clean.seats[:2]}
    if list(victims.values()) == ["boxed", "boxed"]:
        victims[clean.seats[0]] = "unread"
    for place in recording.order:
        if place in victims:
            spoilt_group(recording, victims[place], place)
        else:
            recording.group(place)
    found = {(flag[0], flag[1]) for flag in flags(recording.last(house))}
    assert found == {(GROUP_SLIPS[incident][0], seat) for seat, incident in victims.items()}


@given(clean=opened(rig="rotation"), data=st.data())
@settings(max_examples=30, deadline=None)
def test_a_rotation_with_a_card_too_many_or_too_few(clean: Clean, data: st.DataObject) -> None:
    recording = clean.recording
    victim = data.draw(st.sampled_from(clean.seats))
    extra = data.draw(st.booleans())
    for turn in range(3):
        for place in recording.order:
            if not extra and turn == 2 and place == victim and not recording.setup.sensors:
                continue
            recording.single(place)
    if extra:
        recording.single(victim)
    recording.operator("dealing_done")
    row = recording.last(clean.house)
    if not extra and recording.setup.sensors:
        assert summary(row) == ("dealt", None, [])
    elif recording.setup.sensors:
        ruling = "void_round" if clean.house == "six-card" else "void_seat"
        assert flags(row) == [("long_hand", victim, ruling)]
    else:
        assert summary(row) == ("held", "count_conflict", [("count_conflict", None, "hold")])


@given(clean=opened(rig="group", sensors=True, waits=False), data=st.data())
@settings(max_examples=40, deadline=None)
def test_cards_at_the_wrong_place(clean: Clean, data: st.DataObject) -> None:
    """Put right in time it is noted; once more cards are out the floor rules."""
    recording = clean.recording
    victim = data.draw(st.sampled_from(clean.seats))
    places = load_house(clean.house).deal.places
    wrong = data.draw(st.sampled_from([place for place in (*range(1, places + 1), "dealer") if place != victim]))
    in_time = data.draw(st.booleans())
    before = recording.order[: recording.order.index(victim)]
    recording.deal(before)
    recording.group(wrong)
    if in_time:
        recording.count(wrong, recording.there[wrong] - 3).lands(victim, 3)
        recording.deal(recording.order[len(before) + 1 :])
        finish(clean)
    else:
        recording.card()
    row = recording.last(clean.house)
    name = "wrong_seat" if wrong in recording.order else "empty_seat_dealt"
    if in_time:
        assert summary(row) == ("dealt", None, [(name, wrong, "continue")])
        assert {seat["verdict"] for seat in row["seats"].values()} == {"ok"}
    else:
        assert row["outcome"] == "held"
        assert row["reason"] == name
        assert (name, wrong, "hold") in flags(row)
