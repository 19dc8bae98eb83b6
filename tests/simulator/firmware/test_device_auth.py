"""The device's key against the words and the vectors of the specification; the host is played by hand."""

import hashlib
import hmac
from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from drivers.driver import DeviceKind
from drivers.framing import FrameDecoder, encode_frame
from drivers.tdp.codec.command_messages import Alive, CommandMessage, Ping
from drivers.tdp.codec.enums import Capability, StopReason
from drivers.tdp.codec.header import Header, session_id
from drivers.tdp.codec.messages import Message, read_message, wire_frame
from drivers.tdp.codec.pairing_messages import (
    PairCommit,
    PairConfirm,
    PairDone,
    PairKey,
    PairReveal,
    PairStop,
    PairStopped,
)
from drivers.tdp.codec.session_messages import Hello, HelloAnswer, Start, Started
from simulator.firmware.device import Firmware, SessionState
from simulator.firmware.device_auth import DeviceAuth, confirmation, fingerprint, hkdf
from simulator.firmware.identity import Identity
from simulator.firmware.pairing import PAIRING_MODE_MS
from tests.drivers.tdp.vectors import good_vectors, key_vectors
from tests.simulator.firmware.test_device import Machine

KEYS = key_vectors()
RANDOM = {8: KEYS.device_nonce, 32: KEYS.device_private}


def device(key: bytes | None) -> Firmware:
    identity = Identity(DeviceKind.SHUFFLER, "A-0017", KEYS.boot, 1, 0)
    return Firmware(identity, Machine(), DeviceAuth(RANDOM.__getitem__, key))


class Host:
    """Seals with what it is given, and reads what comes."""

    def __init__(self, firmware: Firmware, key: bytes | None = None) -> None:
        self.device = firmware
        self.now_ms = 1000
        self.decoder = FrameDecoder()
        self.session = session_id(KEYS.nonce, KEYS.boot)
        self.key = key
        self.counter = 0

    def say(self, message: Message, now_ms: int | None = None) -> list[Message]:
        return self.wire(self.frame(message), now_ms)

    def frame(self, message: Message) -> bytes:
        hello = isinstance(message, Hello)
        session = 0 if hello else self.session
        seal = None if self.key is None or hello else self.seal
        return wire_frame(message, session=session, sequence=0, acknowledgement=0, seal=seal)

    def wire(self, frame: bytes, now_ms: int | None = None) -> list[Message]:
        return self.read(self.device.receive(b"\x00" + frame, now_ms or self.now_ms))

    def read(self, data: bytes) -> list[Message]:
        messages = []
        for body in self.decoder.feed(data):
            header = Header.from_bytes(body)
            messages.append(read_message(header, body[:-24] if header.authenticated else body)[0])
        return messages

    def seal(self, body: bytes) -> bytes:
        self.counter += 1
        said = body + self.counter.to_bytes(8, "little")
        return said + hmac.digest(self.key or b"", said, "sha256")[:16]


def test_the_vectors_of_pairing_and_session_keys() -> None:
    assert hkdf(KEYS.shared_secret, b"TDP1 pairing", KEYS.host_public + KEYS.device_public, 32) == KEYS.pairing_key
    assert fingerprint(KEYS.host_public, KEYS.device_public) == KEYS.fingerprint
    assert confirmation(KEYS.pairing_key, b"host") == KEYS.confirm_host
    assert confirmation(KEYS.pairing_key, b"device") == KEYS.confirm_device
    assert DeviceAuth(RANDOM.__getitem__, KEYS.pairing_key).key_id == KEYS.key_id


def test_the_session_of_the_vectors_is_taken_by_the_device() -> None:
    host = Host(device(KEYS.pairing_key))
    answers = [host.wire(vector.wire) for vector in good_vectors("tdp-authenticated") if vector.wire[2] != 0xC0]
    assert [[type(message).__name__ for message in several] for several in answers] == [
        ["HelloAnswer"],
        ["Started", "State"],
        [],
        ["Alive"],
        ["OutcomeMessage"] * 3,
    ]


def greet(host: Host, key_id: int) -> HelloAnswer:
    (answer,) = host.say(Hello(nonce=KEYS.nonce, key_id=key_id))
    assert isinstance(answer, HelloAnswer)
    return answer


@pytest.mark.parametrize("asked", [0, 7])
def test_a_paired_device_starts_nothing_in_a_plain_session(asked: int) -> None:
    host = Host(device(KEYS.pairing_key))
    answer = greet(host, asked)
    assert (answer.key_id, answer.device_nonce) == (0, bytes(8))
    assert answer.capabilities & Capability.REFUSES_PLAIN
    assert host.say(Start(resume=None)) == []
    assert host.say(CommandMessage(id=1, command=3)) == []
    assert [type(message) for message in host.say(Ping(id=1))] == [Alive]
    assert host.device.state is SessionState.GREETED


def test_a_device_never_paired_talks_plainly_whatever_key_is_asked_for() -> None:
    host = Host(device(None))
    answer = greet(host, 7)
    assert not answer.capabilities & Capability.REFUSES_PLAIN
    assert isinstance(host.say(Start(resume=None))[0], Started)


@pytest.mark.parametrize(
    ("spoil", "counter"),
    [
        (lambda body: body[:1] + bytes((body[1] ^ 0x40,)) + body[2:], "unauthenticated"),
        (lambda body: body[:-1] + bytes((body[-1] ^ 1,)), "forged"),
        (lambda body: body[:11] + b"\x01" + body[12:], "forged"),
        (lambda body: body[:-10], "forged"),
        (lambda body: body[:12], "forged"),
    ],
)
def test_what_the_host_did_not_say_starts_nothing(spoil: Callable[[bytes], bytes], counter: str) -> None:
    host = Host(device(KEYS.pairing_key), KEYS.host_session_key)
    greet(host, KEYS.key_id)
    (body,) = FrameDecoder().feed(b"\x00" + host.frame(Start(resume=None)))
    assert host.wire(encode_frame(spoil(body))) == []
    assert host.device.counters[counter] == 1
    assert isinstance(host.wire(encode_frame(body))[0], Started)


def test_a_command_replayed_is_counted_and_done_once() -> None:
    host = Host(device(KEYS.pairing_key), KEYS.host_session_key)
    greet(host, KEYS.key_id)
    host.say(Start(resume=None))
    frame = host.frame(CommandMessage(id=1, command=1))
    assert host.wire(frame) != []
    assert host.wire(frame) == []
    assert host.device.counters["replayed"] == 1


def commit(public: bytes = KEYS.host_public) -> PairCommit:
    return PairCommit(commitment=hashlib.sha256(b"TDP1 commitment" + public).digest())


def pairing() -> Host:
    host = Host(device(None))
    host.device.pairing.enter(host.now_ms)
    greet(host, 0)
    return host


@pytest.mark.parametrize("at_device_first", [True, False])
def test_pairing_step_by_step_with_every_step_repeated(at_device_first: bool) -> None:  # noqa: FBT001
    host = pairing()
    for _ in range(2):
        assert host.say(commit()) == [PairKey(device_public=KEYS.device_public)]
    assert host.device.pairing.fingerprint is None
    for _ in range(2):
        assert host.say(PairReveal(host_public=KEYS.host_public)) == []
    assert host.device.pairing.fingerprint == KEYS.fingerprint
    done = PairDone(confirmation=KEYS.confirm_device)
    if at_device_first:
        assert host.read(host.device.tell(host.device.pairing.confirm(), host.now_ms)) == []
        assert host.device.guard.key is None
    else:
        assert host.say(PairConfirm(confirmation=KEYS.confirm_host)) == []
        assert host.device.guard.key is None
        assert host.read(host.device.tell(host.device.pairing.confirm(), host.now_ms)) == [done]
    for _ in range(2):
        assert host.say(PairConfirm(confirmation=KEYS.confirm_host)) == [done]
    assert host.device.guard.key == KEYS.pairing_key
    assert host.say(commit()) == [PairStopped(reason=StopReason.NOT_PAIRING)]
    assert host.say(Start(resume=None)) == []


def stopped(messages: list[Message], reason: StopReason, host: Host) -> None:
    assert messages == [PairStopped(reason=reason)]
    assert host.device.guard.key is None
    assert host.say(commit()) == [PairStopped(reason=StopReason.NOT_PAIRING)]


def test_no_pairing_outside_pairing_mode() -> None:
    host = Host(device(None))
    greet(host, 0)
    stopped(host.say(commit()), StopReason.NOT_PAIRING, host)


def test_a_key_that_was_not_committed_to_stops_it() -> None:
    host = pairing()
    host.say(commit())
    other = X25519PrivateKey.generate().public_key().public_bytes_raw()
    stopped(host.say(PairReveal(host_public=other)), StopReason.BROKEN_COMMITMENT, host)


def test_a_second_commitment_stops_it() -> None:
    host = pairing()
    host.say(commit())
    stopped(host.say(commit(bytes(32))), StopReason.BROKEN_COMMITMENT, host)


def test_a_key_that_gives_a_known_secret_stops_it() -> None:
    host = pairing()
    host.say(commit(bytes(32)))
    stopped(host.say(PairReveal(host_public=bytes(32))), StopReason.BROKEN_COMMITMENT, host)


def test_a_wrong_confirmation_stops_it() -> None:
    host = pairing()
    host.say(commit())
    host.say(PairReveal(host_public=KEYS.host_public))
    host.device.pairing.confirm()
    stopped(host.say(PairConfirm(confirmation=KEYS.confirm_device)), StopReason.WRONG_CONFIRMATION, host)


def test_a_person_at_the_device_may_decline() -> None:
    host = pairing()
    host.say(commit())
    host.say(PairReveal(host_public=KEYS.host_public))
    stopped(host.read(host.device.tell(host.device.pairing.decline(), 1000)), StopReason.DECLINED, host)


def test_the_time_is_bounded_and_steps_out_of_turn_are_nothing() -> None:
    host = pairing()
    assert host.say(PairReveal(host_public=KEYS.host_public)) == []
    assert host.say(PairConfirm(confirmation=KEYS.confirm_host)) == []
    assert host.device.pairing.confirm() is None
    host.now_ms += PAIRING_MODE_MS
    host.say(Ping(id=1), host.now_ms - 1)
    stopped(host.read(host.device.tick(host.now_ms)), StopReason.TIME_OVER, host)


@pytest.mark.parametrize("end", ["host", "session"])
def test_the_host_or_the_end_of_the_session_ends_it(end: str) -> None:
    host = pairing()
    host.say(commit())
    if end == "host":
        assert host.say(PairStop()) == []
    else:
        host.say(Hello(nonce=b"another!"))
        host.session = session_id(b"another!", KEYS.boot)
    assert host.device.pairing.until_ms is None
    assert host.say(commit()) == [PairStopped(reason=StopReason.NOT_PAIRING)]


def test_every_answer_to_a_hello_begins_with_a_delimiter() -> None:
    """Its host may have opened the port a moment ago, and takes nothing before one."""
    firmware = device(None)
    for nonce in (b"nonce--1", b"nonce--1", b"nonce--2"):
        hello = wire_frame(Hello(nonce=nonce), session=0, sequence=0, acknowledgement=0)
        answer = firmware.receive(b"\x00" + hello, 1000)
        assert len(FrameDecoder().feed(answer)) == 1
