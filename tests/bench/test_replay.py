"""The replay that is measured is the session that was played."""

import sys

import pytest

from tests.bench import replay


def test_a_measured_replay_gives_the_events_of_its_session(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["replay", "2"])
    assert replay.main() == 0
    assert "replaying 2 rounds" in capsys.readouterr().out
