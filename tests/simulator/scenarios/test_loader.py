import pytest

from drivers.cards import Card
from simulator.people.incidents import ShortGroup
from simulator.scenarios.loader import ScenarioError, load_scenario, read_scenario, scenario_names

GOOD = """
title = "A round"
says = "One round."
house = "licensed"
rig = "group"

[[round]]
[round.wagers]
2 = { ante = 500 }
[round.cards]
2 = "Qs Qd"
[[round.incidents]]
incident = "short_group"
place = 2
[round.expect]
outcome = "dealt"
"""


def test_every_scenario_can_be_read_and_says_what_it_is() -> None:
    names = scenario_names()
    assert len(names) >= 30
    for name in names:
        scenario = load_scenario(name)
        assert scenario.title
        assert scenario.says.endswith(".")
        assert len(tuple(scenario.played())) == len(scenario.round)


def test_a_scenario_becomes_rounds_for_a_dealer() -> None:
    (played,) = read_scenario(GOOD, "a.toml").played()
    assert played.wagers == {2: {"ante": 500}}
    assert played.stacked == {2: (Card.QUEEN_OF_SPADES, Card.QUEEN_OF_DIAMONDS)}
    assert played.incidents == (ShortGroup(place=2),)


@pytest.mark.parametrize(
    ("good", "bad", "says"),
    [
        ('rig = "group"', 'rig = "heap"', "heap"),
        ("title =", "tilte =", "tilte"),
        ("[[round]]", "[[round", "not TOML"),
        ("Qs Qd", "Qs Qx", 'like "Qs Qd 4h"'),
        ("Qs Qd", "Qs Qs", "more often"),
        ("2 = { ante", "9 = { ante", "7 places"),
        ("place = 2", "place = 3", "nobody has wagered"),
        ('"short_group"', '"earthquake"', "earthquake"),
        ("2 = { ante = 500 }", "", "no wagers"),
    ],
)
def test_a_mistake_is_told_in_a_sentence(good: str, bad: str, says: str) -> None:
    with pytest.raises(ScenarioError, match=says) as told:
        read_scenario(GOOD.replace(good, bad, 1), "mine.toml")
    assert str(told.value).startswith("mine.toml")
    assert str(told.value).endswith(".")


def test_an_unknown_scenario_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ScenarioError, match="group-clean-sensed"):
        load_scenario("no-such-thing")
