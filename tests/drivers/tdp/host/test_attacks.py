"""Whatever somebody on the wire sends, in an authenticated session nothing of it becomes a fact or a command."""

import hmac
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drivers.commands import CommandKind
from drivers.driver import Alarm, LinkDown
from drivers.framing import MAX_ENCODED
from drivers.tdp.codec.command_messages import CommandMessage
from drivers.tdp.codec.enums import COMMAND_CODES
from drivers.tdp.codec.fact_messages import Durable, FactMessage
from drivers.tdp.codec.header import REORDER_LIMIT, WINDOW, Header
from drivers.tdp.codec.session_messages import Hello, Start
from tests.drivers.tdp.strategies import MESSAGES, U16
from tests.drivers.tdp.wire import FIRST_NUMBER, KEY, Recorded, Wire

HOST_COMMANDS = st.sampled_from([CommandKind.STOP, CommandKind.RESUME])
WHICH = st.integers(0, 10**6)
FORGED = st.one_of(
    MESSAGES,
    st.builds(CommandMessage, id=st.integers(1, 2**64 - 1), command=st.just(COMMAND_CODES[CommandKind.SHUFFLE])),
    st.builds(Durable, number=st.integers(FIRST_NUMBER, 2**32 - 1)),
    st.builds(Start, resume=st.just((b"boot---1", FIRST_NUMBER + 2))),
)
OPS = st.one_of(
    st.tuples(st.sampled_from(["fact", "reconnect", "deliver_host", "deliver_device", "drop_host", "drop_device"])),
    st.tuples(st.just("deliver_all")),
    st.tuples(st.just("time"), st.integers(1, 1500)),
    st.tuples(st.just("command"), HOST_COMMANDS),
    st.tuples(st.just("replay"), WHICH),
    st.tuples(st.just("reflect"), WHICH, st.booleans()),
    st.tuples(st.just("swap"), WHICH),
    st.tuples(st.just("flip"), WHICH, WHICH),
    st.tuples(st.just("cut"), WHICH, st.integers(1, 40)),
    st.tuples(st.just("other_session"), WHICH),
    st.tuples(st.just("forge"), FORGED, U16, st.sampled_from(["plain", "zeros", "wrong key", "pairing key"])),
)


@settings(max_examples=150, deadline=None)
@given(ops=st.lists(OPS, min_size=1, max_size=60))
def test_nothing_on_the_wire_becomes_a_fact_or_a_command(ops: list[tuple[Any, ...]]) -> None:
    wire = Wire()
    wire.deliver_all()
    for _ in range(2):  # so that there are an older session's frames with the same key
        wire.happens()
        wire.send(CommandKind.STOP)
        wire.deliver_all()
        wire.connect()
        wire.deliver_all()
    for op in ops:
        act(wire, op)
        assert wire.told() == wire.true()[: len(wire.told())]
        assert CommandKind.SHUFFLE not in wire.machine.done
        for kind in CommandKind:
            assert wire.machine.done.count(kind) <= wire.sent.count(kind)
        assert wire.driver._incoming._decoder.pending <= MAX_ENCODED
        assert len(wire.driver._incoming.messages._early) <= REORDER_LIMIT
        assert len(wire.firmware._window) <= WINDOW
    wire.connect()
    wire.run(3000)
    assert not wire.ups()[-1].gap
    assert wire.told() == wire.true()


def act(wire: Wire, op: tuple[Any, ...]) -> None:
    match op:
        case ("fact",):
            wire.happens()
        case ("reconnect",):
            wire.connect()
        case ("deliver_all",):
            wire.deliver_all()
        case ("deliver_host" | "deliver_device" as which,):
            wire.deliver(to_host=which == "deliver_host")
        case ("drop_host" | "drop_device" as which,):
            del wire.waiting[which == "drop_host"][:1]
        case ("time", int() as ms):
            wire.pass_time(ms)
        case ("command", CommandKind() as kind):
            wire.send(kind)
        case ("swap", int() as which):
            queue = wire.waiting[which % 2 == 0]
            queue[:2] = reversed(queue[:2])
        case ("forge", message, int() as sequence, str() as how):
            forge(wire, message, sequence, how)
        case (str() as what, int() as which, *rest):
            meddle(wire, what, wire.recorded[which % len(wire.recorded)], rest)


def meddle(wire: Wire, what: str, frame: Recorded, rest: list[Any]) -> None:
    """Put a frame that was on the wire once on it again, in some other form."""
    body, to_host = bytearray(frame.body), frame.to_host
    match what, rest:
        case "reflect", [bool() as turned]:
            to_host = not to_host
            body[1] ^= 0x80 if turned else 0
        case "flip", [int() as bit]:
            if Header.from_bytes(frame.body).message_type in (Hello.TYPE, 2):
                return  # not sealed, or to no avail; whoever changes a hello has broken the connection
            body[bit // 8 % len(body)] ^= 1 << bit % 8
        case "cut", [int() as size]:
            del body[-size:]
        case "other_session", _:
            body[3:7] = wire.driver._outgoing.session_id.to_bytes(4, "little")
    wire.inject(bytes(body), to_host=to_host)


def forge(wire: Wire, message: Any, sequence: int, how: str) -> None:
    """A frame of the attacker's own in the running session, with whatever trailer he can make."""
    header = Header(
        to_host=not isinstance(message, Hello | Start | Durable | CommandMessage),
        message_type=message.TYPE,
        session=wire.driver._outgoing.session_id,
        sequence=sequence,
        acknowledgement=sequence,
        authenticated=how != "plain",
    )
    if isinstance(message, Hello):
        return
    body = header.to_bytes() + message.to_bytes()
    if how != "plain":
        body += (2**63).to_bytes(8, "little")
        key = {"wrong key": bytes(32), "pairing key": KEY}.get(how)
        body += bytes(16) if key is None else hmac.digest(key, body, "sha256")[:16]
    if len(body) <= 508:
        wire.inject(body, to_host=header.to_host)


def up(key: bytes | None = KEY, device_key: bytes | None = KEY) -> Wire:
    wire = Wire(key, device_key)
    wire.run(100)
    return wire


def test_an_authenticated_session_carries_facts_and_commands() -> None:
    wire = up()
    for _ in range(30):
        wire.happens()
        wire.run(20)
    wire.send(CommandKind.LOCK)
    wire.run(3000)
    assert wire.told() == wire.true()
    assert wire.machine.done == [CommandKind.LOCK]
    assert len(wire.ups()) == 1
    assert wire.downs() == []
    assert wire.firmware.unacknowledged == 0


def test_f31_frames_of_an_older_session_with_the_same_key_are_nothing() -> None:
    wire = up()
    wire.happens()
    wire.run(50)
    old = list(wire.recorded)
    wire.connect()
    wire.run(100)
    for frame in old:
        if Header.from_bytes(frame.body).message_type != Hello.TYPE:
            wire.inject(frame.body, to_host=frame.to_host)
    wire.run(100)
    assert wire.told() == wire.true()
    assert wire.downs() == []
    assert wire.driver.counters["other_session"] >= 4
    assert wire.firmware.counters["other_session"] >= 4


@pytest.mark.parametrize(
    ("key", "device_key", "words"),
    [
        (KEY, bytes(32), "does not hold the key"),
        (KEY, None, "does not hold the key"),
        (None, KEY, "takes authenticated sessions only"),
    ],
)
def test_without_the_one_key_there_is_no_session(key: bytes | None, device_key: bytes | None, words: str) -> None:
    wire = up(key, device_key)
    (down,) = wire.reports
    assert isinstance(down, LinkDown)
    assert words in down.reason
    assert down.final
    assert {Header.from_bytes(frame.body).message_type for frame in wire.recorded if not frame.to_host} == {Hello.TYPE}


def test_an_answer_that_only_names_the_key_is_refused_and_final() -> None:
    wire = Wire()
    wire.deliver(to_host=False)
    (answer,) = wire.waiting[True]
    wire.inject(answer[:-1] + bytes((answer[-1] ^ 1,)), to_host=True)
    (down,) = wire.downs()
    assert "cannot prove" in down.reason
    assert down.final
    wire.waiting[False].clear()
    wire.deliver_all()
    assert wire.told() == []
    assert wire.ups() == []


def test_an_answer_stripped_to_a_plain_one_is_refused() -> None:
    wire = Wire()
    wire.deliver(to_host=False)
    (answer,) = wire.waiting[True]
    wire.inject(answer[:1] + bytes((answer[1] ^ 0x40,)) + answer[2:-24], to_host=True)
    assert "does not hold the key" in wire.downs()[0].reason
    assert wire.downs()[0].final


def test_a_forged_frame_ends_the_session_in_a_sentence_and_the_next_one_begins() -> None:
    wire = up()
    forge(wire, FactMessage(number=0, clock_ms=0, code=5, fields=b""), 0, "wrong key")
    (down,) = wire.downs()
    assert "not made by the shuffler" in down.reason
    assert not down.final
    wire.connect()
    wire.happens()
    wire.run(100)
    assert wire.told() == wire.true()


def test_f30_a_replayed_frame_is_counted_told_once_and_harmless() -> None:
    wire = up()
    wire.happens()
    wire.run(50)
    (last,) = [frame for frame in wire.recorded if Header.from_bytes(frame.body).message_type == FactMessage.TYPE]
    for _ in range(3):
        wire.inject(last.body, to_host=True)
    assert wire.driver.counters["replayed_frames"] == 3
    assert [report for report in wire.reports if isinstance(report, Alarm)] == [
        Alarm(
            "An old frame came again on the line of the shuffler: "
            "check its cable, and that nothing is plugged in between."
        )
    ]
    assert wire.downs() == []
    assert wire.told() == wire.true()


def test_the_host_s_own_frames_coming_back_are_told() -> None:
    wire = up()
    for frame in [frame for frame in wire.recorded if not frame.to_host]:
        wire.inject(frame.body, to_host=True)
    (alarm,) = [report for report in wire.reports if isinstance(report, Alarm)]
    assert "own frames come back" in alarm.sentence
    assert wire.downs() == []


def test_a_plain_session_takes_no_fact_from_the_ring_of_a_paired_device() -> None:
    """Without the key nobody can make it believe that its facts are durable."""
    wire = up(None, KEY)
    wire.happens()
    wire.inject(_plain(wire, Durable(number=2**32 - 5)), to_host=False)
    wire.inject(_plain(wire, Start(resume=(b"boot---1", 2**32 - 5))), to_host=False)
    wire.key = KEY
    wire.connect()
    wire.run(100)
    assert wire.told() == wire.true()


def _plain(wire: Wire, message: Durable | Start) -> bytes:
    header = Header(to_host=False, message_type=message.TYPE, session=wire.firmware._session)
    return header.to_bytes() + message.to_bytes()
