import pytest

from drivers.cards import Card
from firmware_bridge.core.table.exposure import FaceUp


def test_one_card_told_by_two_sources_is_one_card() -> None:
    up = FaceUp(1)
    assert up.report("layout", Card("As"))
    assert not up.report("operator", Card("As"))
    assert not up.report("operator", Card("As"))
    assert up.report("operator", Card("Ks"))
    assert not up.report("layout", None)
    assert up.count == 2


def test_two_like_cards_of_two_decks_lie_face_up() -> None:
    up = FaceUp(2)
    assert up.report("layout", Card("As"))
    assert up.report("layout", Card("As"))
    assert not up.report("layout", Card("As"))
    assert up.count == 2


@pytest.mark.parametrize(
    ("reports", "down", "left"),
    [
        ([("layout", "As"), ("operator", "As")], "As", 0),
        ([("layout", "As"), ("operator", "Ks")], None, 1),
        ([("layout", "As"), ("layout", None)], None, 1),
        ([("layout", None)], "As", 0),
        ([("layout", "As")], "Ks", 1),
        ([], None, 0),
    ],
)
def test_a_card_turned_down(reports: list[tuple[str, str | None]], down: str | None, left: int) -> None:
    up = FaceUp(1)
    for source, card in reports:
        up.report(source, None if card is None else Card(card))
    up.turned_down(None if down is None else Card(down))
    assert up.count == left
