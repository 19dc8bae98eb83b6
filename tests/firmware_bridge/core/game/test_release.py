from drivers.cards import Card
from firmware_bridge.core import commitments
from firmware_bridge.core.events import HandReleased
from firmware_bridge.core.game.release import Releases, known_cards
from firmware_bridge.core.terms import HandCategory
from tests.firmware_bridge.core.game.paper_table import KEY, PaperTable


def committed(hands: dict[int | str, str]) -> tuple[PaperTable, Releases]:
    table, releases = PaperTable(), Releases(KEY)
    table.open(2, 5)
    for place, text in hands.items():
        releases.committed(table.hand(place, text))  # type: ignore[arg-type]
    return table, releases


def test_a_hand_leaves_once_with_the_salt_of_its_commitment() -> None:
    table, releases = committed({2: "As Ad 9d"})
    (released,) = releases.open(2, table.current())
    salt = commitments.salt(KEY, 1, 2, 1)
    assert released == HandReleased(
        seat=2, cards=(Card("As"), Card("Ad"), Card("9d")), hand=HandCategory.PAIR, salt=salt.hex()
    )
    assert releases.open(2, table.current()) == ()


def test_what_was_not_committed_to_stays_closed() -> None:
    table, releases = committed({2: "As Ad 9d"})
    table.hand(5, "7c 6d 2s")
    assert releases.open(5, table.current()) == releases.open("dealer", table.current()) == ()


def test_a_hand_that_was_corrected_leaves_again_under_its_new_commitment() -> None:
    table, releases = committed({2: "As ?? 9d"})
    (first,) = releases.open(2, table.current())
    assert first.hand is None
    assert releases.outdated() == ()
    releases.committed(table.hand(2, "As Ad 9d", number=2))
    assert releases.outdated() == (2,)
    (second,) = releases.open(2, table.current())
    assert second.salt == commitments.salt(KEY, 1, 2, 2).hex() != first.salt
    assert releases.outdated() == ()


def test_the_rest_leaves_in_the_order_of_dealing_and_strays_last() -> None:
    table, releases = committed({7: "3c", "dealer": "Kh 8d 2c", 5: "7c 6d 2s", 2: "As Ad 9d"})
    releases.open("dealer", table.current())
    assert [event.seat for event in releases.rest(table.current())] == [2, 5, 7]
    assert releases.rest(table.current()) == ()


def test_a_hand_of_another_number_of_cards_is_no_hand() -> None:
    table, releases = committed({2: "As Ad", 5: "7c 6d 2s Kd"})
    assert [event.hand for event in releases.rest(table.current())] == [None, None]
    assert known_cards(table.current().hands[2]) == [Card("As"), Card("Ad")]
