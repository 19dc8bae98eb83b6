"""One changed rule in a copied file changes the payment that it speaks of, and no other."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from firmware_bridge import houses
from firmware_bridge.offline.settle import CaseBook, CaseRefused

FOLDER = Path(next(iter(houses.__path__)))
ROUND = {
    "dealer": {"cards": ["Qh", "8d", "2c"]},
    "seats": {
        "1": {"cards": ["As", "Ad", "4h"], "ante": 10, "pair_plus": 1, "decision": "play"},
        "2": {"cards": ["5s", "6d", "7h"], "ante": 20, "pair_plus": 2, "decision": "play"},
        "3": {"cards": ["3s", "3d", "Th"], "ante": 30, "pair_plus": 3, "decision": "fold"},
        "4": {"cards": ["9s", "9d"], "ante": 40, "pair_plus": 4, "decision": "play", "misdeal": True},
    },
}
AMONG_PLAYERS = {
    "dealer": {"cards": ["Kh", "8d", "2c"]},
    "player_dealer": {"seat": 9, "wager": 50, "action_seat": 1},
    "seats": {
        "1": {"cards": ["As", "Ad", "4h"], "ante": 20, "fee": 1, "decision": "play"},
        "2": {"cards": ["5s", "6d", "8h"], "ante": 20, "fee": 1, "decision": "fold"},
        "3": {"cards": ["9s", "9d"], "ante": 40, "fee": 1, "decision": "play", "misdeal": True},
    },
}


def settled(house: str, case: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(
        msgspec.json.encode(CaseBook().answer(json.dumps({**case, "house": house}).encode()))
    )
    return told


def rows(told: dict[str, Any]) -> dict[tuple[str, str, int], tuple[Any, ...]]:
    """Every row, and every seat's net, by what it is."""
    found: dict[tuple[str, str, int], tuple[Any, ...]] = {}
    for seat, at_seat in told["seats"].items():
        for place, row in enumerate(at_seat["payments"]):
            found[seat, row["wager"], place] = (row["stake"], row["result"], row["paid"])
    return found


def changed(tmp_path: Path, house: str, old: str, new: str) -> str:
    text = (FOLDER / f"{house}.toml").read_text("utf-8")
    assert old in text
    file = tmp_path / "mine.toml"
    file.write_text(text.replace(old, new, 1))
    return str(file)


@pytest.mark.parametrize(
    ("old", "new", "differ"),
    [
        ("pair = 1, flush = 4, straight = 6", "pair = 1, flush = 4, straight = 7", {("2", "pair_plus")}),
        ("straight = 1, three_of_a_kind = 4", "straight = 2, three_of_a_kind = 4", {("2", "ante_bonus")}),
        ("fold_forfeits_pair_plus = { is = true", "fold_forfeits_pair_plus = { is = false", {("3", "pair_plus")}),
        ('nonqualify_play = { is = "push"', 'nonqualify_play = { is = "returned"', set()),
        ('qualifies_with = { is = "Q"', 'qualifies_with = { is = "K"', {("1", "play"), ("2", "play")}),
    ],
)
def test_a_changed_payment(tmp_path: Path, old: str, new: str, differ: set[tuple[str, str]]) -> None:
    before = rows(settled("licensed", ROUND))
    after = rows(settled(changed(tmp_path, "licensed", old, new), ROUND))
    assert before.keys() == after.keys()
    assert {
        (seat, wager) for seat, wager, place in before if before[seat, wager, place] != after[seat, wager, place]
    } == differ


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"play", "ante_bonus", "ante", "pair_plus"', '"pair_plus", "ante", "ante_bonus", "play"'),
        ('seats = { is = "highest_first"', 'seats = { is = "lowest_first"'),
    ],
)
def test_a_changed_order_changes_no_payment(tmp_path: Path, old: str, new: str) -> None:
    before, after = settled("licensed", ROUND), settled(changed(tmp_path, "licensed", old, new), ROUND)
    assert before["order"] != after["order"]
    assert sorted(before["order"]) == sorted(after["order"])
    assert {seat: told["net"] for seat, told in before["seats"].items()} == {
        seat: told["net"] for seat, told in after["seats"].items()
    }


@pytest.mark.parametrize(
    ("old", "new", "nets"),
    [
        ("", "", {"1": 39, "2": -11, "3": 0}),
        ('coverage = { is = "gross"', 'coverage = { is = "bankroll"', {"1": 39, "2": -21, "3": 0}),
        ('folded_antes = { is = "in_turn"', 'folded_antes = { is = "first"', {"1": 29, "2": -21, "3": 0}),
        ('fee_on_misdeal = { is = "returned"', 'fee_on_misdeal = { is = "kept"', {"1": 39, "2": -11, "3": -1}),
        ("stacked = { is = true", "stacked = { is = false", {"1": 39, "2": -11, "3": 0}),
    ],
)
def test_a_changed_rule_among_players(tmp_path: Path, old: str, new: str, nets: dict[str, int]) -> None:
    told = settled(changed(tmp_path, "player-dealer", old, new), AMONG_PLAYERS)
    assert {seat: at_seat["net"] for seat, at_seat in told["seats"].items()} == nets


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('tips = { is = ["tip_play", "tip_ante", "tip_pair_plus"]', "tips = { is = []", "does not offer"),
        ("required = { is = []", 'required = { is = ["pair_plus"]', "demands"),
        ("places = { is = 7", "places = { is = 2", "there is no seat '3'"),
    ],
)
def test_a_changed_rule_about_wagers(tmp_path: Path, old: str, new: str, says: str) -> None:
    seat = {"cards": ["As", "Ad", "4h"], "ante": 10, "tip_ante": 1, "decision": "play"}
    case = {"dealer": ROUND["dealer"], "seats": {"3": seat}}
    assert settled("licensed", case)["seats"]["3"]["net"] == 20
    with pytest.raises(CaseRefused, match=says):
        settled(changed(tmp_path, "licensed", old, new), case)


def test_tiers_of_fees_are_checked(tmp_path: Path) -> None:
    tiers = "fee_tiers = { is = [{ ante_up_to = 20, fee = 1 }, { ante_up_to = 100, fee = 2 }]"
    house = changed(tmp_path, "player-dealer", "fee_tiers = { is = []", tiers)
    with pytest.raises(CaseRefused, match="seat 3 has paid a fee of 1 on an ante of 40: the fee is 2"):
        settled(house, AMONG_PLAYERS)
    seat = {"cards": ["As", "Ad", "4h"], "ante": 101, "fee": 2, "decision": "play"}
    with pytest.raises(CaseRefused, match=r"above the highest tier of fees \(100\)"):
        settled(house, {**AMONG_PLAYERS, "seats": {"3": seat}})
