"""A session is drawn from its seed alone, and keeps to the customs of its house."""

from itertools import islice

import pytest

from simulator.mechanics.table import Equipment, Rig
from simulator.mechanics.world import RandomStreams
from simulator.people.players import worth_playing
from simulator.people.table_session import load_catalogue, table_session
from simulator.scenarios.loader import cards_of


@pytest.mark.parametrize("house", ["licensed", "six-card", "player-dealer", "classic", "a house of one's own"])
@pytest.mark.parametrize("rig", ["group", "rotation"])
def test_the_same_seed_gives_the_same_session(house: str, rig: Rig) -> None:
    catalogue, equipment = load_catalogue(), Equipment(rig)
    first, second, other = (
        tuple(islice(table_session(catalogue, house, equipment, RandomStreams(seed)), 60)) for seed in (5, 5, 6)
    )
    assert first == second
    assert first != other


def test_slips_happen_now_and_then() -> None:
    rounds = tuple(islice(table_session(load_catalogue(), "licensed", Equipment("group"), RandomStreams(1)), 400))
    kinds = {type(incident).__name__ for written in rounds for incident in written.incidents}
    assert {"ExposedCard", "ShortGroup", "LongGroup", "UnreadCard", "Miscount", "BoxedCard", "LostCard"} == kinds
    assert 0.2 < sum(bool(written.incidents) for written in rounds) / len(rounds) < 0.4


def test_players_keep_to_the_customs() -> None:
    catalogue = load_catalogue()
    for written in islice(table_session(catalogue, "six-card", Equipment("group"), RandomStreams(2)), 50):
        assert all({"ante", "pair_plus"} <= wagers.keys() for wagers in written.wagers.values())
    for written in islice(table_session(catalogue, "player-dealer", Equipment("rotation", 14), RandomStreams(2)), 50):
        assert written.position is not None
        assert written.position[0] not in written.wagers
        assert all(wagers.keys() == {"ante", "fee"} for wagers in written.wagers.values())
    for written in islice(table_session(catalogue, "licensed", Equipment("group"), RandomStreams(2)), 200):
        for wagers in written.wagers.values():
            assert {"ante", "pair_plus"} & wagers.keys()
            assert "tip_ante" not in wagers or "ante" in wagers


@pytest.mark.parametrize(
    ("hand", "plays"),
    [
        ("Qs 6d 4h", True),
        ("Qs 6d 3h", False),
        ("Qs 5d 4h", False),
        ("Ks 3d 2h", True),
        ("Js Td 8h", False),
        ("2s 2d 3h", True),
        ("2s 5s 9s", True),
        ("2s 3d 4h", True),
        ("As 2d 3h", True),
    ],
)
def test_the_dividing_line(hand: str, plays: bool) -> None:  # noqa: FBT001
    assert worth_playing(cards_of(hand)) is plays
