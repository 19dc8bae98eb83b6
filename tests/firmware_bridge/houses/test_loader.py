import re
from pathlib import Path

import msgspec
import pytest

from firmware_bridge import houses
from firmware_bridge.core.rules.house import House
from firmware_bridge.core.terms import Irregularity, Phase, Ruling, Who
from firmware_bridge.houses.loader import HouseError, built_in_houses, load_house, read_house

FOLDER = Path(next(iter(houses.__path__)))
LICENSED = (FOLDER / "licensed.toml").read_text("utf-8")


def changed(old: str, new: str, text: str = LICENSED) -> str:
    assert old in text
    return text.replace(old, new, 1)


def refused(text: str) -> str:
    with pytest.raises(HouseError) as error:
        read_house(text, "mine.toml")
    assert "\n" not in str(error.value)
    return str(error.value)


def line_of(text: str, words: str) -> int:
    return 1 + next(number for number, line in enumerate(text.splitlines()) if words in line)


def test_the_four_houses() -> None:
    assert built_in_houses() == ("classic", "licensed", "player-dealer", "six-card")


@pytest.mark.parametrize("name", built_in_houses())
def test_a_house_goes_through_json_unchanged(name: str) -> None:
    house = load_house(name)
    assert house.name == name
    assert msgspec.json.decode(msgspec.json.encode(house), type=House) == house


@pytest.mark.parametrize("name", built_in_houses())
def test_every_rule_says_where_it_comes_from(name: str) -> None:
    house = load_house(name)
    sections = ("deal", "wagers", "settlement", "folds", "position")
    keys = {f"{s}.{key}" for s in sections if getattr(house, s) for key in getattr(house, s).__struct_fields__}
    keys |= {f"schedules[{place}]" for place in range(len(house.schedules))}
    keys |= {
        "policy.boxed_cards_deck_out",
        "policy.boxed_also_exposed",
        *(f"policy.rows[{place}]" for place in range(len(house.policy.rows))),
    }
    assert set(house.sources) == keys
    assert all((told.silent and told.reason) or told.source for told in house.sources.values())


@pytest.mark.parametrize("name", built_in_houses())
def test_every_question_of_the_table_has_an_answer(name: str) -> None:
    assert load_house(name).policy.gaps() == []


def test_a_house_of_ones_own_is_a_copied_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(changed('name = "licensed"', 'name = "mine"'))
    mine, licensed = load_house(str(file)), load_house("licensed")
    assert msgspec.structs.replace(mine, name="licensed") == licensed


ANSWERS = {
    "short_hand player": ("void_seat", "void_round", "void_seat", "void_seat"),
    "long_hand dealer": ("void_round", "void_round", "void_round", "void_round"),
    "exposed_card player": ("continue", "continue", "continue", "continue"),
    "exposed_card dealer": ("continue", "void_round", "continue", "hold"),
    "boxed_card player": ("continue", "continue", "continue", "continue"),
    "boxed_cards table": ("continue", "void_round", "void_round", "void_round"),
    "early_reveal dealer": ("continue", "void_round", "continue", "hold"),
    "jam table": ("void_round", "void_round", "void_round", "void_round"),
    "duplicate_card player": ("void_round", "void_round", "void_round", "void_round"),
    "bad_shuffle_count table": ("hold", "hold", "hold", "hold"),
    "stub_mismatch table": ("hold", "hold", "hold", "hold"),
    "late_bet player": ("continue", "continue", "continue", "continue"),
    "dealer_face_up dealer": ("hold", "hold", "hold", "hold"),
    "count_conflict player": ("hold", "hold", "hold", "hold"),
    "unread_card player": ("continue", "continue", "continue", "continue"),
}


@pytest.mark.parametrize("question", ANSWERS)
def test_the_policies_of_the_four_houses(question: str) -> None:
    irregularity, who = question.split()
    found = [
        load_house(name).policy.consequence(Irregularity(irregularity), Phase.DEALING, Who(who)).ruling.value
        for name in ("licensed", "six-card", "player-dealer", "classic")
    ]
    assert tuple(found) == ANSWERS[question]


def test_which_irregularities_put_the_deck_out() -> None:
    policy = load_house("licensed").policy
    for irregularity in Irregularity:
        out = policy.consequence(irregularity, Phase.DECIDING, Who.TABLE).deck_out
        names = "duplicate_card foreign_card bad_shuffle_count sort_mode stub_mismatch residual_cards"
        assert out is (irregularity.value in names.split())
    after = policy.consequence(Irregularity.STUB_MISMATCH, Phase.REVEALED, Who.TABLE)
    assert (after.ruling, after.deck_out) == (Ruling.CONTINUE, True)


def test_a_changed_row_changes_that_answer_alone() -> None:
    text = changed('who = ["player"]\nruling = "void_seat"', 'who = ["player"]\nruling = "hold"')
    mine, licensed = read_house(text, "mine.toml").policy, load_house("licensed").policy
    differ = {
        (irregularity, who)
        for irregularity in Irregularity
        for phase in Phase
        for who in Who
        if mine.consequence(irregularity, phase, who) != licensed.consequence(irregularity, phase, who)
    }
    assert differ == {(Irregularity.SHORT_HAND, Who.PLAYER), (Irregularity.LONG_HAND, Who.PLAYER)}


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('is = "each_round"', 'is = "sometimes"', "it can be each_round, shoe"),
        ("straight_flush = 5 }", "strait_flush = 5 }", "schedules[0].ante_bonus is wrong"),
        ("straight_flush = 5 }", "strait_flush = 5 }", "it can be straight_flush, three_of_a_kind, straight"),
        ('who = ["player"]', 'who = ["players"]', "it can be player, dealer, table"),
        ('ruling = "void_seat"', 'ruling = "forgive"', "policy.rows[0].ruling is wrong"),
        ("places = { is = 7", "places = { is = 15", "deal.places is wrong"),
        ("places = {", "plaices = {", "deal.plaices is no key of a house file"),
        ('qualifies_with = { is = "Q"', 'qualifies_with = { is = "B"', "settlement.qualifies_with is wrong"),
        ('cut = { is = "after_shuffle", source = "rule 4" }', 'cut = "after_shuffle"', "deal.cut is a bare value"),
        ('source = "rule 4" }', "silent = true }", "deal.cut is marked silent without a reason"),
        ('is = "after_shuffle", source = "rule 4"', 'is = "after_shuffle"', "deal.cut names no source"),
        ('"ante_bonus", "ante"', '"ante", "ante"', "settlement.order must name"),
        ("pair = 1, flush = 4, straight = 6", "pair = 0, flush = 4, straight = 6", "schedules[0].pair_plus"),
        ("decks_max = { is = 1", "decks_max = { is = 8", "schedules[0] pays pair_plus so that on 2 decks"),
        ("decks_min = { is = 1", "decks_min = { is = 2", "deal.decks_min is 2, more than decks_max"),
        ('offered = { is = ["ante", "pair_plus"]', 'offered = { is = ["ante"]', "wagers.tips names tip_pair_plus"),
        ("number = 2", "number = 1", "schedules[0] is a second schedule 1"),
        ('["exposed_card", "boxed_card", "boxed_cards"', '["boxed_card", "boxed_cards"', "no row for exposed_card"),
    ],
)
def test_a_bad_file_is_refused_with_its_key_and_line(old: str, new: str, says: str) -> None:
    sentence = refused(changed(old, new))
    assert sentence.startswith("mine.toml, line ")
    assert says in sentence


def test_the_line_is_the_keys_own() -> None:
    text = changed("places = { is = 7", "places = { is = 70")
    found = re.match(r"mine.toml, line (\d+): deal.places", refused(text))
    assert found is not None
    assert int(found[1]) == line_of(text, "places = { is = 70")


def test_a_missing_key_names_the_line_of_its_section() -> None:
    text = "\n".join(line for line in LICENSED.splitlines() if not line.startswith("qualifies_with"))
    assert refused(text) == f"mine.toml, line {line_of(text, '[settlement]')}: settlement.qualifies_with is missing"


@pytest.mark.parametrize(
    "text", ["", "name =", "name = 3", "[[policy]]\n", "deal = 5", "schedules = [1]", "x = 2020-01-01"]
)
def test_what_is_no_house_at_all_is_refused_too(text: str) -> None:
    assert refused(text).startswith("mine.toml")


def test_a_house_that_is_not_there(tmp_path: Path) -> None:
    for name in ("atlantis", str(tmp_path / "no.toml"), "\0/", ""):
        with pytest.raises(HouseError, match="name one of classic, licensed"):
            load_house(name)


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(HouseError, match="not UTF-8"):
        load_house(str(file))


def test_the_edge_of_a_pay_table_on_several_decks_is_named() -> None:
    assert "the player has the edge, 7.687915% of the wager" in refused(
        changed("decks_max = { is = 1", "decks_max = { is = 8")
    )


def test_a_bad_source_is_told_by_its_own_key_and_line() -> None:
    text = changed('\nsource = "rule 15, schedule 3"', "\nsource = 3")
    assert refused(text).startswith(f"mine.toml, line {line_of(text, 'source = 3')}: schedules[2].source is wrong: ")
