"""Facts that do not fit: told in a sentence, and nothing is changed by them."""

from collections.abc import Callable

import pytest

from tests.firmware_bridge.core.table.recording import Recording, summary


def betting() -> Recording:
    return Recording().shuffle().operator("wager", seat=1, ante=500).operator("wager", seat=2, ante=500)


def dealing() -> Recording:
    return Recording().open([1, 2]).group(1)


def dealt() -> Recording:
    return Recording().bet({1: 500, 2: 500}).deal()


def held() -> Recording:
    return Recording().open([1, 2]).group(1, ("next", "next"), machine=3).group(2).group("dealer")


def ended() -> Recording:
    return Recording().open([1, 2]).deal().reveal()


def void() -> Recording:
    return dealing().operator("foreign_card", seat=1)


@pytest.mark.parametrize(
    ("before", "fact", "sentence"),
    [
        (Recording, {"fact": "seats", "seats": []}, "no seat is named"),
        (Recording, {"fact": "seats", "seats": [1, 8]}, "there is no seat 8"),
        (Recording, {"fact": "seats", "seats": [0]}, "there is no seat 0"),
        (Recording, {"fact": "wager", "seat": 9, "ante": 5}, "there is no seat 9"),
        (Recording, {"fact": "wager", "seat": 1}, "no wager that could be taken back"),
        (Recording, {"fact": "no_more_bets"}, "no round is open"),
        (Recording, {"fact": "decision", "seat": 1, "play": True}, "no round is open"),
        (Recording, {"fact": "dealer_revealed"}, "no round is open"),
        (Recording, {"fact": "dealing_done"}, "no round is open"),
        (Recording, {"fact": "ruling", "ruling": "continue"}, "nothing is held"),
        (Recording, {"fact": "seat_checked", "seat": 1, "cards": 3}, "no cards are out"),
        (Recording, {"fact": "card_exposed", "seat": 1}, "no cards are out"),
        (Recording, {"fact": "card_identified", "seat": 1, "index": 1, "card": "As"}, "no cards are out"),
        (Recording, {"fact": "alarm_acknowledged", "alarm": "sort_mode"}, "no alarm sort mode waits"),
        (betting, {"fact": "seats", "seats": [1]}, "has wagers"),
        (betting, {"fact": "wager", "seat": 3}, "no wager that could be taken back"),
        (betting, {"fact": "dealing_done"}, "no cards are out"),
        (betting, {"fact": "dealer_revealed"}, "the deal is not over"),
        (dealing, {"fact": "no_more_bets"}, "closed already"),
        (dealing, {"fact": "seats", "seats": [1]}, "is not over"),
        (dealing, {"fact": "decision", "seat": 1, "play": True}, "the deal is not over"),
        (dealing, {"fact": "decision", "seat": 3, "play": True}, "is not in this round"),
        (dealing, {"fact": "dealer_revealed"}, "the deal is not over"),
        (dealing, {"fact": "dealing_done"}, "the last group has not been taken"),
        (dealing, {"fact": "fold_counted", "seat": 1, "cards": 3}, "the deal is not over"),
        (dealing, {"fact": "player_dealer", "seat": 3, "wager": 5, "action_seat": 1}, "the bets are closed"),
        (dealing, {"fact": "card_identified", "seat": 1, "index": 2, "card": "As"}, "is known already"),
        (dealing, {"fact": "card_identified", "seat": 2, "index": 1, "card": "As"}, "has no card 1"),
        (lambda: dealt().decide(s1=True), {"fact": "decision", "seat": 1, "play": False}, "has decided already"),
        (lambda: dealt().decide(s1=True), {"fact": "fold_counted", "seat": 1, "cards": 3}, "plays"),
        (dealt, {"fact": "fold_counted", "seat": 5, "cards": 3}, "is not in this round"),
        (held, {"fact": "seats", "seats": [1]}, "is held (count conflict)"),
        (held, {"fact": "wager", "seat": 4, "ante": 5}, "is held (count conflict)"),
        (held, {"fact": "ruling", "ruling": "void_seat"}, "needs the seat"),
        (held, {"fact": "ruling", "ruling": "void_seat", "seat": "dealer"}, "rule void_round or continue"),
        (held, {"fact": "ruling", "ruling": "forfeit_seat", "seat": 5}, "is not in this round"),
        (held, {"fact": "ruling", "ruling": "void_seat", "seat": 15}, "there is no seat 15"),
        (lambda: held().reveal(), {"fact": "dealer_revealed"}, "shown already"),
        (ended, {"fact": "dealer_revealed"}, "no round is open"),
        (ended, {"fact": "seat_checked", "seat": 1, "cards": 2}, "no cards are out"),
        (ended, {"fact": "decision", "seat": 7, "play": True}, "is not in this round"),
        (void, {"fact": "dealer_revealed"}, "round 1 is void"),
        (void, {"fact": "decision", "seat": 1, "play": True}, "round 1 is void"),
    ],
)
def test_an_operators_fact_that_does_not_fit(
    before: Callable[[], Recording], fact: dict[str, object], sentence: str
) -> None:
    without, recording = before(), before()
    fields = {key: value for key, value in fact.items() if key != "fact"}
    recording.operator(str(fact["fact"]), **fields)
    rows, sentences = recording.judged_with_sentences()
    assert len(sentences) == 1
    assert sentence in sentences[0]
    assert rows == without.judged()


def test_a_draw_and_a_group_told_twice() -> None:
    recording = dealing()
    again = [{**fact} for fact in recording.facts[-5:]]
    recording.card()
    recording.facts += [{**recording.facts[-1]}, *[{**fact, "at_ms": recording.at_ms} for fact in again[-2:]]]
    rows, sentences = recording.judged_with_sentences()
    assert sentences == [
        "draw 4 was told already",
        "group 1 was told to be ready already",
        "group 1 was told to be taken already",
    ]
    assert summary(rows[0]) == ("open", None, [])


def test_time_running_backwards() -> None:
    recording = dealing()
    recording.facts.append({"at_ms": 5, "source": "shuffler", "fact": "door_opened"})
    rows, sentences = recording.judged_with_sentences()
    assert len(sentences) == 1
    assert sentences[0].startswith("time runs backwards")
    assert rows == dealing().judged()


def test_nobody_left_in_play() -> None:
    recording = Recording().shuffle().operator("wager", seat=1, ante=500).operator("wager", seat=1)
    assert "nobody is in play" in recording.operator("no_more_bets").judged_with_sentences()[1][0]


def test_the_dealer_without_cards_cannot_be_shown() -> None:
    recording = Recording(dealer_group="after_decisions").open([1]).group(1).reveal()
    assert recording.judged_with_sentences()[1] == ["the dealer has no cards yet"]


def test_a_correction_of_what_a_person_read_before_the_reveal() -> None:
    recording = Recording().open([1]).group(1, ("As", None, "Ks")).group("dealer")
    recording.operator("card_identified", seat=1, index=2, card="Qd")
    recording.operator("card_identified", seat=1, index=2, card="Qs")
    rows, sentences = recording.judged_with_sentences()
    assert sentences == []
    assert rows[0]["seats"]["1"]["cards"] == ["As", "Qs", "Ks"]
    recording.reveal().operator("card_identified", seat=1, index=2, card="Qh")
    assert recording.judged_with_sentences()[1] == ["card 2 at seat 1 is known already"]
