"""The host's end of an Angel Eye shoe as a driver: bytes and time in, reports and bytes out (spec.md section 4)."""

import enum
from collections import Counter
from typing import Final

from drivers.angel_eye.command_queue import CommandQueue
from drivers.angel_eye.draws import CuttingCard, Drawn, Draws, LockState, Meaning, Missed, Noticed
from drivers.angel_eye.telegrams import Answer, Bcc, Item, Spoilt, TelegramDecoder
from drivers.commands import Command, Outcome
from drivers.driver import (
    Alarm,
    Claims,
    CommandReport,
    DeviceKind,
    Heard,
    LinkDown,
    LinkUp,
    NumberedFact,
    Report,
    Resume,
    Step,
)
from drivers.errors import DriverNameError
from drivers.facts import CardDrawn, CutCard, DeviceFact

NAMES: Final = {Bcc.WITHOUT_STX: "angel_eye", Bcc.WITH_STX: "angel_eye_with_stx"}
CLAIMS: Final = Claims(
    kind=DeviceKind.SHOE.value,
    vendor="Angel",
    model="Angel Eye",
    serial_number="",
    firmware_version="",
    firmware_hash="",
    protocol="angel_eye",
)
"""What this protocol lets a host know: nothing of the one shoe at the other end."""
POLL_MS: Final = 1000
DOUBT_MS: Final = 2000
"""How long after a damaged copy a good one may come: three of the longest telegram take 0.8 s."""
ALARM_AGAIN_MS: Final = 60_000
SILENCE_MS: Final = 5000
HANDSHAKE_MS: Final = 10_000


class LinkStage(enum.Enum):
    """How far the connection is: asking until the shoe's first answer."""

    CLOSED = "closed"
    ASKING = "asking"
    UP = "up"
    ENDED = "ended"


class AngelEyeDriver:
    """Talks to one shoe. One object serves one connection.

    Raises DriverNameError for another kind of device, and for a serial number, which these shoes do not tell.
    """

    def __init__(self, kind: DeviceKind, serial_number: str | None, bcc: Bcc = Bcc.WITHOUT_STX) -> None:
        if kind is not DeviceKind.SHOE:
            raise DriverNameError(
                f'the driver "{NAMES[bcc]}" is for a shoe, not for a {kind.value}: name another driver'
            )
        if serial_number is not None:
            raise DriverNameError(
                f'a shoe with the driver "{NAMES[bcc]}" tells no serial number: '
                "take serial_number out of its configuration"
            )
        self._bcc = bcc
        self._stage = LinkStage.CLOSED
        self._decoder = TelegramDecoder()
        self._draws = Draws()
        self._command_queue = CommandQueue(bcc)
        self._counts: Counter[str] = Counter()
        self._boot = ""
        self._facts = 0
        self._drawn = 0
        self._opened_ms = 0
        self._heard_ms = 0
        self._poll_ms = 0
        self._bytes_heard = 0
        self._telegrams = 0
        self._refusal: str | None = None
        self._doubted_ms = 0
        self._alarmed_ms: dict[str, int] = {}
        self._reports: list[Report] = []

    @property
    def counters(self) -> dict[str, int]:
        """As every driver's: telegrams and draws that could not be used."""
        return {**self._decoder.counters, **self._draws.counters, **self._counts}

    @property
    def wake_at_ms(self) -> int | None:
        """When a question or answer is due; None while the link is not used."""
        if self._stage not in (LinkStage.ASKING, LinkStage.UP):
            return None
        times = [self._poll_ms, self._limit_ms]
        if (queue_ms := self._command_queue.wake_at_ms) is not None:
            times.append(queue_ms)
        if self._draws.in_doubt:
            times.append(self._doubted_ms + DOUBT_MS)
        return min(times)

    def opened(self, *, nonce: bytes, key: bytes | None, resume: Resume | None, now_ms: int) -> Step:
        """A boot id of its own for every connection: no shoe remembers what it has told."""
        self._boot = nonce.hex()
        self._opened_ms = self._poll_ms = now_ms
        self._stage = LinkStage.ASKING
        if key is not None:
            self._end(
                f"A shoe with the driver {NAMES[self._bcc]} knows no keys: take its key out of the configuration.",
                final=True,
            )
        return self.tick(now_ms)

    def receive(self, data: bytes, now_ms: int) -> Step:
        """Take the telegrams among the bytes."""
        self._bytes_heard += len(data)
        for item in self._decoder.feed(data):
            if self._stage in (LinkStage.CLOSED, LinkStage.ENDED):
                break
            self._item(item, now_ms)
        return self._step(now_ms)

    def durable(self, number: int, now_ms: int) -> Step:
        """The shoe keeps nothing that could be let go."""
        return self._step(now_ms)

    def ask(self, now_ms: int) -> Step:
        """Ask for the shoe's state right away."""
        if self._stage is LinkStage.UP:
            self._command_queue.ask()
        return self._step(now_ms)

    def send(self, command: Command, now_ms: int) -> Step:
        """Queue the command; refused where there is no link or the shoe cannot do it."""
        if self._stage is LinkStage.UP:
            refusal = self._command_queue.put(command)
        else:
            refusal = CommandReport(command.id, Outcome.REFUSED, "there is no session with the shoe")
        if refusal is not None:
            self._reports.append(refusal)
        return self._step(now_ms)

    def tick(self, now_ms: int) -> Step:
        """Send what is due, and give up what has waited too long."""
        if self._stage not in (LinkStage.ASKING, LinkStage.UP):
            return self._step(now_ms)
        if self._limit_ms <= now_ms:
            self._end(self._silence_sentence())
        else:
            self._reports += self._command_queue.tick(now_ms)
            if self._draws.in_doubt and self._doubted_ms + DOUBT_MS <= now_ms:
                self._told(self._draws.passed_by(None), now_ms)
            if self._poll_ms <= now_ms:
                self._poll_ms = now_ms + POLL_MS
                self._command_queue.ask()
        return self._step(now_ms)

    @property
    def _limit_ms(self) -> int:
        return self._opened_ms + HANDSHAKE_MS if self._stage is LinkStage.ASKING else self._heard_ms + SILENCE_MS

    def _item(self, item: Item, now_ms: int) -> None:
        if isinstance(item, Answer):
            self._answer(item, now_ms)
            return
        if isinstance(item, Spoilt):
            self._doubted_ms = now_ms
            self._told(self._draws.spoilt(item), now_ms)
        else:
            self._telegrams += 1
            self._heard_ms = now_ms
            self._told(self._draws.passed_by(item), now_ms)
            self._told(self._draws.take(item), now_ms)

    def _told(self, meaning: Meaning | None, now_ms: int) -> None:
        if meaning is None:
            return
        if self._stage is LinkStage.UP:
            self._meaning(meaning, now_ms)
        elif self._stage is LinkStage.ASKING:
            self._counts["before_the_session"] += 1

    def _answer(self, answer: Answer, now_ms: int) -> None:
        answered = self._command_queue.answered(answer, now_ms)
        if answered is None:
            self._counts["unasked_answers"] += 1
            return
        self._heard_ms = now_ms
        self._reports += answered.reports
        if self._stage is LinkStage.ASKING:
            if answered.accepted:
                self._stage = LinkStage.UP
                # Whatever lay before is lost, and nothing of it comes any more.
                self._reports += (LinkUp(claims=CLAIMS, boot=self._boot, gap=True), Heard(now_ms))
            else:
                self._refusal = "" if answered.code is None else f", code {chr(answered.code)}"
        elif answered.accepted and not self._draws.in_doubt:
            self._reports.append(Heard(answered.sent_ms, asked_at_ms=answered.sent_ms))

    def _meaning(self, meaning: Meaning, now_ms: int) -> None:
        match meaning:
            case Drawn(card=card):
                self._drawn += 1
                self._fact(CardDrawn(at_ms=now_ms, draw=self._drawn, card=card, face="down"))
            case CuttingCard():
                self._fact(CutCard(at_ms=now_ms))
            case LockState(locked=locked):
                self._reports += self._command_queue.lock_state(locked=locked)
            case Noticed(what=what):
                if what not in self._alarmed_ms or self._alarmed_ms[what] + ALARM_AGAIN_MS <= now_ms:
                    self._alarmed_ms[what] = now_ms
                    self._reports.append(Alarm(f"The shoe told of {what}: look at it, and at the cards on the table."))
            case Missed(why=why):
                self._end(f"Draws of the shoe may be lost: {why}.")

    def _fact(self, fact: DeviceFact) -> None:
        self._facts += 1
        self._reports.append(NumberedFact(boot=self._boot, number=self._facts, fact=fact))

    def _end(self, sentence: str, *, final: bool = False) -> None:
        self._reports += self._command_queue.close()
        self._reports.append(LinkDown(sentence, final))
        self._stage = LinkStage.ENDED

    def _silence_sentence(self) -> str:
        if self._stage is LinkStage.UP:
            return f"The shoe has said nothing for {SILENCE_MS // 1000} s: check its cable and its power."
        other = next(name for bcc, name in NAMES.items() if bcc is not self._bcc)
        seconds = HANDSHAKE_MS // 1000
        if self._refusal is not None:
            return f'The shoe refuses the question how it is{self._refusal}: try the driver "{other}".'
        if self._telegrams:
            return (
                f"The shoe sends telegrams but answered no question within {seconds} s: "
                f'check the wire that leads to it, then try the driver "{other}".'
            )
        if self._bytes_heard:
            return (
                f"Junk instead of telegrams: bytes came within {seconds} s and no telegram of a shoe: "
                "check its speed, 4800 baud as a rule, and that this is its port."
            )
        return (
            f"Silence: nothing came from the shoe within {seconds} s: "
            "check that it is switched on, its cable, and that this is its port."
        )

    def _step(self, now_ms: int) -> Step:
        to_send = self._command_queue.next(now_ms) if self._stage in (LinkStage.ASKING, LinkStage.UP) else b""
        reports, self._reports = tuple(self._reports), []
        return Step(reports, to_send)


def driver_with_stx(kind: DeviceKind, serial_number: str | None) -> AngelEyeDriver:
    """For shoes whose check character counts the STX of a command."""
    return AngelEyeDriver(kind, serial_number, Bcc.WITH_STX)
