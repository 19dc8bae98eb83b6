"""What every device that speaks TDP does with its facts: numbered, kept, sent again, lost with the power alone.

Somebody makes each of them happen. Numbers in brackets are sections of drivers/tdp/spec.md.
"""

from collections.abc import Sequence

import pytest

from drivers.sequence import NUMBER_BITS, seq_add, seq_diff
from drivers.tdp.codec.fact_messages import FactMessage
from tests.hil.bench.bench import Bench
from tests.hil.bench.frames import FrameLog
from tests.hil.bench.hands import gesture
from tests.hil.bench.reported import in_words
from tests.hil.bench.wire import Wire

pytestmark = [pytest.mark.hands, pytest.mark.timeout(0)]


async def reports(bench: Bench, wire: Wire, turn: int) -> None:
    """Somebody makes the device report something, and the wire hears that, once, and nothing else."""
    kind = wire.device.kind
    hands = bench.hands(kind)
    before = len(wire.facts)
    text, awaited = gesture(kind, turn)
    await hands.do(kind, text, awaited, seen=True)
    words = [in_words(fact) for fact in awaited]

    def told() -> list[str]:
        return wire.facts_in_words()[before:]

    await wire.wait(
        lambda: told() != words[: len(told())] or len(told()) == len(words),
        f"the report of: {', then '.join(words)}",
        hands.patience_s,
        hands.progress,
    )
    await wire.ping()
    assert told() == words, f'what it reported of "{text}" is not what was done'


def changed(before: Sequence[FactMessage], after: Sequence[FactMessage]) -> list[int]:
    """The numbers of facts that are told otherwise the second time. What they say is not shown: it may be a card."""
    return [first.number for first, second in zip(before, after, strict=True) if first != second]


async def test_facts_are_numbered_without_holes_and_timed_in_order(bench: Bench, wire: Wire) -> None:
    """(4.4, 4.5) Four times something happens, and each is told once, with the next number and a clock that goes on."""
    _, started, _ = await wire.begin()
    for turn in range(4):
        await reports(bench, wire, turn)
    numbers = [fact.number for fact in wire.facts]
    rising = [seq_add(started.first_number, ahead, NUMBER_BITS) for ahead in range(len(numbers))]
    assert numbers == rising, "its facts are not numbered one after the other from STARTED's first number"
    alive = await wire.ping()
    clocks = [*(fact.clock_ms for fact in wire.facts), alive.clock_ms]
    assert clocks == sorted(clocks), "its clock goes back"
    assert alive.next_number == seq_add(numbers[-1], 1, NUMBER_BITS), "ALIVE tells another next number"
    await wire.settle()


async def test_what_is_not_acknowledged_is_sent_again(bench: Bench, wire: Wire) -> None:
    """(3.2, 8.1) The same message, with the same sequence, until the host has said that it arrived."""
    await wire.start()
    await wire.ping()
    repeated = wire.repeated
    wire.stop_acknowledging()
    await reports(bench, wire, 0)
    await wire.wait(lambda: wire.repeated > repeated, "the repetition of a fact that was not acknowledged")
    wire.acknowledge_again()
    await wire.settle()


async def test_facts_that_are_not_durable_come_again_after_a_reconnection(
    bench: Bench, wire: Wire, log: FrameLog
) -> None:
    """(4.3, 4.4) All of them, the same, and none of those that are durable."""
    answer, _, _ = await wire.begin()
    await reports(bench, wire, 0)
    durable = wire.facts[-1].number
    wire.durable(durable)
    await reports(bench, wire, 1)
    lost = [fact for fact in wire.facts if seq_diff(fact.number, durable, NUMBER_BITS) > 0]
    await wire.close()
    async with Wire(wire.device, log) as later:
        again, started, _ = await later.begin((answer.boot, durable))
        assert again.boot.hex() == answer.boot.hex(), "it has kept its power, and so it keeps its boot id"
        assert not started.gap, "it tells a gap though the host has acknowledged nothing of what is missing"
        numbers = [fact.number for fact in lost]
        await later.wait(lambda: len(later.facts) >= len(lost), f"the facts {numbers}, which were not durable")
        await later.ping()
        assert [fact.number for fact in later.facts] == numbers, "it tells other facts than those not durable"
        assert changed(lost, later.facts) == [], "these facts are not what they were when they were first told"
        await later.settle()
        assert len(later.facts) == len(lost), "it tells facts again that are durable"
    async with Wire(wire.device, log) as last:
        await last.begin((answer.boot, lost[-1].number))
        await last.ping()
        assert [fact.number for fact in last.facts] == [], "it tells facts again that are durable"


async def test_what_happens_while_nobody_listens_is_kept(bench: Bench, wire: Wire, log: FrameLog) -> None:
    """(4.4) The cable is out, or the host is down: the ring has it."""
    kind = wire.device.kind
    hands = bench.hands(kind)
    answer, started, _ = await wire.begin()
    await wire.close()
    text, facts = gesture(kind, 0)
    await hands.do(kind, text, facts, seen=False)
    words = [in_words(fact) for fact in facts]
    async with Wire(wire.device, log) as later:
        _, resumed, _ = await later.begin((answer.boot, seq_add(started.first_number, -1, NUMBER_BITS)))
        await later.wait(lambda: len(later.facts) >= len(facts), f"what happened meanwhile: {', then '.join(words)}")
        await later.ping()
        assert not resumed.gap, "it tells a gap though its ring has room for what happened"
        assert later.facts_in_words() == words, f'what it reported of "{text}" is not what was done'
        assert later.facts[0].number == started.first_number, "it has used up a number for nothing"
        await later.settle()


async def test_a_pulled_cable_loses_nothing(bench: Bench, wire: Wire, log: FrameLog) -> None:
    """(4.2, 4.4) Its life and its numbers go on, whichever way the port died."""
    hands = bench.hands(wire.device.kind)
    answer, started, _ = await wire.begin()
    await hands.pull(wire.device.kind)
    await wire.wait(lambda: wire.lost is not None, "the loss of the port", hands.patience_s, hands.progress)
    await wire.close()
    await hands.plug(wire.device.kind)
    async with Wire(wire.device, log) as later:
        again, resumed, _ = await later.begin((answer.boot, seq_add(started.first_number, -1, NUMBER_BITS)))
        assert again.boot.hex() == answer.boot.hex(), "it has kept its power, and so it keeps its boot id"
        assert not resumed.gap, "it tells a gap though nothing is lost"
        assert resumed.first_number == started.first_number, "facts are numbered though nothing happened"


async def test_a_new_life_has_a_new_boot_id(bench: Bench, wire: Wire, log: FrameLog) -> None:
    """(4.2) What was in the ring is gone with the power, and it says so."""
    answer, started, _ = await wire.begin()
    await wire.close()
    await bench.hands(wire.device.kind).switch_off_and_on(wire.device.kind)
    async with Wire(wire.device, log) as later:
        again, resumed, _ = await later.begin((answer.boot, started.first_number))
        assert again.boot.hex() != answer.boot.hex(), "it was switched off, and still has its old boot id"
        assert again.serial_number == answer.serial_number, "another device has been plugged in"
        assert resumed.gap, "it tells no gap though its old life was resumed, whose facts are gone with the power"
