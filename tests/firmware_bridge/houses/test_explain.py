import re

import msgspec
import pytest

from firmware_bridge.core.rules.house import House
from firmware_bridge.core.terms import Irregularity, Who
from firmware_bridge.houses.explain import explain, side_by_side
from firmware_bridge.houses.loader import built_in_houses, load_house


def changed(house: House, section: str, **fields: object) -> House:
    return msgspec.structs.replace(house, **{section: msgspec.structs.replace(getattr(house, section), **fields)})


@pytest.mark.parametrize("name", built_in_houses())
def test_every_rule_is_a_sentence_with_its_source(name: str) -> None:
    for line in explain(load_house(name)):
        assert re.fullmatch(r"[A-Za-z0-9].*\. \[[^\[\]]+\]", line), line


@pytest.mark.parametrize(
    ("section", "fields", "before", "after"),
    [
        ("deal", {"places": 5}, "There are 7 places.", "There are 5 places."),
        ("deal", {"decks_max": 6}, "At most 1 deck may be used.", "At most 6 decks may be used."),
        ("settlement", {"qualifies_with": "K"}, "qualifies with queen high", "qualifies with king high"),
        ("settlement", {"nonqualify_play": "returned"}, "the play wager pushes", "the play wager is returned"),
        ("wagers", {"limits_notice_ms": 90_000}, "takes no notice", "takes 1.5 minutes' notice"),
        ("folds", {"seen_by": "floor"}, "by whoever asks for it", "by the floor alone"),
    ],
)
def test_a_changed_rule_changes_its_sentence_alone(
    section: str, fields: dict[str, object], before: str, after: str
) -> None:
    house = load_house("licensed")
    told, told_after = explain(house), explain(changed(house, section, **fields))
    (differs,) = [(one, other) for one, other in zip(told, told_after, strict=True) if one != other]
    assert before in differs[0]
    assert after in differs[1]


def test_a_rule_without_a_source_says_so() -> None:
    house = msgspec.structs.replace(load_house("licensed"), sources={})
    assert all(line.endswith(" [no source]") for line in explain(house))


def test_houses_side_by_side_show_what_differs_and_nothing_else() -> None:
    house = load_house("licensed")
    other = changed(house, "deal", places=5)
    assert side_by_side({"one": house, "other": house}) == {}
    assert side_by_side({"one": house, "other": other}) == {"deal.places": {"one": "7", "other": "5"}}


def test_a_house_without_a_position_has_nothing_to_say_of_it() -> None:
    table = side_by_side({name: load_house(name) for name in ("licensed", "player-dealer")})
    assert table["position.coverage"]["licensed"] == "-"
    assert table["position.coverage"]["player-dealer"] != "-"
    asked = [f"policy.{irregularity.value}.{who.value}" for irregularity in Irregularity for who in Who]
    assert {rule for rule in table if rule.startswith("policy.")} <= set(asked)
