"""What every device that speaks TDP has to do, whatever it is: one check at a time, on the device of the bench.

Numbers in brackets are sections of drivers/tdp/spec.md.
"""

import asyncio
import os

import pytest

from drivers.commands import CommandKind, Outcome
from drivers.driver import DeviceKind
from drivers.framing import DELIMITER, encode_frame
from drivers.sequence import NUMBER_BITS, seq_add
from drivers.tdp.codec.command_messages import Alive, CommandMessage, Ping
from drivers.tdp.codec.enums import COMMAND_CODES, Capability, KindCode, StateFlag
from drivers.tdp.codec.fact_messages import State
from drivers.tdp.codec.header import HEADER_SIZE
from drivers.tdp.codec.session_messages import Start
from tests.hil.bench.bench import Bench
from tests.hil.bench.frames import FrameLog
from tests.hil.bench.wire import Wire

pytestmark = pytest.mark.timeout(0)

SMALLEST_RING = 256
OPENINGS = 20
SILENCE_S = 3.3
"""After which a session has ended, with what timers may be late (8.1)."""
LISTENING_S = 0.7
"""More than a heartbeat."""
AT_ONCE_S = 1.0
"""The longest that a host waits before it repeats (8.2); a device on a healthy line takes a few hundredths of it."""
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


async def test_it_says_what_it_is(wire: Wire) -> None:
    """(5.2) Kind, capabilities, names, ring and boot id; and the key of its session, where it is paired."""
    answer = wire.answer
    assert answer is not None
    assert answer.kind == KINDS[wire.device.kind], "it is of another kind"
    assert answer.capabilities & DOES[wire.device.kind], "it does not claim to do what its kind does"
    names = ("vendor", "model", "serial_number", "firmware_version")
    assert [name for name in names if not getattr(answer, name)] == [], "a name is empty"
    assert answer.ring_size >= SMALLEST_RING, "its ring is smaller than a device's has to be"
    assert any(answer.boot), "a boot id of zeros is no number that never comes twice"
    assert bool(answer.key_id) == (wire.device.key is not None), "its session is authenticated where it has no key"


async def test_a_repeated_hello_is_answered_the_same(wire: Wire) -> None:
    """(4.2) The same nonce is the same session: a HELLO that was thought lost and comes late changes nothing."""
    first = wire.answer
    again = await wire.greet()
    assert first is not None
    assert again.boot.hex() == first.boot.hex(), "its boot id has changed within a session"
    assert again.first_sequence == first.first_sequence, "it has begun another session for a HELLO of the same nonce"
    assert again.clock_ms >= first.clock_ms, "its clock has gone back"


async def test_it_speaks_between_hello_and_the_end_of_its_session_alone(wire: Wire, log: FrameLog) -> None:
    """(4.1, 8.1, 8.3) Unasked heartbeats once started; nothing once the host has said nothing for its time.

    Then neither a new connection nor anything but HELLO makes it speak.
    """
    await wire.start()
    await wire.ping()
    wire.attentive = False
    await wire.wait(lambda: sum(alive.ping == 0 for alive in wire.of(Alive)) >= 2, "two heartbeats")
    await wire.listen(SILENCE_S)
    wire.raw.clear()
    await wire.listen(LISTENING_S)
    assert bytes(wire.raw) == b"", "it goes on though the host is gone"
    await wire.close()
    async with Wire(wire.device, log) as silent:
        silent.attentive = False
        silent.session = wire.session
        silent.write(DELIMITER)
        silent.send(Ping(id=1))
        silent.send(Start(resume=None))
        silent.write(b"AT\r\n\r\n")
        await silent.listen(LISTENING_S)
        assert bytes(silent.raw) == b"", "it speaks though nobody has said HELLO"


async def test_it_answers_every_ping(wire: Wire) -> None:
    """(5.11) At once, and before START too; its clock never goes back, the next fact's number stays by itself."""
    early = await wire.ping()
    await wire.start()
    alive = [early] + [await wire.ping() for _ in range(5)]
    clocks = [told.clock_ms for told in alive]
    assert clocks == sorted(clocks), "its clock goes back"
    assert len({told.next_number for told in alive}) == 1, "facts are numbered though nothing happened"
    assert wire.quickest_s < AT_ONCE_S, f"no PING was answered within {AT_ONCE_S:.0f} s, after which a host asks again"


async def test_a_start_is_taken_once(wire: Wire) -> None:
    """(4.3) A second START of the same session, which was thought lost and comes late, begins nothing anew."""
    started, _ = await wire.start()
    before = len(wire.of(State))
    wire.send(Start(resume=None))
    alive = await wire.ping()
    assert len(wire.of(State)) == before, "it has taken a second START"
    assert started.first_number == alive.next_number, "the ring was empty, so the next fact is the first"


async def test_it_resumes_without_a_gap_where_nothing_is_lost(wire: Wire, log: FrameLog) -> None:
    """(4.3) After a reconnection that names its boot id and its last fact it goes on with the next one."""
    answer, _, _ = await wire.begin()
    following = (await wire.ping()).next_number
    last = seq_add(following, -1, NUMBER_BITS)
    again, started, _ = await wire.begin((answer.boot, last))
    assert again.boot.hex() == answer.boot.hex(), "it has kept its power, and so it keeps its boot id"
    assert not started.gap, "it tells a gap though nothing is lost"
    assert started.first_number == following, "it does not go on where it was"


async def test_it_tells_a_gap_where_another_life_is_resumed(wire: Wire) -> None:
    """(4.3) Facts of another boot id are lost for good."""
    assert wire.answer is not None
    other = bytes(byte ^ 0xFF for byte in wire.answer.boot)
    started, _ = await wire.start((other, 4711))
    assert started.gap, "it tells no gap though another life of its was resumed, whose facts it cannot have"


async def test_a_command_is_accepted_started_and_finished(wire: Wire) -> None:
    """(7.2) The state that was asked for comes before its outcome."""
    await wire.start()
    states = len(wire.of(State))
    told = await wire.command(COMMAND_CODES[CommandKind.REPORT_STATE])
    assert [one.outcome for one in told] == [Outcome.ACCEPTED, Outcome.STARTED, Outcome.FINISHED]
    assert len(wire.of(State)) == states + 1, "it was asked for its state once"
    assert wire.messages.index(wire.of(State)[-1]) < wire.messages.index(told[-1]), "its state comes after the outcome"


async def test_a_command_does_what_it_says(wire: Wire) -> None:
    """(7.1) Stop and resume, lock and unlock; a layout has nothing to be told."""
    await wire.start()
    if wire.device.kind not in SWITCHES:
        (refused,) = await wire.command(COMMAND_CODES[CommandKind.LOCK])
        assert refused.outcome is Outcome.REFUSED
        assert refused.reason, "it gives no reason"
        return
    switched_on, switched_off, flag = SWITCHES[wire.device.kind]
    for command, wanted in ((switched_on, flag), (switched_off, 0)):
        assert (await wire.command(COMMAND_CODES[command]))[-1].outcome is Outcome.FINISHED
        await wire.command(COMMAND_CODES[CommandKind.REPORT_STATE])
        told = bool(wire.of(State)[-1].flags & flag)
        assert told == bool(wanted), f'after "{command.value}" its state says {flag.name}: {told}'


async def test_an_unknown_command_is_refused_with_a_reason(wire: Wire) -> None:
    """(7.2) One outcome, refused, with a short phrase for a person."""
    await wire.start()
    told = await wire.command(UNKNOWN_COMMAND)
    assert [one.outcome for one in told] == [Outcome.REFUSED], "it does not know that command"
    assert told[0].reason, "it gives no reason"


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
    assert len(wire.outcomes(7)) == 3, "it has told the outcomes of a repeated command again"
    assert wire.outcomes(6) == [], "it has done a command of a lower id than the last"
    assert len(wire.of(State)) == states, "it has done a repeated command again"


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
    """(2.4) A serial line may hand on single bytes, and a frame is the same in however many pieces it comes."""
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
    """(3.1) A frame with the direction of its own frames is no command, whatever stands in it."""
    await wire.start()
    command = CommandMessage(id=20, command=COMMAND_CODES[CommandKind.REPORT_STATE])
    wire.write(wire.framed(command.TYPE, command.to_bytes(), to_host=True))
    await wire.ping()
    assert wire.outcomes(20) == [], "it has taken a command from its own echo"


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
    assert wire.outcomes(40) == [], "it has done a command of an old session"
    assert len(wire.of(State)) == states, "it has told its state for an old session's command"
    assert not any(alive.ping == 900_004 for alive in wire.of(Alive)), "it has answered an old session's PING"


async def test_another_major_is_answered_and_not_talked(wire: Wire) -> None:
    """(9.1) It says which versions it speaks, and takes no START."""
    answer = await wire.hello(lowest_major=9, highest_major=9)
    assert not answer.lowest_major <= 9 <= answer.highest_major, "it says that it speaks major 9"
    wire.send(Start(resume=None))
    wire.send(Start(resume=None))
    await wire.listen(LISTENING_S)
    assert wire.of(State) == [], "it has started in a major that it does not speak"


async def test_a_body_without_a_header_is_thrown_away(wire: Wire) -> None:
    """(2.3) A frame of good framing and CRC that is too short to be one; the session goes on."""
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
    assert len(boots) == 1, "opening the port has made it start anew"
    assert len(numbers) == 1, "facts are numbered though nothing happened"
    assert len(os.listdir("/proc/self/fd")) <= before, "this suite has left a port open"
