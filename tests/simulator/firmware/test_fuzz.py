"""No bytes crash the device's end, paired or not, and nothing in it grows."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from drivers.driver import DeviceKind
from drivers.facts import GroupReady
from drivers.framing import MAX_ENCODED
from drivers.tdp.codec.header import WINDOW
from drivers.tdp.codec.messages import Message, wire_frame
from drivers.tdp.codec.session_messages import Hello
from simulator.firmware.device import Firmware
from simulator.firmware.device_auth import DeviceAuth
from simulator.firmware.identity import Identity
from tests.drivers.tdp.strategies import MESSAGES, U16
from tests.drivers.tdp.wire import Machine

ACTS = st.one_of(
    st.tuples(st.just("bytes"), st.binary(max_size=80)),
    st.tuples(st.just("message"), MESSAGES, U16, st.booleans()),
    st.tuples(st.just("tick"), st.integers(0, 4000)),
    st.tuples(st.sampled_from(["fact", "hello", "pairing mode", "confirm", "decline"])),
)


@settings(max_examples=200, deadline=None)
@given(acts=st.lists(ACTS, max_size=60), key=st.sampled_from([None, bytes(32)]))
def test_any_bytes_in_any_order(acts: list[tuple[Any, ...]], key: bytes | None) -> None:
    firmware = Firmware(
        Identity(DeviceKind.SHUFFLER, "SN-1", b"boot---1", 1, 5000, ring_size=16), Machine(), DeviceAuth(bytes, key)
    )
    now_ms, made = 0, 0
    for act in acts:
        match act:
            case ("bytes", bytes() as data):
                firmware.receive(data, now_ms)
            case ("message", message, int() as sequence, bool() as sealed):
                firmware.receive(framed(firmware, message, sequence, sealed=sealed), now_ms)
            case ("tick", int() as ms):
                now_ms += ms
                firmware.tick(now_ms)
            case ("fact",):
                made += 1
                firmware.report(GroupReady(at_ms=0, group=made, cards=3), now_ms)
            case ("hello",):
                firmware.receive(framed(firmware, Hello(nonce=b"12345678"), 0, sealed=False), now_ms)
            case ("pairing mode",):
                firmware.pairing.enter(now_ms)
            case ("confirm",):
                firmware.tell(firmware.pairing.confirm(), now_ms)
            case ("decline",):
                firmware.tell(firmware.pairing.decline(), now_ms)
        assert firmware._decoder.pending <= MAX_ENCODED
        assert len(firmware._window) <= WINDOW
        assert len(firmware.ring) <= 16
        assert firmware.pending_commands == 0
        assert firmware._out == b""
        assert firmware.guard.key == key


def framed(firmware: Firmware, message: Message, sequence: int, *, sealed: bool) -> bytes:
    session = 0 if isinstance(message, Hello) else firmware._session
    seal = (lambda body: body + bytes(24)) if sealed else None
    return b"\x00" + wire_frame(message, session=session, sequence=sequence, acknowledgement=sequence, seal=seal)
