"""A rotation rig with an Angel Eye shoe: from bytes on the wire to hands, through driver, intake and core."""

import json
from collections.abc import Callable, Sequence
from random import Random

import msgspec
import pytest

from drivers.angel_eye.driver import AngelEyeDriver
from drivers.cards import Card
from drivers.commands import CommandKind
from drivers.driver import DeviceKind, LinkDown, LinkUp, Report
from drivers.facts import CardDrawn
from firmware_bridge.core.bridge import Bridge
from firmware_bridge.core.events import Event, HoldLifted, HoldRaised
from firmware_bridge.core.facts import Started, read_fact
from firmware_bridge.core.table.round_snapshot import RoundSnapshot
from firmware_bridge.core.table_setup import TableSetup
from firmware_bridge.core.terms import Irregularity, Phase
from firmware_bridge.daemon.intake import Intake, Publish, SendCommand
from firmware_bridge.houses.loader import load_house
from simulator.firmware.angel_eye import COPIES, Careless, CopiesOnTheWire
from tests.drivers.angel_eye.wire import Line

HARMED = 0.4
CARDS = tuple(Card(text) for text in ("Kh", "5d", "9s", "Ac", "5h", "9d", "2c", "8s", "Qh"))


class Table:
    """Seats 1 and 2; the shoe drops and cuts copies of what it sends."""

    def __init__(self, copies: CopiesOnTheWire) -> None:
        self.line = Line(copies=copies)
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
    def record(self) -> RoundSnapshot:
        record = self.core.record
        assert record is not None
        return record

    def _report(self, report: Report) -> None:
        self.told.append(report)
        self.intake.report("shoe", report, self.line.now_ms)

    def _advance(self) -> None:
        batch = self.intake.advance(self.line.now_ms)
        for after in batch.after:
            if isinstance(after, Publish):
                self.events += [one.event for one in after.events]
            elif isinstance(after, SendCommand):
                self.line.take(self.line.driver.send(after.command, self.line.now_ms))
        if batch.ask:
            self.line.take(self.line.driver.ask(self.line.now_ms))


def test_a_clean_round_has_each_card_once_and_in_its_place() -> None:
    for seed in range(5):
        table = Table(Careless(Random(seed), drop=0.3, cut=0.3))
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


HARMS: dict[str, Callable[[Random, bytes], bytes]] = {
    "dropped": lambda chance, copy: b"",
    "cut off": lambda chance, copy: copy[: chance.randrange(len(copy))],
    "begun late": lambda chance, copy: copy[chance.randrange(len(copy)) :],
    "flipped": lambda chance, copy: flipped(chance, copy),
    "junk": lambda chance, copy: chance.randbytes(len(copy)),
    "doubled": lambda chance, copy: copy * 2,
    "between junk": lambda chance, copy: chance.randbytes(9) + copy + chance.randbytes(9),
}


@pytest.mark.parametrize("harm", HARMS)
def test_no_hand_is_wrong_without_a_flag_whatever_becomes_of_the_copies(harm: str) -> None:
    """Each copy is harmed as likely as not, the last whole one too: draws are lost for good now and then."""
    clean = 0
    for seed in range(12):
        chance = Random(f"{harm} {seed}")
        table = Table(lambda telegram, chance=chance: harmed(chance, HARMS[harm], telegram))  # type: ignore[misc]
        table.connect()
        table.open_round()
        for card in CARDS:
            table.draw(card)
            if table.line.driver.wake_at_ms is None:
                table.connect()
        table.tell(fact="dealing_done")
        dealt = {place: hand.cards for place, hand in table.record.hands.items()}
        right = dealt == {1: CARDS[0::3], 2: CARDS[1::3], "dealer": CARDS[2::3]}
        assert right or table.record.flags
        clean += right and not table.record.flags
    assert clean >= (12 if harm in ("doubled", "between junk") else 1)


def harmed(chance: Random, harm: Callable[[Random, bytes], bytes], telegram: bytes) -> Sequence[bytes]:
    return [harm(chance, telegram) if chance.random() < HARMED else telegram for _ in range(COPIES)]


def flipped(chance: Random, copy: bytes) -> bytes:
    place = chance.randrange(len(copy))
    return copy[:place] + bytes((copy[place] ^ 1 << chance.randrange(8),)) + copy[place + 1 :]


def test_a_cable_pulled_in_the_deal_holds_the_round_and_locks_the_shoe() -> None:
    table = Table(Careless(Random(1), drop=0.3, cut=0.3))
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
