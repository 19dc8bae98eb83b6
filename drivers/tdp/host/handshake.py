"""What a HELLO_ANSWER comes to: a session, a refusal in a sentence, or nothing (drivers/tdp/spec.md 8.4, 9)."""

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Final

from drivers.driver import DeviceKind, Resume
from drivers.sequence import NUMBER_BITS
from drivers.tdp.codec.enums import Capability
from drivers.tdp.codec.fields import BadMessage
from drivers.tdp.codec.header import HEADER_SIZE, Header
from drivers.tdp.codec.messages import read_message
from drivers.tdp.codec.session_messages import BOOT_SIZE, Hello, HelloAnswer, Start
from drivers.tdp.host.auth import TRAILER_SIZE, NotTrusted, Seal, SealReader, key_id, session_keys
from drivers.tdp.host.identity import named, version_refusal, wrong_device
from drivers.tdp.host.session import HANDSHAKE_MS

_BOOT: Final = re.compile(f"[0-9a-f]{{{2 * BOOT_SIZE}}}")
_FIXED_MAJORS: Final = slice(HEADER_SIZE + 26, HEADER_SIZE + 30)
"""Kind, lowest and highest major, minor: the same place in HELLO_ANSWER of every major (section 9.1)."""


class AnswerDropped(Exception):
    """It is no answer to this hello: counted under `reason`, and nothing else."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class AnswerRefused(Exception):
    """This is not the device to talk to; the text is a sentence for a person."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """`extra`: unknown bytes behind the answer. `seal` and `reader` are those of an authenticated session, or None."""

    answer: HelloAnswer
    extra: int
    seal: Seal | None = None
    reader: SealReader | None = None


@dataclass(frozen=True, slots=True)
class Expected:
    """What the configuration says of the device: `serial_number` None takes any, `key` None talks plainly."""

    kind: DeviceKind
    serial_number: str | None
    key: bytes | None

    @property
    def key_id(self) -> int:
        """By which HELLO names the key; 0 for none."""
        return 0 if self.key is None else key_id(self.key)


def accepted(header: Header, body: bytes, nonce: bytes, attempts: int, expected: Expected) -> Accepted:
    """Judges an answer to the hello of `nonce`, said `attempts` times. Raises AnswerDropped, AnswerRefused."""
    answer, extra = identified(header, body, nonce, attempts, expected)
    if expected.key is None:
        if answer.capabilities & Capability.REFUSES_PLAIN:
            raise AnswerRefused(
                f"The {named(answer)} takes authenticated sessions only: pair it, and configure its key."
            )
        return Accepted(answer, extra)
    seal, reader = _proven(header, body, answer, expected.key)
    return Accepted(answer, extra, seal, reader)


def identified(header: Header, body: bytes, nonce: bytes, attempts: int, expected: Expected) -> tuple[HelloAnswer, int]:
    """The answer of the device that is configured, by its own word, and the unknown bytes behind it.

    Raises AnswerDropped, AnswerRefused.
    """
    if body[HEADER_SIZE : HEADER_SIZE + len(nonce)] != nonce or len(body) < _FIXED_MAJORS.stop:
        raise AnswerDropped("other_session")
    if header.authenticated and expected.key is None:
        raise AnswerDropped("unexpected_authentication")
    kind, lowest_major, highest_major, minor = body[_FIXED_MAJORS]
    try:
        answer, extra = read_message(header, body[:-TRAILER_SIZE] if header.authenticated else body)
    except BadMessage:
        answer, extra = None, 0
    serial_number = answer.serial_number if isinstance(answer, HelloAnswer) else ""
    refusal = version_refusal(kind, serial_number, lowest_major, highest_major, minor)
    if refusal is not None:
        raise AnswerRefused(refusal)
    if not isinstance(answer, HelloAnswer):
        raise AnswerDropped("bad_messages")
    if answer.attempt >= attempts:
        raise AnswerDropped("other_session")
    refusal = wrong_device(answer, expected.kind, expected.serial_number)
    if refusal is not None:
        raise AnswerRefused(refusal)
    return answer, extra


def _proven(header: Header, body: bytes, answer: HelloAnswer, key: bytes) -> tuple[Seal, SealReader]:
    """The two directions of a session that the device has shown to hold `key` for. Raises AnswerRefused."""
    if not answer.capabilities & Capability.OFFERS_AUTHENTICATION:
        raise AnswerRefused(
            f"A key is configured for the {named(answer)}, but it does not offer authenticated mode: "
            "it may have been exchanged; check it, and pair it anew or take the key out of the configuration."
        )
    if not header.authenticated or answer.key_id != key_id(key):
        raise AnswerRefused(
            f"The {named(answer)} does not hold the key that is configured for it: it was exchanged, or has been "
            "paired with another host since; check it, and pair it anew."
        )
    to_device, to_host = session_keys(key, nonce=answer.nonce, device_nonce=answer.device_nonce, boot=answer.boot)
    reader = SealReader(to_host)
    try:
        reader.open(header, body)
    except NotTrusted as error:
        raise AnswerRefused(
            f"What answers as the {named(answer)} names the key that is configured for it but cannot prove that it "
            "holds it: check the device, its cable and everything between, then pair it anew."
        ) from error
    return Seal(to_device), reader


class Handshake:
    """One handshake at its host: hellos until the device answers, then starts until it begins to report.

    `resume` is what START says of the last fact that is stored: boot id and number. Messages that are sent again are
    counted in `counts`.
    """

    def __init__(self, kind: DeviceKind, serial_number: str | None, counts: Counter[str]) -> None:
        self.answer: HelloAnswer | None = None
        self.resume: tuple[bytes, int] | None = None
        self.nonce = b""
        self._expected = Expected(kind, serial_number, None)
        self._counts = counts
        self._known_before = False
        self._hellos_ms: list[int] = []
        self._starts = 0

    def begin(self, nonce: bytes, key: bytes | None, resume: Resume | None) -> None:
        """The port is open. `nonce` is 8 random bytes of this connection."""
        self.nonce = nonce
        self._expected = replace(self._expected, key=key)
        self._known_before = resume is not None
        self.resume = None if resume is None else _resume_point(resume)

    def hello(self, now_ms: int) -> Hello:
        """The next HELLO; each says how many were sent before."""
        attempt = len(self._hellos_ms)
        self._hellos_ms.append(now_ms)
        if attempt:
            self._counts["hellos_sent_again"] += 1
        return Hello(nonce=self.nonce, attempt=attempt, key_id=self._expected.key_id)

    def accept(self, header: Header, body: bytes) -> Accepted:
        """The answer to one of the hellos. Raises AnswerDropped, AnswerRefused."""
        found = accepted(header, body, self.nonce, len(self._hellos_ms), self._expected)
        self.answer = found.answer
        return found

    def sent_ms(self, answer: HelloAnswer) -> int:
        """When the hello was sent that this answers."""
        return self._hellos_ms[answer.attempt]

    def start(self) -> Start:
        """The next START."""
        self._starts += 1
        if self._starts > 1:
            self._counts["starts_sent_again"] += 1
        return Start(resume=self.resume)

    @property
    def resumes(self) -> bool:
        """The device still has the boot id of the resume point: facts go on behind it."""
        return self.answer is not None and self.resume is not None and self.resume[0] == self.answer.boot

    @property
    def lost_history(self) -> bool:
        """The device was known before and has started anew since: what it had not reported is lost."""
        return self._known_before and not self.resumes


def _resume_point(resume: Resume) -> tuple[bytes, int] | None:
    """What START says of it; None where the boot id or number cannot be a TDP device's."""
    if _BOOT.fullmatch(resume.boot) is None or not 0 <= resume.number < 1 << NUMBER_BITS:
        return None
    return bytes.fromhex(resume.boot), resume.number


def no_session(kind: DeviceKind, *, answered: bool, bytes_heard: int, counts: Counter[str]) -> str:
    """Why the handshake came to nothing in its time, as far as can be told from what was heard."""
    what, seconds = kind.value, HANDSHAKE_MS // 1000
    if answered:
        return f"The {what} answered but began no session within {seconds} s: switch it off and on."
    if bytes_heard == 0:
        return (
            f"Silence: nothing came from the {what} within {seconds} s: "
            "check that it is switched on, its cable, and that this is its port."
        )
    if counts["frames_from_device"]:
        return f"The {what} sends frames but answers no hello within {seconds} s: switch it off and on."
    if counts["own_echo"]:
        return (
            f"Only this host's own bytes came back within {seconds} s: "
            f"the port leads to no {what}, or the line echoes; check the cable."
        )
    return (
        f"Junk instead of frames: bytes came within {seconds} s and no frame of TDP: "
        f"check the line's speed, and that the {what} on this port speaks TDP."
    )
