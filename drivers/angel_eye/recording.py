"""Recorded bytes of an Angel Eye shoe, read without a session."""

from drivers.angel_eye.draws import CuttingCard, Drawn, Draws
from drivers.angel_eye.telegrams import Answer, Spoilt, TelegramDecoder
from drivers.facts import CardDrawn, CutCard, DeviceFact


class AngelEyeRecording:
    """Facts in the order of the recording, which has no times: every `at_ms` is 0."""

    def __init__(self) -> None:
        self._decoder = TelegramDecoder()
        self._draws = Draws()
        self._drawn = 0
        self._answers = 0

    @property
    def counters(self) -> dict[str, int]:
        """What could not be read, by reason."""
        answers = {"answers": self._answers} if self._answers else {}
        return {**self._decoder.counters, **self._draws.counters, **answers}

    def feed(self, data: bytes) -> list[DeviceFact]:
        """The facts in the next bytes."""
        facts: list[DeviceFact] = []
        for item in self._decoder.feed(data):
            if isinstance(item, Answer):
                self._answers += 1
                continue
            if isinstance(item, Spoilt):
                self._draws.spoilt(item)
                continue
            self._draws.passed_by(item)
            meaning = self._draws.take(item)
            if isinstance(meaning, Drawn):
                self._drawn += 1
                facts.append(CardDrawn(at_ms=0, draw=self._drawn, card=meaning.card, face="down"))
            elif isinstance(meaning, CuttingCard):
                facts.append(CutCard(at_ms=0))
        return facts

    def cut(self) -> list[DeviceFact]:
        """As `Recording` states. Copies of a telegram may come on both sides of the cut."""
        if self._decoder.pending:
            self._draws.counters["bytes_of_an_unfinished_telegram"] += self._decoder.pending
        self._decoder.cut()
        return []

    def end(self) -> list[DeviceFact]:
        """The recording is over."""
        return self.cut()
