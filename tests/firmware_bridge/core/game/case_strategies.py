"""Random deals as JSON, for every house, that `firmware-bridge settle` must take."""

from typing import Any

from hypothesis import strategies as st

from drivers.cards import FULL_DECK

MONEY = st.sampled_from([0, 1, 5, 100, 500, 2500])
STAKE = st.sampled_from([1, 5, 100, 500, 2500])


@st.composite
def deals(draw: st.DrawFn, house: str | None = None) -> dict[str, Any]:
    house = house or draw(st.sampled_from(["licensed", "six-card", "player-dealer", "classic"]))
    among_players = house == "player-dealer"
    decks = draw(st.integers(1, 8)) if among_players else 1
    numbers = draw(st.lists(st.integers(1, 13 if among_players else 7), min_size=0, max_size=7, unique=True))
    void = draw(st.integers(0, 9)) == 0
    shoe = [card.value for card in FULL_DECK] * decks
    hands = draw(st.permutations(shoe).map(lambda cards: [cards[at : at + 4] for at in range(0, 32, 4)]))
    seats: dict[str, Any] = {}
    for place, number in enumerate(numbers):
        misdeal = draw(st.integers(0, 7)) == 0
        held = draw(st.integers(0, 4)) if misdeal or void else 3
        seats[str(number)] = {"cards": hands[place][:held], "misdeal": misdeal, **draw(wagers(house))}
    case: dict[str, Any] = {
        "house": house,
        "decks": decks,
        "dealer": {"cards": hands[7][: draw(st.integers(0, 4)) if void else 3]},
        "seats": seats,
    }
    if void:
        case["void"] = True
    if house == "licensed":
        case["schedule"] = draw(st.integers(1, 4))
    if among_players:
        case["options"] = {
            "nonqualify": draw(st.sampled_from(["compare", "compare_lose", "paid"])),
            "coverage": draw(st.sampled_from(["gross", "bankroll"])),
        }
        wager = draw(st.one_of(st.integers(0, 30), st.integers(0, 20_000)))
        case["player_dealer"] = {"seat": 14, "wager": wager, "action_seat": draw(st.integers(1, 14))}
    else:
        folded = [number for number in numbers if seats[str(number)]["decision"] == "fold"]
        case["fold_order"] = draw(st.permutations(folded))
    return case


@st.composite
def wagers(draw: st.DrawFn, house: str) -> dict[str, Any]:
    if house == "player-dealer":
        return {"ante": draw(STAKE), "fee": draw(MONEY), "decision": draw(st.sampled_from(["play", "fold"]))}
    if house == "six-card":
        told: dict[str, Any] = {"ante": draw(STAKE), "pair_plus": draw(STAKE), "six_card": draw(MONEY)}
    else:
        told = {"ante": draw(MONEY), "pair_plus": draw(MONEY)}
        if not any(told.values()):
            told["ante"] = draw(STAKE)
    told["decision"] = draw(st.sampled_from(["play", "fold"])) if told["ante"] else None
    if house == "licensed":
        if told["ante"]:
            told["tip_ante"] = draw(MONEY)
            told["tip_play"] = draw(MONEY) if told["decision"] == "play" else 0
        if told["pair_plus"]:
            told["tip_pair_plus"] = draw(MONEY)
    return told
