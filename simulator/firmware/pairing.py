"""The device's end of pairing (9.4): one exchange for each time that a person puts it into pairing mode."""

import hashlib
import hmac
from dataclasses import dataclass
from typing import Final

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from drivers.tdp.codec.enums import StopReason
from drivers.tdp.codec.messages import DeviceMessage, HostMessage
from drivers.tdp.codec.pairing_messages import (
    PairCommit,
    PairConfirm,
    PairDone,
    PairKey,
    PairReveal,
    PairStop,
    PairStopped,
)
from simulator.firmware.device_auth import KEY_SIZE, DeviceAuth, confirmation, fingerprint, hkdf

PAIRING_MODE_MS: Final = 120_000


@dataclass(slots=True)
class _Exchange:
    private: X25519PrivateKey
    until_ms: int
    commitment: bytes | None = None
    host_public: bytes | None = None
    key: bytes | None = None
    confirmed_here: bool = False
    confirmed_there: bool = False

    @property
    def public(self) -> bytes:
        return self.private.public_key().public_bytes_raw()


class PairingQueue:
    """`fingerprint` is what the device shows while there is something to compare."""

    def __init__(self, guard: DeviceAuth) -> None:
        self._auth = guard
        self._exchange: _Exchange | None = None
        self._done: PairDone | None = None

    @property
    def fingerprint(self) -> str | None:
        """The digits that the device shows now; None where it shows none."""
        exchange = self._exchange
        if exchange is None or exchange.host_public is None:
            return None
        return fingerprint(exchange.host_public, exchange.public)

    @property
    def until_ms(self) -> int | None:
        """When pairing mode ends by itself; None outside it."""
        return None if self._exchange is None else self._exchange.until_ms

    def enter(self, now_ms: int) -> None:
        """A person has pressed what only a person can."""
        private = X25519PrivateKey.from_private_bytes(self._auth.random_bytes(KEY_SIZE))
        self._exchange = _Exchange(private, now_ms + PAIRING_MODE_MS)
        self._done = None

    def confirm(self) -> DeviceMessage | None:
        """The person has found the digits equal; what is to be said."""
        if self._exchange is None or self._exchange.key is None:
            return None
        self._exchange.confirmed_here = True
        return self._finish()

    def decline(self) -> DeviceMessage | None:
        """A person has pressed no; what the host is told of it."""
        return None if self._exchange is None else self._stop(StopReason.DECLINED)

    def session_over(self) -> None:
        """Its end is that of an exchange which has begun, and of the answers to its last step."""
        self._done = None
        if self._exchange is not None and self._exchange.commitment is not None:
            self._exchange = None

    def tick(self, now_ms: int) -> DeviceMessage | None:
        """The time is now `now_ms`: what the host is told where pairing has taken too long."""
        if self._exchange is None or now_ms < self._exchange.until_ms:
            return None
        return self._stop(StopReason.TIME_OVER)

    def take(self, message: HostMessage) -> DeviceMessage | None:
        """One step of the host's, and the answer to it."""
        if isinstance(message, PairConfirm) and self._done is not None:
            return self._done
        exchange = self._exchange
        if isinstance(message, PairStop):
            self._exchange = None
            return None
        if exchange is None:
            return PairStopped(reason=StopReason.NOT_PAIRING)
        match message:
            case PairCommit(commitment=commitment):
                if exchange.commitment not in (None, commitment):
                    return self._stop(StopReason.BROKEN_COMMITMENT)
                exchange.commitment = commitment
                return PairKey(device_public=exchange.public)
            case PairReveal(host_public=host_public) if exchange.commitment is not None:
                return self._revealed(exchange, host_public)
            case PairConfirm(confirmation=said) if exchange.key is not None:
                if not hmac.compare_digest(said, confirmation(exchange.key, b"host")):
                    return self._stop(StopReason.WRONG_CONFIRMATION)
                exchange.confirmed_there = True
                return self._finish()
        return None

    def _revealed(self, exchange: _Exchange, host_public: bytes) -> DeviceMessage | None:
        if hashlib.sha256(b"TDP1 commitment" + host_public).digest() != exchange.commitment:
            return self._stop(StopReason.BROKEN_COMMITMENT)
        try:
            shared = exchange.private.exchange(X25519PublicKey.from_public_bytes(host_public))
        except ValueError:
            return self._stop(StopReason.BROKEN_COMMITMENT)
        exchange.host_public = host_public
        exchange.key = hkdf(shared, b"TDP1 pairing", host_public + exchange.public, KEY_SIZE)
        return None

    def _finish(self) -> DeviceMessage | None:
        exchange = self._exchange
        if exchange is None or exchange.key is None or not (exchange.confirmed_here and exchange.confirmed_there):
            return None
        self._auth.key = exchange.key
        self._done = PairDone(confirmation=confirmation(exchange.key, b"device"))
        self._exchange = None
        return self._done

    def _stop(self, reason: StopReason) -> PairStopped:
        self._exchange = None
        return PairStopped(reason=reason)
