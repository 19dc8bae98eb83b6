"""F53: a storm of one line does not drown the others."""

from typing import Any

import pytest
import structlog

from firmware_bridge.logs import BurstLimit


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class Log:
    """What a limit lets through."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.limit = BurstLimit(lines=3, window_s=10, now_s=self.clock)
        self.shown: list[dict[str, Any]] = []

    def say(self, level: str, event: str) -> None:
        try:
            self.shown.append(dict(self.limit(None, level, {"event": event})))
        except structlog.DropEvent:
            return


@pytest.fixture
def log() -> Log:
    return Log()


def test_f53_one_line_in_a_storm_is_cut_and_counted(log: Log) -> None:
    for _ in range(1000):
        log.say("warning", "waiting for the shoe")
    log.say("warning", "the shuffler is connected")
    assert [line["event"] for line in log.shown] == ["waiting for the shoe"] * 3 + ["the shuffler is connected"]
    assert log.shown[-1]["suppressed"] == 997


def test_f53_the_next_window_shows_it_again(log: Log) -> None:
    for _ in range(5):
        log.say("info", "event")
    log.clock.now_s = 10
    log.say("info", "event")
    assert log.shown[-1] == {"event": "event", "suppressed": 2}
    log.say("info", "event")
    assert "suppressed" not in log.shown[-1]


def test_f53_two_sentences_under_one_key_are_two_kinds(log: Log) -> None:
    for sentence in ("the shoe is out", "the shuffler is out"):
        shown = [log.limit(None, "warning", {"event": "device_waiting", "sentence": sentence}) for _ in range(3)]
        assert [line["sentence"] for line in shown] == [sentence] * 3


@pytest.mark.parametrize("level", ["error", "critical", "debug"])
def test_f53_errors_are_never_cut_nor_what_somebody_asked_for(log: Log, level: str) -> None:
    for _ in range(10):
        log.say(level, "dealing is held")
    assert len(log.shown) == 10
