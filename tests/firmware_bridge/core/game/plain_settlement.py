"""A second, plain reading of how the four houses settle, written against the rules and not against the program.

It takes and gives the JSON of `firmware-bridge settle`, and knows houses by name on purpose.
"""

from itertools import combinations
from typing import Any

RANKS = "23456789TJQKA"
BONUS = {
    1: {"straight": 1, "three_of_a_kind": 4, "straight_flush": 5},
    2: {"straight": 1, "three_of_a_kind": 3, "straight_flush": 4},
}
PAIR_PLUS = {
    ("licensed", 1): {"pair": 1, "flush": 4, "straight": 6, "three_of_a_kind": 30, "straight_flush": 40},
    ("licensed", 2): {"pair": 1, "flush": 4, "straight": 6, "three_of_a_kind": 25, "straight_flush": 40},
    ("licensed", 3): {"pair": 1, "flush": 4, "straight": 5, "three_of_a_kind": 30, "straight_flush": 40},
    ("licensed", 4): {"pair": 1, "flush": 3, "straight": 6, "three_of_a_kind": 30, "straight_flush": 40},
    ("six-card", 1): {"pair": 1, "flush": 3, "straight": 6, "three_of_a_kind": 30, "straight_flush": 40},
    ("classic", 1): {"pair": 1, "flush": 4, "straight": 6, "three_of_a_kind": 30, "straight_flush": 40},
}
SIX = {"three": 5, "straight": 10, "flush": 15, "full": 25, "four": 50, "straight flush": 200, "royal": 1000}
CATEGORIES = ["high_card", "pair", "flush", "straight", "three_of_a_kind", "straight_flush"]


def three(cards: list[str]) -> tuple[int, list[int]]:
    """(category, what decides within it), comparable."""
    ranks = sorted((RANKS.index(card[0]) for card in cards), reverse=True)
    flush = len({card[1] for card in cards}) == 1
    if len(set(ranks)) == 1:
        return 4, ranks
    run = sorted(ranks) == list(range(min(ranks), min(ranks) + 3))
    if ranks == [12, 1, 0]:
        run, ranks = True, [1, 0, -1]
    if run:
        return (5 if flush else 3), ranks
    if flush:
        return 2, ranks
    for rank in ranks:
        if ranks.count(rank) == 2:
            return 1, [rank, next(other for other in ranks if other != rank)]
    return 0, ranks


def five(cards: tuple[str, ...]) -> str | None:
    ranks = sorted(RANKS.index(card[0]) for card in cards)
    counts = sorted(ranks.count(rank) for rank in set(ranks))
    flush = len({card[1] for card in cards}) == 1
    straight = len(set(ranks)) == 5 and (ranks[4] - ranks[0] == 4 or ranks == [0, 1, 2, 3, 12])
    if straight and flush:
        return "royal" if ranks[0] == 8 else "straight flush"
    if counts[-1] >= 4:
        return "four"
    if counts == [2, 3]:
        return "full"
    if flush:
        return "flush"
    if straight:
        return "straight"
    return "three" if counts[-1] == 3 else None


def six(cards: list[str]) -> str | None:
    found = {five(chosen) for chosen in combinations(cards, 5)}
    return next((name for name in reversed(SIX) if name in found), None)


def settle_plainly(case: dict[str, Any]) -> dict[str, Any]:
    if case["house"] == "player-dealer":
        return _among_players(case)
    pays = PAIR_PLUS[case["house"], case.get("schedule", 1)]
    bonus = BONUS[2 if case.get("schedule") == 2 else 1]
    void = case.get("void", False)
    dealer = case["dealer"]["cards"]
    qualifies = not void and (three(dealer)[0] > 0 or three(dealer)[1][0] >= RANKS.index("Q"))
    seats: dict[str, Any] = {}
    early: dict[str, list[str]] = {}
    late: dict[str, list[str]] = {}
    for name, seat in case["seats"].items():
        out = void or seat.get("misdeal", False)
        folded = seat.get("decision") == "fold"
        plays = seat.get("decision") == "play"
        own = None if out else three(seat["cards"])
        rows: list[dict[str, Any]] = []
        early[name], late[name] = [], []

        def add(wager: str, stake: int, result: str, times: int, part: list[str], rows: Any = rows) -> None:
            if stake:
                rows.append({"wager": wager, "stake": stake, "result": result, "paid": stake * times})
                if result != "returned":
                    part.append(wager)

        def both(wager: str, stake: int, tip: str, result: str, times: int, part: list[str], s: Any = seat) -> None:
            add(wager, stake, result, times, part)
            add(tip, s.get(tip, 0), result, times, part)

        ante = seat.get("ante", 0)
        first, second = early[name], late[name]
        if own is None:
            both("play", ante if plays else 0, "tip_play", "returned", 0, second)
            both("ante", ante, "tip_ante", "returned", 0, second)
            both("pair_plus", seat.get("pair_plus", 0), "tip_pair_plus", "returned", 0, second)
            add("six_card", seat.get("six_card", 0), "returned", 0, second)
        else:
            beats = "win" if own > three(dealer) else "push" if own == three(dealer) else "lose"
            hand = CATEGORIES[own[0]]
            if plays:
                result = beats if qualifies else "push"
                both("play", ante, "tip_play", result, 1 if result == "win" else 0, second)
                if hand in bonus:
                    add("ante_bonus", ante, "bonus", bonus[hand], second)
                result = beats if qualifies else "win"
                both("ante", ante, "tip_ante", result, 1 if result == "win" else 0, second)
            if folded:
                both("ante", ante, "tip_ante", "lose", 0, first)
                both("pair_plus", seat.get("pair_plus", 0), "tip_pair_plus", "lose", 0, first)
            else:
                result = "win" if hand in pays else "lose"
                both("pair_plus", seat.get("pair_plus", 0), "tip_pair_plus", result, pays.get(hand, 0), second)
            times = SIX.get(six([*seat["cards"], *dealer]) or "", 0)
            add("six_card", seat.get("six_card", 0), "win" if times else "lose", times, second)
        net = 0
        for row in rows:
            if not row["wager"].startswith("tip"):
                net += row["paid"] - (row["stake"] if row["result"] == "lose" else 0)
        seats[name] = {"payments": rows, "net": net, "hand": None if own is None else CATEGORIES[own[0]]}
    folds = [str(seat) for seat in case.get("fold_order", [])]
    folds += [name for name in sorted(seats, key=int) if name not in folds]
    order = [[name, wager] for name in folds for wager in early[name]]
    order += [[name, wager] for name in sorted(seats, key=int, reverse=True) for wager in late[name]]
    shown: dict[str, Any] = {"hand": None, "qualifies": None}
    if not void:
        shown = {"hand": CATEGORIES[three(dealer)[0]], "qualifies": qualifies}
    return {"dealer": shown, "seats": seats, "order": order}


def _among_players(case: dict[str, Any]) -> dict[str, Any]:
    options = {"nonqualify": "compare", "coverage": "gross", **case.get("options", {})}
    held = case["player_dealer"]
    void = case.get("void", False)
    dealer = None if void else three(case["dealer"]["cards"])
    qualifies = dealer is not None and (dealer[0] > 0 or dealer[1][0] >= RANKS.index("Q"))
    wager, net, used = held["wager"], 0, 0
    order: list[list[str]] = []
    seats: dict[str, Any] = {}
    start = held["action_seat"]
    for name in sorted(case["seats"], key=lambda seat: (int(seat) - start) % 14):
        seat = case["seats"][name]
        ante, plays = seat["ante"], seat.get("decision") == "play"
        out = dealer is None or seat.get("misdeal", False)
        own = None if out else three(seat["cards"])
        stacks: list[tuple[str, int, str]]
        if own is None or dealer is None:
            stacks = [("play", ante, "returned")] if plays else []
            stacks += [("ante", ante, "returned")]
        elif not plays:
            stacks = [("ante", ante, "lose")]
        else:
            result = "win" if own > dealer else "push" if own == dealer else "lose"
            if qualifies:
                stacks = [("ante_play", 2 * ante, result)]
            else:
                if options["nonqualify"] == "paid":
                    result = "win"
                if options["nonqualify"] == "compare" and result == "lose":
                    result = "push"
                stacks = [("play", ante, "returned"), ("ante", ante, result)]
        rows = []
        up = 0 if out else -seat.get("fee", 0)
        for row, stake, result in stacks:
            bank = wager - used if options["coverage"] == "gross" else wager + net
            action = stake if bank > 0 and result != "returned" else 0
            if result == "win":
                action = min(action, bank)
                net, used, up = net - action, used + action, up + action
            elif result == "lose":
                action = min(action, bank if options["coverage"] == "gross" else wager - net)
                net, used, up = net + action, used + action, up - action
            if action:
                paid = action if result == "win" else 0
                rows.append({"wager": row, "stake": action, "result": result, "paid": paid})
                order.append([name, row])
            if action < stake:
                rows.append({"wager": row, "stake": stake - action, "result": "returned", "paid": 0})
        seats[name] = {"payments": rows, "net": up, "hand": None if own is None else CATEGORIES[own[0]]}
    hand = None if dealer is None else CATEGORIES[dealer[0]]
    return {
        "dealer": {"hand": hand, "qualifies": None if dealer is None else qualifies},
        "seats": seats,
        "order": order,
        "player_dealer": {"net": net},
    }
