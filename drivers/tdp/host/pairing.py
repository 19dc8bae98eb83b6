"""The host's end of pairing, sans-IO: bytes and time in, steps out (drivers/tdp/spec.md section 9.4)."""

import enum
import hashlib
import hmac
from dataclasses import dataclass
from typing import Final, TypeAlias

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from drivers.driver import Claims, DeviceKind
from drivers.framing import DELIMITER, FrameDecoder
from drivers.tdp.codec.command_messages import Ping
from drivers.tdp.codec.enums import Capability, MessageType, StopReason
from drivers.tdp.codec.fields import BadMessage
from drivers.tdp.codec.header import HEADER_SIZE, MAJOR, Header, session_id
from drivers.tdp.codec.messages import HostMessage, read_message, wire_frame
from drivers.tdp.codec.pairing_messages import (
    CONFIRMATION_SIZE,
    PairCommit,
    PairConfirm,
    PairDone,
    PairKey,
    PairReveal,
    PairStop,
    PairStopped,
)
from drivers.tdp.codec.session_messages import Hello, HelloAnswer
from drivers.tdp.host.auth import KEY_SIZE, derived
from drivers.tdp.host.handshake import AnswerDropped, AnswerRefused, Expected, identified
from drivers.tdp.host.identity import claims_of, named
from drivers.tdp.host.session import HELLO_MS, SILENCE_MS

REPEAT_MS: Final = 500
ANSWER_MS: Final = 10_000
PERSON_MS: Final = 120_000

_WHY: Final = {
    StopReason.NOT_PAIRING: "is not in pairing mode: put it into pairing mode, and try again",
    StopReason.BROKEN_COMMITMENT: (
        "found that the exchange was tampered with: check its cable and everything between, and try again"
    ),
    StopReason.WRONG_CONFIRMATION: (
        "found that the two keys differ: check its cable and everything between, and try again"
    ),
    StopReason.DECLINED: "was told to decline: try again, and confirm at both ends if the digits are equal",
    StopReason.TIME_OVER: "has left pairing mode because its time was over: put it there again, and try again",
}


@dataclass(frozen=True, slots=True)
class Compare:
    """A person has to compare `fingerprint`, six digits, with what the device shows; then `confirm` or `decline`."""

    fingerprint: str
    claims: Claims


@dataclass(frozen=True, slots=True)
class Paired:
    """Both ends hold `key`, 32 bytes. It is over."""

    key: bytes
    claims: Claims


@dataclass(frozen=True, slots=True)
class NotPaired:
    """It is over, and nothing has changed at this end; `reason` is a sentence for a person."""

    reason: str


PairingReport: TypeAlias = Compare | Paired | NotPaired


@dataclass(frozen=True, slots=True)
class PairingStep:
    """What pairing answers: a report at most, and bytes for the wire."""

    report: PairingReport | None = None
    to_send: bytes = b""


class PairingState(enum.Enum):
    """Section 9.4: how far it has come."""

    GREETING = "greeting"
    COMMITTED = "committed"
    COMPARING = "comparing"
    CONFIRMED = "confirmed"
    OVER = "over"


def commitment(host_public: bytes) -> bytes:
    """SHA-256 over the host's public key of 32 bytes."""
    return hashlib.sha256(b"TDP1 commitment" + host_public).digest()


def fingerprint(host_public: bytes, device_public: bytes) -> str:
    """What host and device show for a person to compare."""
    digest = hashlib.sha256(b"TDP1 fingerprint" + host_public + device_public).digest()
    return f"{int.from_bytes(digest[:4], 'big') % 1_000_000:06d}"


def pairing_key(private_key: bytes, host_public: bytes, device_public: bytes) -> bytes:
    """Raises ValueError where the device's key gives a secret that anybody knows."""
    shared = X25519PrivateKey.from_private_bytes(private_key).exchange(X25519PublicKey.from_public_bytes(device_public))
    return derived(shared, b"TDP1 pairing", host_public + device_public, KEY_SIZE)


def confirmation(key: bytes, end: bytes) -> bytes:
    """`end` is host or device."""
    return derived(key, b"", b"TDP1 confirm " + end, CONFIRMATION_SIZE)


class HostPairing:
    """One exchange on one connection. `private_key` (32 bytes) and `nonce` (8) are random and used for nothing else."""

    def __init__(self, kind: DeviceKind, serial_number: str | None, *, private_key: bytes, nonce: bytes) -> None:
        self._expected = Expected(kind, serial_number, None)
        self._private_key = private_key
        self._public = X25519PrivateKey.from_private_bytes(private_key).public_key().public_bytes_raw()
        self._nonce = nonce
        self._decoder = FrameDecoder()
        self._state = PairingState.GREETING
        self._answer: HelloAnswer | None = None
        self._session_id = 0
        self._attempts = 0
        self._sequence = 0
        self._key = b""
        self._again_ms = 0
        self._heard_ms: int | None = None
        self._pings = 0
        self._deadline_ms: int | None = None

    @property
    def wake_at_ms(self) -> int | None:
        """When `tick` wants to be called next; None once it is over."""
        if self._state is PairingState.OVER:
            return None
        silent_ms = None if self._heard_ms is None else self._heard_ms + SILENCE_MS
        return min(time for time in (self._again_ms, self._deadline_ms, silent_ms) if time is not None)

    def opened(self, now_ms: int) -> PairingStep:
        """The port is open."""
        self._deadline_ms = now_ms + ANSWER_MS
        return PairingStep(to_send=self._say(now_ms))

    def receive(self, data: bytes, now_ms: int) -> PairingStep:
        """Bytes came, cut anywhere."""
        for body in self._decoder.feed(data):
            step = self._frame(body, now_ms)
            if step is not None:
                return step
        return PairingStep()

    def confirm(self, now_ms: int) -> PairingStep:
        """The person has found the digits equal."""
        if self._state is not PairingState.COMPARING:
            return PairingStep()
        return self._go(PairingState.CONFIRMED, now_ms, PERSON_MS)

    def decline(self) -> PairingStep:
        """The person has not: the device is told to forget the exchange."""
        if self._state is PairingState.OVER:
            return PairingStep()
        said = self._frame_of(PairStop()) if self._answer is not None else b""
        over = self._over("The digits were not confirmed: nothing has changed, the device was not paired.")
        return PairingStep(over.report, said)

    def tick(self, now_ms: int) -> PairingStep:
        """The time is now `now_ms`: say HELLO again, or give up."""
        if self._state is PairingState.OVER:
            return PairingStep()
        if self._deadline_ms is not None and now_ms >= self._deadline_ms:
            return self._over(self._too_late())
        if self._heard_ms is not None and now_ms - self._heard_ms >= SILENCE_MS:
            return self._over(self._too_late())
        return PairingStep(to_send=self._say(now_ms)) if now_ms >= self._again_ms else PairingStep()

    def _frame(self, body: bytes, now_ms: int) -> PairingStep | None:
        if len(body) < HEADER_SIZE or self._state is PairingState.OVER:
            return None
        header = Header.from_bytes(body)
        if not header.to_host:
            return None
        if header.message_type == MessageType.HELLO_ANSWER:
            return self._greeted(header, body, now_ms) if self._state is PairingState.GREETING else None
        if self._answer is None or header.major != MAJOR or header.session != self._session_id or header.authenticated:
            return None
        try:
            message, _ = read_message(header, body)
        except BadMessage:
            return None
        self._heard_ms = now_ms
        match message:
            case PairKey(device_public=device_public) if self._state is PairingState.COMMITTED:
                return self._exchanged(self._answer, device_public, now_ms)
            case PairDone(confirmation=said) if self._state is PairingState.CONFIRMED:
                if not hmac.compare_digest(said, confirmation(self._key, b"device")):
                    return self._over(f"The {named(self._answer)} {_WHY[StopReason.WRONG_CONFIRMATION]}.")
                self._state = PairingState.OVER
                return PairingStep(Paired(self._key, claims_of(self._answer)))
            case PairStopped(reason=reason):
                return self._over(f"The {named(self._answer)} {_WHY[reason]}.")
        return None

    def _greeted(self, header: Header, body: bytes, now_ms: int) -> PairingStep | None:
        try:
            answer, _ = identified(header, body, self._nonce, self._attempts, self._expected)
        except AnswerDropped:
            return None
        except AnswerRefused as refused:
            return self._over(str(refused))
        if not answer.capabilities & Capability.OFFERS_AUTHENTICATION:
            return self._over(f"The {named(answer)} offers no authenticated mode: it cannot be paired.")
        self._answer = answer
        self._heard_ms = now_ms
        self._session_id = session_id(self._nonce, answer.boot)
        return self._go(PairingState.COMMITTED, now_ms, ANSWER_MS)

    def _exchanged(self, answer: HelloAnswer, device_public: bytes, now_ms: int) -> PairingStep:
        try:
            self._key = pairing_key(self._private_key, self._public, device_public)
        except ValueError:
            return self._over(
                f"The {named(answer)} sent a key that is none: its firmware is faulty, or it is no device."
            )
        step = self._go(PairingState.COMPARING, now_ms, None)
        return PairingStep(Compare(fingerprint(self._public, device_public), claims_of(answer)), step.to_send)

    def _go(self, state: PairingState, now_ms: int, within_ms: int | None) -> PairingStep:
        self._state = state
        self._deadline_ms = None if within_ms is None else now_ms + within_ms
        return PairingStep(to_send=self._say(now_ms))

    def _over(self, sentence: str) -> PairingStep:
        self._state = PairingState.OVER
        return PairingStep(NotPaired(sentence))

    def _say(self, now_ms: int) -> bytes:
        """The message of this state, the first time or again; a ping with it where there is a session."""
        self._again_ms = now_ms + REPEAT_MS
        match self._state:
            case PairingState.GREETING:
                self._again_ms = now_ms + HELLO_MS
                self._attempts += 1
                return self._frame_of(Hello(nonce=self._nonce, attempt=self._attempts - 1))
            case PairingState.COMMITTED:
                step = self._frame_of(PairCommit(commitment=commitment(self._public)))
            case PairingState.COMPARING:
                step = self._frame_of(PairReveal(host_public=self._public))
            case PairingState.CONFIRMED:
                step = self._frame_of(PairConfirm(confirmation=confirmation(self._key, b"host")))
            case _:
                return b""
        self._pings += 1
        return step + self._frame_of(Ping(id=self._pings))

    def _frame_of(self, message: HostMessage) -> bytes:
        session = 0 if isinstance(message, Hello) else self._session_id
        frame = wire_frame(message, session=session, sequence=self._sequence, acknowledgement=0)
        self._sequence = (self._sequence + 1) & 0xFFFF if session else 0
        return DELIMITER + frame

    def _too_late(self) -> str:
        """Of a time that is over, and of a device that has fallen silent."""
        kind = self._expected.kind.value
        if self._state is PairingState.COMPARING:
            return f"The {kind} has fallen silent: check its cable and its power, then pair it again."
        if self._state is PairingState.CONFIRMED:
            return (
                f"The {kind} was not confirmed at its own end within {PERSON_MS // 1000} s, or fell silent: "
                "it may hold a new key that this host has not; pair it again."
            )
        return (
            f"The {kind} did not answer within {ANSWER_MS // 1000} s: "
            "check that it is switched on, its cable, its port, and that it is in pairing mode."
        )
