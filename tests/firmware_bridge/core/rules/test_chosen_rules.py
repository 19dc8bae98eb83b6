import pytest

from firmware_bridge.core.rules.chosen_rules import RulesRefused, choose_rules
from firmware_bridge.houses.loader import load_house


def test_a_house_without_choices_plays_as_its_file_says() -> None:
    house = load_house("licensed")
    rules = choose_rules(house, schedule=1, decks=1, options={})
    assert (rules.house, rules.schedule, rules.coverage) == (house, house.schedules[0], None)
    assert rules.nonqualify == house.settlement.nonqualify_ante


def test_options_are_those_that_the_house_offers() -> None:
    house = load_house("player-dealer")
    assert house.position is not None
    for coverage in house.position.coverage_options:
        assert choose_rules(house, schedule=1, decks=1, options={"coverage": coverage}).coverage == coverage
    for nonqualify in house.settlement.nonqualify_ante_options:
        assert choose_rules(house, schedule=1, decks=1, options={"nonqualify": nonqualify}).nonqualify == nonqualify


@pytest.mark.parametrize(
    ("name", "schedule", "decks", "options", "says"),
    [
        ("licensed", 99, 1, {}, "has no schedule 99: it has 1"),
        ("licensed", 1, 3, {}, "decks"),
        ("licensed", 1, 1, {"coverage": "gross"}, "has no option 'coverage': it has nonqualify$"),
        ("player-dealer", 1, 1, {"cover": "gross"}, "has no option 'cover': it has nonqualify and coverage$"),
        ("player-dealer", 1, 1, {"coverage": "all"}, "does not offer coverage = 'all': it offers "),
        ("licensed", 1, 1, {"nonqualify": "lost"}, "does not offer nonqualify = 'lost': it offers "),
    ],
)
def test_what_is_not_offered_is_told_with_what_is(
    name: str, schedule: int, decks: int, options: dict[str, str], says: str
) -> None:
    with pytest.raises(RulesRefused, match=says):
        choose_rules(load_house(name), schedule=schedule, decks=decks, options=options)
