"""The host's end of pairing: with an honest device, on a bad wire, and with somebody in between."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.driver import DeviceKind
from drivers.tdp.codec.enums import StopReason
from drivers.tdp.codec.header import session_id
from drivers.tdp.codec.messages import Message, wire_frame
from drivers.tdp.codec.pairing_messages import PairDone, PairKey, PairStopped
from drivers.tdp.host.pairing import (
    ANSWER_MS,
    PERSON_MS,
    Compare,
    HostPairing,
    NotPaired,
    Paired,
    PairingReport,
    PairingStep,
    commitment,
    confirmation,
    fingerprint,
    pairing_key,
)
from simulator.firmware.device import Firmware
from simulator.firmware.device_auth import DeviceAuth
from simulator.firmware.identity import Identity
from tests.drivers.tdp.strategies import MESSAGES
from tests.drivers.tdp.vectors import key_vectors
from tests.drivers.tdp.wire import Machine

KEYS = key_vectors()


def test_the_vectors() -> None:
    assert commitment(KEYS.host_public) == KEYS.commitment
    assert fingerprint(KEYS.host_public, KEYS.device_public) == KEYS.fingerprint
    assert pairing_key(KEYS.host_private, KEYS.host_public, KEYS.device_public) == KEYS.pairing_key
    assert confirmation(KEYS.pairing_key, b"host") == KEYS.confirm_host
    assert confirmation(KEYS.pairing_key, b"device") == KEYS.confirm_device


class Bench:
    """A host and a device in pairing mode. `loss` is the chance that a burst does not arrive."""

    def __init__(self, key: bytes | None = None, kind: DeviceKind = DeviceKind.SHOE, seed: int = 1) -> None:
        self.random = Random(seed)
        identity = Identity(DeviceKind.SHOE, "SN-1", b"boot---1", 1, 5000)
        self.firmware = Firmware(identity, Machine(), DeviceAuth(self.random.randbytes, key))
        self.host = HostPairing(kind, "SN-1", private_key=self.random.randbytes(32), nonce=b"12345678")
        self.now_ms = 1000
        self.loss = 0.0
        self.reports: list[PairingReport] = []
        self.firmware.pairing.enter(self.now_ms)

    def open(self) -> "Bench":
        self.take(self.host.opened(self.now_ms))
        return self

    def take(self, step: PairingStep) -> None:
        """What the host says goes to the device, and the answer back."""
        while True:
            if step.report is not None:
                self.reports.append(step.report)
            if not step.to_send or self.random.random() < self.loss:
                return
            answer = self.firmware.receive(step.to_send, self.now_ms)
            if not answer or self.random.random() < self.loss:
                return
            step = self.host.receive(answer, self.now_ms)

    def run(self, ms: int) -> None:
        for _ in range(0, ms, 100):
            self.now_ms += 100
            self.take(self.host.tick(self.now_ms))
            self.take(self.host.receive(self.firmware.tick(self.now_ms), self.now_ms))

    def confirm_at_device(self) -> None:
        self.take(self.host.receive(self.firmware.tell(self.firmware.pairing.confirm(), self.now_ms), self.now_ms))

    def say(self, message: Message) -> None:
        """Somebody's frame towards the host."""
        session = session_id(b"12345678", b"boot---1")
        frame = wire_frame(message, session=session, sequence=0, acknowledgement=0)
        self.take(self.host.receive(b"\x00" + frame, self.now_ms))

    def compared(self) -> Compare:
        (report,) = self.reports
        assert isinstance(report, Compare)
        return report

    def sentence(self) -> str:
        report = self.reports[-1]
        assert isinstance(report, NotPaired)
        assert report.reason.endswith(".")
        assert self.host.wake_at_ms is None
        return report.reason


@pytest.mark.parametrize("loss", [0.0, 0.1])
@pytest.mark.parametrize("device_first", [True, False])
@pytest.mark.parametrize("known", [None, bytes(32)])
def test_both_ends_show_the_same_digits_and_get_the_same_key(
    loss: float,
    device_first: bool,  # noqa: FBT001
    known: bytes | None,
) -> None:
    bench = Bench(known)
    bench.loss = loss
    bench.open().run(6000)
    compare = bench.compared()
    assert compare.fingerprint == bench.firmware.pairing.fingerprint
    assert compare.claims.serial_number == "SN-1"
    bench.run(20_000)
    assert bench.firmware.guard.key == known
    if device_first:
        bench.confirm_at_device()
    bench.take(bench.host.confirm(bench.now_ms))
    bench.run(1000)
    if not device_first:
        assert bench.firmware.guard.key == known
        bench.confirm_at_device()
    bench.run(6000)
    paired = bench.reports[-1]
    assert isinstance(paired, Paired)
    assert bench.firmware.guard.key == paired.key
    assert bench.host.wake_at_ms is None


def test_declined_at_the_host_changes_nothing_at_either_end() -> None:
    bench = Bench(bytes(32)).open()
    bench.compared()
    bench.confirm_at_device()
    bench.take(bench.host.decline())
    assert "not confirmed" in bench.sentence()
    assert bench.firmware.pairing.until_ms is None
    assert bench.firmware.guard.key == bytes(32)


def test_a_device_outside_pairing_mode_is_told() -> None:
    bench = Bench()
    bench.firmware.pairing.decline()
    bench.open()
    assert "is not in pairing mode: put it" in bench.sentence()


def test_the_wrong_device_is_not_paired() -> None:
    bench = Bench(kind=DeviceKind.SHUFFLER).open()
    assert "where a shuffler is configured" in bench.sentence()


@pytest.mark.parametrize("reason", StopReason)
def test_every_stop_of_the_device_is_a_sentence(reason: StopReason) -> None:
    bench = Bench().open()
    bench.say(PairStopped(reason=reason))
    assert bench.sentence().startswith("The shoe (Simulated Devices")


def test_silence_is_told() -> None:
    bench = Bench()
    bench.loss = 1.0
    bench.open().run(ANSWER_MS)
    assert "did not answer within 10 s" in bench.sentence()


def test_a_device_that_falls_silent_while_the_digits_are_compared_is_told() -> None:
    bench = Bench().open()
    bench.loss = 1.0
    bench.run(3500)
    assert "fallen silent" in bench.sentence()


def test_a_device_that_nobody_confirms_may_hold_a_key_and_that_is_told() -> None:
    bench = Bench().open()
    bench.take(bench.host.confirm(bench.now_ms))
    bench.run(PERSON_MS - 5000)
    bench.loss = 1.0
    bench.run(5000)
    assert "may hold a new key" in bench.sentence()


def test_a_key_that_gives_a_known_secret_is_refused() -> None:
    bench = Bench()
    bench.firmware.pairing.enter(bench.now_ms)
    step = bench.host.opened(bench.now_ms)
    step = bench.host.receive(bench.firmware.receive(step.to_send, bench.now_ms), bench.now_ms)
    bench.say(PairKey(device_public=bytes(32)))
    assert "a key that is none" in bench.sentence()


def test_a_wrong_last_word_pairs_nobody() -> None:
    bench = Bench().open()
    bench.take(bench.host.confirm(bench.now_ms))
    bench.say(PairDone(confirmation=bytes(16)))
    assert "keys differ" in bench.sentence()


def test_somebody_in_between_shows_by_other_digits() -> None:
    """He makes an exchange of his own with each end; bound before he has seen, he cannot make the digits agree."""
    agreed = 0
    for seed in range(50):
        near, far = Bench(seed=2 * seed).open(), Bench(seed=2 * seed + 1).open()
        agreed += near.compared().fingerprint == far.firmware.pairing.fingerprint
    assert agreed == 0


@given(pieces=st.lists(st.binary(max_size=60) | MESSAGES, max_size=30))
def test_nothing_on_the_wire_pairs_anybody(pieces: list[bytes | Message]) -> None:
    bench = Bench().open()
    bench.take(bench.host.confirm(bench.now_ms))
    for piece in pieces:
        if isinstance(piece, bytes):
            bench.take(bench.host.receive(piece, bench.now_ms))
        else:
            bench.say(piece)
    assert not any(isinstance(report, Paired) for report in bench.reports)
