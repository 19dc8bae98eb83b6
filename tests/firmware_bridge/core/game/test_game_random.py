"""Random sessions: whatever people do in whatever order, every unit is accounted for and every run is the same."""

from dataclasses import replace
from typing import Any, TypeAlias

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from drivers.facts import Place
from firmware_bridge.core import commitments, events, facts
from firmware_bridge.core.game.machine import Stage
from firmware_bridge.core.terms import Irregularity, Ruling
from tests.firmware_bridge.core.game.paper_table import PaperTable, Refused

SEATS = st.integers(1, 3)
HANDS = st.permutations(["As Kd 9d", "7c 6d 2s", "Qh Qd 4s", "5c 5h 5s", "9h Th Jh", "?? Ks 2h", "3d 4c"])
DEALERS = st.sampled_from(["Kh 8d 2c", "Jh 8c 2d", "?? 8d 2c"])
NAMES = ["ante", "pair_plus", "six_card", "tip_ante", "tip_pair_plus", "tip_play", "fee"]
USUAL: dict[str, dict[str, int]] = {
    "licensed": {"ante": 20, "pair_plus": 40, "tip_ante": 5, "tip_play": 5},
    "six-card": {"ante": 40, "pair_plus": 5, "six_card": 1},
    "player-dealer": {"ante": 20, "fee": 1},
}
NOTHING = st.none()
Step: TypeAlias = tuple[str, Any, Any]


def step(name: str, first: st.SearchStrategy[Any] = NOTHING, second: st.SearchStrategy[Any] = NOTHING) -> Any:
    return st.tuples(st.just(name), first, second)


DISTURBANCES = st.one_of(
    step("wager", SEATS, st.dictionaries(st.sampled_from(NAMES), st.sampled_from([0, 1, 5, 40]), max_size=4)),
    step("position", SEATS, st.integers(0, 60)),
    step("decide", SEATS, st.booleans()),
    step("reveal"),
    step("hold"),
    step("rule", st.sampled_from([Ruling.CONTINUE, Ruling.VOID_ROUND, Ruling.FORFEIT_SEAT]), SEATS),
    step("misdeal", SEATS),
    step("device", st.booleans()),
)


@st.composite
def sessions(draw: st.DrawFn) -> tuple[str, list[Step]]:
    """A house, and a few rounds as they usually go, with anything at all in between."""
    house = draw(st.sampled_from(sorted(USUAL)))
    steps: list[Step] = []
    for _ in range(draw(st.integers(1, 3))):
        usual: list[Any] = [step("position", st.just(4), st.integers(0, 90))]
        usual += [step("wager", st.just(seat), st.just(USUAL[house])) for seat in (1, 2)]
        usual += [step("next", HANDS, DEALERS)] * 2
        usual += [step("decide", st.just(seat), st.booleans()) for seat in (1, 2, 3)]
        usual += [step("reveal"), step("read", SEATS), step("read", SEATS)]
        usual += [step("rule", st.just(Ruling.CONTINUE), SEATS), step("device", st.just(False))]
        for one in usual:
            if draw(st.integers(0, 7)) == 0:
                steps.append(draw(DISTURBANCES))
            steps.append(draw(one))
    return house, steps


class RandomRounds:
    """A paper table that does the steps that fit, and keeps count of the money."""

    def __init__(self, house: str) -> None:
        self.table = PaperTable(house, maximum=30)
        self.refused: list[str] = []

    def do(self, step: Step) -> None:
        name, first, second = step
        try:
            getattr(self, name)(first, second)
        except Refused as refused:
            self.refused.append(str(refused))

    def open_round(self) -> bool:
        return self.table.game.stage is not Stage.IDLE

    def wager(self, seat: int, stakes: dict[str, int]) -> None:
        self.table.wager(seat, **stakes)

    def position(self, seat: int, wager: int) -> None:
        self.table.tell(facts.PlayerDealer(at_ms=self.table.now(), seat=seat, wager=wager, action_seat=seat))

    def next(self, hands: list[str], dealer: str) -> None:
        """Close the bets, or deal: whatever is next."""
        stage = self.table.game.stage
        if stage is Stage.BETTING:
            self.table.close()
        elif stage is Stage.DEALING:
            seats = [place for place in self.table.current().order if isinstance(place, int)]
            dealt: dict[Place, str] = {**dict(zip(seats, hands, strict=False)), "dealer": dealer}
            self.table.deal(dealt)
            short = {seat for seat in seats if len(self.table.current().hands[seat].cards) != 3}
            self.table.record = replace(self.table.current(), void_seats=frozenset(short))

    def decide(self, seat: int, play: bool) -> None:  # noqa: FBT001
        self.table.decide(seat, play=play)

    def reveal(self, *_: None) -> None:
        self.table.reveal()

    def read(self, seat: int, _: None) -> None:
        """Somebody reads the unread card of that seat, or the dealer's where that seat has none."""
        hands = {} if self.table.record is None else self.table.record.hands
        reads: tuple[tuple[Place, str], ...] = ((seat, "Kd Ks 2h"), ("dealer", "Kc 8d 2c"))
        for place, text in reads:
            if place in hands and None in hands[place].cards:
                self.table.passes(self.table.hand(place, text, number=2))

    def hold(self, *_: None) -> None:
        if self.open_round():
            self.table.hold(Irregularity.COUNT_CONFLICT)

    def rule(self, ruling: Ruling, seat: int) -> None:
        if not self.open_round() or not self.table.current().holds:
            return
        lost = self.table.current().forfeited
        if ruling is Ruling.FORFEIT_SEAT and seat in self.table.current().order:
            lost |= {seat}
        self.table.rule(ruling, forfeited=lost)

    def misdeal(self, seat: int, _: None) -> None:
        if self.open_round() and seat in self.table.current().order:
            record = self.table.current()
            self.table.record = replace(record, void_seats=record.void_seats | {seat})
            self.table.passes()

    def device(self, gone: bool, _: None) -> None:  # noqa: FBT001
        if self.open_round():
            self.table.suspended(gone=gone)


def played(house: str, steps: list[Step]) -> RandomRounds:
    session = RandomRounds(house)
    for step in steps:
        session.do(step)
    return session


@settings(deadline=None)
@given(sessions())
def test_every_session_is_accounted_for_and_repeats_itself(drawn: tuple[str, list[Step]]) -> None:
    house, steps = drawn
    session = played(house, steps)
    again = played(house, steps)
    assert msgspec.json.encode(session.table.events) == msgspec.json.encode(again.table.events)
    assert session.refused == again.refused
    standing: dict[int, dict[str, int]] = {}
    plays: set[int] = set()
    for event in session.table.events:
        if isinstance(event, events.RoundOpened):
            standing, plays = {}, set()
        elif isinstance(event, events.WagerAccepted):
            standing[event.seat] = event.wagers
        elif isinstance(event, events.DecisionTaken) and event.play:
            plays.add(event.seat)
        elif isinstance(event, events.RoundSettled):
            in_play = {seat: stakes for seat, stakes in standing.items() if stakes}
            assert set(event.seats) == {str(seat) for seat in in_play}
            for seat, stakes in in_play.items():
                put = sum(stake for wager, stake in stakes.items() if wager != "fee")
                put += stakes.get("ante", 0) if seat in plays else 0
                rows = event.seats[str(seat)].payments
                assert put == sum(row.stake for row in rows if row.result != "bonus")
            assert len(event.order) == sum(
                row.result != "returned" for seat in event.seats.values() for row in seat.payments
            )


@settings(deadline=None)
@given(sessions())
def test_a_hand_leaves_once_under_each_commitment_and_only_then(drawn: tuple[str, list[Step]]) -> None:
    told: dict[Place, str] = {}
    left: set[tuple[Place, str]] = set()
    for event in played(*drawn).table.events:
        if isinstance(event, events.RoundOpened):
            told, left = {}, set()
        elif isinstance(event, events.HandDealt):
            told[event.seat] = event.commitment
        elif isinstance(event, events.HandReleased):
            assert commitments.commitment(bytes.fromhex(event.salt), event.cards) == told[event.seat]
            assert (event.seat, event.salt) not in left
            left.add((event.seat, event.salt))


def test_most_usual_sessions_come_to_a_settlement() -> None:
    usual: list[Step] = [
        ("position", 4, 50),
        ("wager", 1, USUAL["player-dealer"]),
        ("next", [], ""),
        ("next", ["As Kd 9d"], "Kh 8d 2c"),
        ("decide", 1, True),
        ("reveal", None, None),
    ]
    session = played("player-dealer", usual * 3)
    assert [type(event) for event in session.table.events].count(events.RoundSettled) == 2
    assert any("offer it to seat 1 first" in sentence for sentence in session.refused)
