"""The simulated shoe keeps to the spec, and its carelessness within bounds."""

from random import Random

import pytest

from drivers.angel_eye.telegrams import Bcc, command_bytes
from drivers.cards import Card
from drivers.commands import CommandKind
from drivers.facts import CardDrawn, ShoeLoaded
from simulator.firmware.angel_eye import COPIES, AngelEyeFirmware, Careless
from tests.drivers.angel_eye.wire import Lock, block, told


def draw(card: str | None) -> CardDrawn:
    return CardDrawn(at_ms=0, draw=1, card=None if card is None else Card(card), face="down")


def test_it_starts_as_the_vectors_say_and_sends_everything_three_times() -> None:
    shoe = AngelEyeFirmware(Lock())
    start, stand_by = (bytes.fromhex(line[:24].split("  ")[0]) for line in block("telegrams")[-2:])
    assert shoe.switched_on() == start * 3 + stand_by * 3
    assert shoe.report(draw("8s")) == told("E", "D", "81B8")
    assert shoe.report(draw("Kd")) == told("F", "D", "829D")
    assert shoe.report(draw("Ac")) == told("0", "D", "83A1")
    assert shoe.report(draw(None)) == told("1", "E", "C1") + told("2", "e", "81")
    assert shoe.report(ShoeLoaded(at_ms=0, cards=52)) == b""


@pytest.mark.parametrize("bcc", Bcc)
def test_it_answers_commands_that_are_right_in_every_byte(bcc: Bcc) -> None:
    lock = Lock()
    shoe = AngelEyeFirmware(lock, bcc=bcc)
    lock_it = command_bytes("LK", 2, bcc)
    assert shoe.receive(b"\x00junk" + lock_it[:4]) == b""
    assert shoe.receive(lock_it[4:]) == b"\x06" + told("C", "L", "81")
    assert lock.moves == [CommandKind.LOCK]
    other = Bcc.WITH_STX if bcc is Bcc.WITHOUT_STX else Bcc.WITHOUT_STX
    assert shoe.receive(command_bytes("LK", 1, other)) == b"\x151"
    assert shoe.receive(command_bytes("QQ", 1, bcc)) == b"\x152"
    assert shoe.receive(command_bytes("GP", 0, bcc) * 2) == b"\x06" + told("D", "L", "81") + b"\x06" + told(
        "E", "L", "81"
    )
    assert lock.moves == [CommandKind.LOCK]
    shoe.receive(bytes(10_000))
    assert len(shoe._received) <= 64


def test_a_careless_shoe_drops_and_cuts_but_leaves_one_whole() -> None:
    careless = Careless(Random(1), drop=0.4, cut=0.4)
    telegram = told("1", "D", "81B8", copies=1)
    copies = [list(careless(telegram)) for _ in range(500)]
    assert all(len(one) == COPIES and telegram in one for one in copies)
    flat = [copy for one in copies for copy in one]
    assert b"" in flat
    assert any(copy and copy != telegram for copy in flat)
    assert all(telegram.startswith(copy) for copy in flat)
