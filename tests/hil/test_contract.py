"""What every device that speaks TDP has to do, whatever it is: one check at a time, on the device of the bench.

Numbers in brackets are sections of drivers/tdp/spec.md.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest

from drivers.commands import CommandKind, Outcome
from drivers.driver import DeviceKind
from drivers.framing import DELIMITER, encode_frame
from drivers.tdp.codes import COMMAND_CODES, Capability, KindCode, StateFlag
from drivers.tdp.header import HEADER_SIZE
from drivers.tdp.messages import Alive, CommandMessage, Ping, Start, State
from drivers.tdp.sequence import NUMBER_BITS, seq_add, seq_diff
from tests.hil.bench import Bench, rest
from tests.hil.frames import FrameLog
from tests.hil.hands import gesture
from tests.hil.wire import Wire

pytestmark = pytest.mark.timeout(0)

SMALLEST_RING = 256
OPENINGS = 20
SILENCE_S = 3.3
"""After which a session has ended, with what timers may be late (8.1)."""
LISTENING_S = 1.2
"""More than two heartbeats."""
UNKNOWN_COMMAND = 250
UNKNOWN_TYPE = 0x20
KINDS = {DeviceKind.SHUFFLER: KindCode.SHUFFLER, DeviceKind.SHOE: KindCode.SHOE, DeviceKind.LAYOUT: KindCode.LAYOUT}
DOES = {
    DeviceKind.SHUFFLER: Capability.DISPENSES_GROUPS,
    DeviceKind.SHOE: Capability.READS_CARDS,
    DeviceKind.LAYOUT: Capability.SENSES_SEATS,
}
SWITCHES = {
    DeviceKind.SHUFFLER: (CommandKind.STOP, CommandKind.RESUME, StateFlag.STOPPED),
    DeviceKind.SHOE: (CommandKind.LOCK, CommandKind.UNLOCK, StateFlag.LOCKED),
}


@pytest.fixture
async def wire(bench: Bench, kind: DeviceKind, log: FrameLog) -> AsyncIterator[Wire]:
    """A connection to a device that is at rest, and is the one that was found when the bench was looked at."""
    async with Wire(bench.devices[kind], log) as wire:
        await rest(wire)
        answer = await wire.hello()
        claims = bench.devices[kind].claims
        assert claims is not None
        assert answer.serial_number == claims.serial_number, "another device has been plugged in"
        bench.talked.add(kind)
        yield wire


async def reports(bench: Bench, wire: Wire, turn: int) -> None:
    """Somebody makes the device report something, and the wire hears it."""
    kind = wire.device.kind
    hands = bench.hands(kind)
    before = len(wire.facts)
    text, facts = gesture(kind, turn)
    await hands.do(kind, text, facts, seen=True)
    await wire.wait(
        lambda: len(wire.facts) >= before + len(facts), "the facts", within_s=hands.patience_s, progress=hands.progress
    )


async def test_it_says_what_it_is(wire: Wire) -> None:
    """(5.2)"""
    answer = wire.answer
    assert answer is not None
    assert answer.kind == KINDS[wire.device.kind]
    assert answer.capabilities & DOES[wire.device.kind], "it does not claim to do what its kind does"
    assert all((answer.vendor, answer.model, answer.serial_number, answer.firmware_version))
    assert answer.ring_size >= SMALLEST_RING
    assert any(answer.boot), "a boot id of zeros is no number that never comes twice"
    assert bool(answer.key_id) == (wire.device.key is not None)


async def test_a_repeated_hello_is_answered_the_same(wire: Wire) -> None:
    """(4.2)"""
    first = wire.answer
    again = await wire.greet()
    assert first is not None
    assert (again.boot, again.first_sequence) == (first.boot, first.first_sequence)
    assert again.clock_ms >= first.clock_ms


async def test_it_speaks_between_hello_and_the_end_of_its_session_alone(wire: Wire, log: FrameLog) -> None:
    """(4.1, 8.1, 8.3) Unasked heartbeats once started; nothing once the host has said nothing for its time.

    Then neither a new connection nor anything but HELLO makes it speak.
    """
    await wire.start()
    await wire.ping()
    wire.attentive = False
    await wire.wait(lambda: sum(alive.ping == 0 for alive in wire.of(Alive)) >= 2, "two heartbeats")
    await asyncio.sleep(SILENCE_S)
    wire.raw.clear()
    await asyncio.sleep(LISTENING_S)
    assert bytes(wire.raw) == b"", "it goes on though the host is gone"
    await wire.close()
    async with Wire(wire.device, log) as silent:
        silent.attentive = False
        silent.session = wire.session
        silent.write(DELIMITER)
        silent.send(Ping(id=1))
        silent.send(Start(resume=None))
        silent.write(b"AT\r\n\r\n")
        await asyncio.sleep(LISTENING_S)
        assert bytes(silent.raw) == b"", "it speaks though nobody has said HELLO"


async def test_it_answers_every_ping(wire: Wire) -> None:
    """(5.11) Before START too; its clock never goes back, and the next fact's number does not move by itself."""
    early = await wire.ping()
    await wire.start()
    alive = [early] + [await wire.ping() for _ in range(5)]
    assert all(later.clock_ms >= earlier.clock_ms for earlier, later in pairwise(alive))
    assert len({told.next_number for told in alive}) == 1


async def test_a_start_is_taken_once(wire: Wire) -> None:
    """(4.3)"""
    started, _ = await wire.start()
    before = len(wire.of(State))
    wire.send(Start(resume=None))
    alive = await wire.ping()
    assert len(wire.of(State)) == before
    assert started.first_number == alive.next_number, "the ring was empty, so the next fact is the first"


async def test_it_resumes_without_a_gap_where_nothing_is_lost(wire: Wire, log: FrameLog) -> None:
    """(4.3)"""
    answer, _, _ = await wire.begin()
    following = (await wire.ping()).next_number
    last = seq_add(following, -1, NUMBER_BITS)
    again, started, _ = await wire.begin((answer.boot, last))
    assert again.boot == answer.boot, "it has kept its power, and so it keeps its boot id"
    assert (started.gap, started.first_number) == (False, following)


async def test_it_tells_a_gap_where_another_life_is_resumed(wire: Wire) -> None:
    """(4.3) Facts of another boot id are lost for good."""
    assert wire.answer is not None
    other = bytes(byte ^ 0xFF for byte in wire.answer.boot)
    started, _ = await wire.start((other, 4711))
    assert started.gap


async def test_a_command_is_accepted_started_and_finished(wire: Wire) -> None:
    """(7.2) The state that was asked for comes before its outcome."""
    await wire.start()
    states = len(wire.of(State))
    told = await wire.command(COMMAND_CODES[CommandKind.REPORT_STATE])
    assert [one.outcome for one in told] == [Outcome.ACCEPTED, Outcome.STARTED, Outcome.FINISHED]
    assert len(wire.of(State)) == states + 1
    assert wire.messages.index(wire.of(State)[-1]) < wire.messages.index(told[-1])


async def test_a_command_does_what_it_says(wire: Wire) -> None:
    """(7.1) Stop and resume, lock and unlock; a layout has nothing to be told."""
    await wire.start()
    if wire.device.kind not in SWITCHES:
        (refused,) = await wire.command(COMMAND_CODES[CommandKind.LOCK])
        assert refused.outcome is Outcome.REFUSED
        assert refused.reason
        return
    switched_on, switched_off, flag = SWITCHES[wire.device.kind]
    for command, wanted in ((switched_on, flag), (switched_off, 0)):
        assert (await wire.command(COMMAND_CODES[command]))[-1].outcome is Outcome.FINISHED
        await wire.command(COMMAND_CODES[CommandKind.REPORT_STATE])
        assert wire.of(State)[-1].flags & flag == wanted


async def test_an_unknown_command_is_refused_with_a_reason(wire: Wire) -> None:
    """(7.2)"""
    await wire.start()
    (refused,) = await wire.command(UNKNOWN_COMMAND)
    assert refused.outcome is Outcome.REFUSED
    assert refused.reason


async def test_a_command_is_never_done_twice(wire: Wire) -> None:
    """(7.3) Neither the same id nor a lower one."""
    await wire.start()
    command = CommandMessage(id=7, command=COMMAND_CODES[CommandKind.REPORT_STATE])
    wire.send(command)
    await wire.wait(lambda: len(wire.outcomes(7)) == 3, "the end of command 7")
    states = len(wire.of(State))
    wire.send(command)
    wire.send(CommandMessage(id=6, command=COMMAND_CODES[CommandKind.REPORT_STATE]))
    await wire.ping()
    await wire.ping()
    assert (len(wire.outcomes(7)), len(wire.outcomes(6)), len(wire.of(State))) == (3, 0, states)


async def test_junk_on_the_line_costs_itself_alone(wire: Wire) -> None:
    """(2.3, 2.4) Noise, an overlong frame, a wrong CRC, a frame cut short: the session goes on."""
    await wire.start()
    good = wire.frame(Ping(id=900_001))
    damaged = bytes((good[0], good[1] ^ 0x10, *good[2:]))
    overlong = b"\xaa" * 2000 + DELIMITER
    for junk in (b"\xff\xfe\x01garbage" + DELIMITER, overlong, damaged, good[:-5] + DELIMITER, DELIMITER * 30, b"\x41"):
        wire.write(junk)
        wire.write(DELIMITER)
        await wire.ping()
    assert not any(alive.ping == 900_001 for alive in wire.of(Alive)), "it has answered a damaged frame"


async def test_frames_may_come_byte_by_byte(wire: Wire) -> None:
    """(2.4)"""
    await wire.start()
    for byte in wire.frame(Ping(id=900_002)):
        wire.write(bytes((byte,)))
        await asyncio.sleep(0)
    await wire.wait(lambda: any(alive.ping == 900_002 for alive in wire.of(Alive)), "the answer to a PING in pieces")


async def test_what_a_newer_minor_adds_is_passed_over(wire: Wire) -> None:
    """(9.2) A type it does not know is dropped, and a longer message is read as far as it is known."""
    await wire.start()
    wire.write(wire.framed(UNKNOWN_TYPE, b"of a later version"))
    wire.write(wire.frame(Ping(id=900_003), more=b"\x01\x02\x03"))
    await wire.wait(lambda: any(alive.ping == 900_003 for alive in wire.of(Alive)), "the answer to a longer PING")


async def test_its_own_echo_is_dropped(wire: Wire) -> None:
    """(3.1)"""
    await wire.start()
    command = CommandMessage(id=20, command=COMMAND_CODES[CommandKind.REPORT_STATE])
    wire.write(wire.framed(command.TYPE, command.to_bytes(), to_host=True))
    await wire.ping()
    assert wire.outcomes(20) == []


async def test_frames_of_an_old_session_do_nothing(wire: Wire) -> None:
    """(4.2) A command that was under way when the connection broke is not carried over into the next."""
    await wire.start()
    old = [
        wire.frame(CommandMessage(id=40, command=COMMAND_CODES[CommandKind.REPORT_STATE])),
        wire.frame(Ping(id=900_004)),
    ]
    await wire.begin()
    states = len(wire.of(State))
    for frame in old:
        wire.write(frame)
    await wire.ping()
    await wire.ping()
    assert wire.outcomes(40) == []
    assert len(wire.of(State)) == states
    assert not any(alive.ping == 900_004 for alive in wire.of(Alive))


async def test_another_major_is_answered_and_not_talked(wire: Wire) -> None:
    """(9.1) It says which versions it speaks, and takes no START."""
    answer = await wire.hello(lowest_major=9, highest_major=9)
    assert not answer.lowest_major <= 9 <= answer.highest_major
    wire.send(Start(resume=None))
    wire.send(Start(resume=None))
    await asyncio.sleep(LISTENING_S)
    assert wire.of(State) == []


async def test_a_body_without_a_header_is_thrown_away(wire: Wire) -> None:
    """(2.3)"""
    await wire.start()
    wire.write(encode_frame(bytes(HEADER_SIZE - 1)))
    wire.write(encode_frame(b""))
    await wire.ping()


async def test_the_port_opens_and_closes_twenty_times(bench: Bench, wire: Wire, log: FrameLog) -> None:
    """(4.2, 4.4) Same device, same life, nothing reported that did not happen; and no handle of ours is left open."""
    before = len(os.listdir("/proc/self/fd"))
    boots: set[bytes] = set()
    numbers: set[int] = set()
    await wire.close()
    for _ in range(OPENINGS):
        async with Wire(wire.device, log) as opened:
            answer, _, _ = await opened.begin()
            boots.add(answer.boot)
            numbers.add((await opened.ping()).next_number)
    assert len(boots) == 1
    assert len(numbers) == 1
    assert len(os.listdir("/proc/self/fd")) <= before


@pytest.mark.hands
async def test_facts_are_numbered_without_holes_and_timed_in_order(bench: Bench, wire: Wire) -> None:
    """(4.4, 4.5)"""
    _, started, _ = await wire.begin()
    for turn in range(4):
        await reports(bench, wire, turn)
    numbers = [fact.number for fact in wire.facts]
    assert numbers[0] == started.first_number
    assert all(seq_diff(later, earlier, NUMBER_BITS) == 1 for earlier, later in pairwise(numbers))
    assert all(later.clock_ms >= earlier.clock_ms for earlier, later in pairwise(wire.facts))
    alive = await wire.ping()
    assert alive.next_number == seq_add(numbers[-1], 1, NUMBER_BITS)
    assert alive.clock_ms >= wire.facts[-1].clock_ms
    await wire.settle()


@pytest.mark.hands
async def test_what_is_not_acknowledged_is_sent_again(bench: Bench, wire: Wire) -> None:
    """(3.2, 8.1) The same message, with the same sequence, until the host has said that it arrived."""
    await wire.start()
    await wire.ping()
    repeated = wire.repeated
    wire.stop_acknowledging()
    await reports(bench, wire, 0)
    await wire.wait(lambda: wire.repeated > repeated, "the fact to be sent again")
    wire.acknowledge_again()
    await wire.settle()


@pytest.mark.hands
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
        await later.wait(lambda: len(later.facts) >= len(lost), "the facts that were not durable")
        assert again.boot == answer.boot
        assert not started.gap
        assert later.facts == lost
        await later.settle()
        assert later.facts == lost
    async with Wire(wire.device, log) as last:
        await last.begin((answer.boot, lost[-1].number))
        await last.ping()
        assert last.facts == []


@pytest.mark.hands
async def test_what_happens_while_nobody_listens_is_kept(bench: Bench, wire: Wire, log: FrameLog) -> None:
    """(4.4) The cable is out, or the host is down: the ring has it."""
    kind = wire.device.kind
    hands = bench.hands(kind)
    answer, started, _ = await wire.begin()
    await wire.close()
    text, facts = gesture(kind, 0)
    await hands.do(kind, text, facts, seen=False)
    async with Wire(wire.device, log) as later:
        _, resumed, _ = await later.begin((answer.boot, seq_add(started.first_number, -1, NUMBER_BITS)))
        await later.wait(lambda: len(later.facts) >= len(facts), "the facts of the meantime")
        assert not resumed.gap
        assert later.facts[0].number == started.first_number
        await later.settle()


@pytest.mark.hands
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
        assert again.boot == answer.boot
        assert (resumed.gap, resumed.first_number) == (False, started.first_number)


@pytest.mark.hands
async def test_a_new_life_has_a_new_boot_id(bench: Bench, wire: Wire, log: FrameLog) -> None:
    """(4.2) What was in the ring is gone with the power, and it says so."""
    answer, started, _ = await wire.begin()
    await wire.close()
    await bench.hands(wire.device.kind).switch_off_and_on(wire.device.kind)
    async with Wire(wire.device, log) as later:
        again, resumed, _ = await later.begin((answer.boot, started.first_number))
        assert again.boot != answer.boot
        assert again.serial_number == answer.serial_number
        assert resumed.gap
