"""A rotation rig with an Angel Eye shoe: from bytes on the wire to hands, through driver, intake and core."""

import json
from random import Random

import msgspec

from drivers.angel_eye.driver import AngelEyeDriver
from drivers.cards import Card
from drivers.commands import CommandKind
from drivers.driver import DeviceKind, LinkDown, LinkUp, Report
from drivers.facts import CardDrawn
from firmware_bridge.bridge import Bridge
from firmware_bridge.events import Event, HoldLifted, HoldRaised
from firmware_bridge.facts import Started, read_fact
from firmware_bridge.houses.loader import load_house
from firmware_bridge.intake import Intake, Publish, SendCommand
from firmware_bridge.setup import TableSetup
from firmware_bridge.table.record import RoundRecord
from firmware_bridge.terms import Irregularity, Phase
from simulator.firmware.angel_eye import Careless
from tests.drivers.angel_eye.wire import Line

CARDS = [Card(text) for text in ("Kh", "5d", "9s", "Ac", "5h", "9d", "2c", "8s", "Qh")]


class Table:
    """Seats 1 and 2; the shoe drops and cuts copies of what it sends."""

    def __init__(self, seed: int) -> None:
        self.line = Line(copies=Careless(Random(seed), drop=0.3, cut=0.3))
        self.core = Bridge(bytes(32))
        self.intake = Intake(self.core, {"shoe": DeviceKind.SHOE}, run="run-1")
        self.events: list[Event] = []
        self.told: list[Report] = []
        house = load_house("classic")
        setup = TableSetup(deal="rotation", seats=2)
        self.intake.start(
            Started(
                at_ms=0,
                version="test",
                house=msgspec.Raw(msgspec.json.encode(house)),
                table=msgspec.Raw(msgspec.json.encode(setup)),
            ),
            self.line.now_ms,
        )

    def connect(self) -> None:
        self.line.driver = AngelEyeDriver(DeviceKind.SHOE, None)
        self.line.open(resume=self.intake.last.get("shoe"))
        self.run(200)

    def pull(self) -> None:
        self._report(LinkDown("the cable was pulled"))
        self.line.driver = AngelEyeDriver(DeviceKind.SHOE, None)

    def tell(self, **fact: object) -> None:
        read = read_fact(json.dumps({"source": "operator", "at_ms": self.line.now_ms, **fact}))
        self.intake.request(f"request {self.line.now_ms} {fact['fact']}", "dealer", read, self.line.now_ms)
        self.run(100)

    def draw(self, card: Card) -> None:
        self.line.from_shoe(self.line.shoe.report(CardDrawn(at_ms=0, draw=1, card=card, face="down")))
        self.run(300)

    def open_round(self) -> None:
        self.tell(fact="hand_shuffled")
        self.tell(fact="seats", seats=[1, 2])
        self.tell(fact="no_more_bets")

    def run(self, ms: int) -> None:
        for _ in range(ms // 10):
            self.line.run(10)
            for report in self.line.reports:
                self._report(report)
            self.line.reports.clear()
            self._advance()

    @property
    def record(self) -> RoundRecord:
        record = self.core.record
        assert record is not None
        return record

    def _report(self, report: Report) -> None:
        self.told.append(report)
        self.intake.report("shoe", report, self.line.now_ms)

    def _advance(self) -> None:
        turn = self.intake.advance(self.line.now_ms)
        for after in turn.after:
            if isinstance(after, Publish):
                self.events += after.events
            elif isinstance(after, SendCommand):
                self.line.take(self.line.driver.send(after.command, self.line.now_ms))
        if turn.ask:
            self.line.take(self.line.driver.ask(self.line.now_ms))


def test_a_clean_round_has_each_card_once_and_in_its_place() -> None:
    for seed in range(5):
        table = Table(seed)
        table.connect()
        table.open_round()
        for card in CARDS:
            table.draw(card)
        table.tell(fact="dealing_done")
        record = table.record
        assert {place: hand.cards for place, hand in record.hands.items()} == {
            1: (CARDS[0], CARDS[3], CARDS[6]),
            2: (CARDS[1], CARDS[4], CARDS[7]),
            "dealer": (CARDS[2], CARDS[5], CARDS[8]),
        }
        assert record.flags == ()
        assert record.phase is not Phase.DEALING


def test_a_cable_pulled_in_the_deal_holds_the_round_and_locks_the_shoe() -> None:
    table = Table(seed=1)
    table.connect()
    table.open_round()
    for card in CARDS[:4]:
        table.draw(card)
    assert not table.record.holds
    table.pull()
    table.draw(CARDS[4])
    table.connect()
    assert [report.gap for report in table.told if isinstance(report, LinkUp)][1:] == [True]
    assert [hold.irregularity for hold in table.record.holds] == [Irregularity.DEVICE_LOST]
    assert any(isinstance(event, HoldRaised) for event in table.events)
    table.run(2_000)
    assert table.line.lock.moves == [CommandKind.LOCK]
    table.tell(fact="ruling", ruling="void_round")
    table.run(2_000)
    assert table.record.holds == ()
    assert any(isinstance(event, HoldLifted) for event in table.events)
    assert table.line.lock.moves == [CommandKind.LOCK, CommandKind.UNLOCK]
