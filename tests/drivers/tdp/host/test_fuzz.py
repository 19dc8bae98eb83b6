"""No bytes and no order of calls make the driver raise, grow or invent a fact."""

import enum
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from drivers.commands import Command, CommandKind
from drivers.driver import DeviceKind, LinkUp, NumberedFact, Resume
from drivers.framing import MAX_ENCODED
from drivers.tdp.codec.header import REORDER_LIMIT
from drivers.tdp.codec.messages import Message, wire_frame
from drivers.tdp.host.driver import TdpDriver
from tests.drivers.tdp.device import ModelDevice
from tests.drivers.tdp.strategies import MESSAGES, U16, U32
from tests.drivers.tdp.wire import Wire

ACTS = st.one_of(
    st.tuples(st.just("bytes"), st.binary(max_size=80)),
    st.tuples(st.just("message"), st.tuples(MESSAGES, U16, st.booleans())),
    st.tuples(st.just("sealed"), st.tuples(MESSAGES, U16, st.booleans())),
    st.tuples(st.just("durable"), U32),
    st.tuples(st.just("ask"), st.none()),
    st.tuples(st.just("send"), st.tuples(st.integers(-1, 20), st.sampled_from(CommandKind))),
    st.tuples(st.just("tick"), st.integers(0, 4000)),
)


class Reached(enum.Enum):
    """How far the driver is before the calls."""

    NOTHING = enum.auto()
    HELLO = enum.auto()
    SESSION = enum.auto()
    AUTHENTICATED = enum.auto()


@settings(max_examples=200, deadline=None)
@given(acts=st.lists(ACTS, max_size=60), reached=st.sampled_from(Reached))
def test_any_calls_in_any_order(acts: list[tuple[str, Any]], reached: Reached) -> None:
    driver, device = TdpDriver(DeviceKind.SHUFFLER, None), ModelDevice()
    now_ms, ups = 0, 0
    if reached is Reached.AUTHENTICATED:
        wire = Wire()
        wire.run(10)
        driver, now_ms = wire.driver, wire.now_ms
    elif reached is not Reached.NOTHING:
        step = driver.opened(nonce=b"12345678", key=None, resume=Resume(device.boot.hex(), 3), now_ms=0)
        if reached is Reached.SESSION:
            step = driver.receive(device.receive(step.to_send, 0), 1)
            driver.receive(device.receive(step.to_send, 1), 2)
    for kind, value in acts:
        match kind, value:
            case "bytes", bytes():
                step = driver.receive(value, now_ms)
            case "message", (message, int() as sequence, bool() as near):
                step = driver.receive(framed(driver, message, sequence, near=near), now_ms)
            case "sealed", (message, int() as sequence, bool() as near):
                step = driver.receive(framed(driver, message, sequence, near=near, seal=_sealed), now_ms)
            case "durable", int():
                step = driver.durable(value, now_ms)
            case "ask", _:
                step = driver.ask(now_ms)
            case "send", (int() as command_id, CommandKind() as command):
                step = driver.send(Command(id=command_id, kind=command), now_ms)
            case "tick", int():
                now_ms += value
                step = driver.tick(now_ms)
        ups += sum(isinstance(report, LinkUp) for report in step.reports)
        assert ups <= 1
        for report in step.reports:
            if isinstance(report, NumberedFact):
                assert reached not in (Reached.NOTHING, Reached.AUTHENTICATED)
                assert 0 <= report.fact.at_ms <= now_ms
        assert driver._incoming._decoder.pending <= MAX_ENCODED
        assert len(driver._incoming.messages._early) <= REORDER_LIMIT
        assert driver._outgoing.messages == []
        assert driver._reports == []


def _sealed(body: bytes) -> bytes:
    return body + bytes(24)


def framed(
    driver: TdpDriver, message: Message, sequence: int, *, near: bool, seal: Callable[[bytes], bytes] | None = None
) -> bytes:
    """In the driver's own session, so that it is looked at; `near` its turn."""
    if near:
        sequence = (driver._incoming.messages.expected + sequence % 3) % 2**16
    session = driver._outgoing.session_id
    return b"\x00" + wire_frame(message, session=session, sequence=sequence, acknowledgement=0, seal=seal)


@given(junk=st.lists(st.binary(max_size=600), max_size=12))
def test_junk_before_the_answer_hides_nothing(junk: list[bytes]) -> None:
    driver, device = TdpDriver(DeviceKind.SHUFFLER, None), ModelDevice()
    hello = driver.opened(nonce=b"12345678", key=None, resume=None, now_ms=0).to_send
    for piece in junk:
        assert driver.receive(piece, 1).reports == ()
    start = driver.receive(device.receive(hello, 1), 2).to_send
    reports = driver.receive(device.receive(start, 3), 4).reports
    assert [type(report) for report in reports] == [LinkUp]
