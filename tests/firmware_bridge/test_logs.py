"""Log lines: JSON where no terminal is, and nothing of an error's own text."""

import ast
import errno
import io
import json
import logging
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from firmware_bridge.logs import LogEvent, LogLevel, start_logs

PRODUCT = Path(__file__).parents[2] / "firmware_bridge"


@pytest.fixture
def out() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    before = root.handlers[:], root.level
    yield io.StringIO()
    structlog.reset_defaults()
    root.handlers[:], root.level = before


def lines(out: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_a_line_is_json_with_its_level_and_time(out: io.StringIO) -> None:
    start_logs(LogLevel.INFO, out)
    structlog.get_logger("x").bind(device="shoe").warning("waiting", tries=3)
    structlog.get_logger("x").debug("fact")
    (line,) = lines(out)
    assert line.pop("timestamp").endswith("Z")
    assert line == {"event": "waiting", "level": "warning", "device": "shoe", "tries": 3}


def test_what_libraries_log_comes_along_without_the_text_of_errors(out: io.StringIO) -> None:
    start_logs(LogLevel.INFO, out)
    try:
        int("Qh")
    except ValueError:
        logging.getLogger("asyncio").exception("a task failed\nTask with Qh")
    (line,) = lines(out)
    assert line["library"] == "asyncio"
    assert line["error"] == "ValueError"
    assert line["where"].startswith("test_logs.py line ")
    assert "Qh" not in out.getvalue()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_a_line_is_for_people() -> None:
    out = Terminal()
    start_logs(LogLevel.INFO, out)
    structlog.get_logger("x").info("ready")
    structlog.reset_defaults()
    assert "ready" in out.getvalue()
    assert "{" not in out.getvalue()


def test_in_the_journal_a_line_has_its_weight_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "stream").open("w+") as stream:
        there = os.fstat(stream.fileno())
        monkeypatch.setenv("JOURNAL_STREAM", f"{there.st_dev}:{there.st_ino}")
        start_logs(LogLevel.INFO, stream)
        structlog.get_logger("x").error("dealing is held")
        structlog.get_logger("x").info("ready")
        structlog.reset_defaults()
        stream.flush()
        stream.seek(0)
        assert [line[:4] for line in stream] == ["<3>{", "<6>{"]


def test_f53_a_storm_of_lines_is_cut(out: io.StringIO) -> None:
    start_logs(LogLevel.INFO, out)
    for _ in range(1000):
        structlog.get_logger("x").warning("waiting for the shoe")
    structlog.get_logger("x").info("ready")
    told = lines(out)
    assert len(told) < 200
    assert told[-1]["suppressed"] == 1001 - len(told)


class Full(io.StringIO):
    """A file on a disk that may be full."""

    full = False

    def flush(self) -> None:
        if self.full:
            self.seek(0)
            self.truncate()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_line_that_cannot_be_written_is_lost_and_counted() -> None:
    out = Full()
    start_logs(LogLevel.INFO, out)
    out.full = True
    for _ in range(3):
        structlog.get_logger("x").error("dealing is held: the disk is full")
    out.full = False
    structlog.get_logger("x").info("there is room")
    structlog.get_logger("x").info("on it goes")
    structlog.reset_defaults()
    assert [line.get("lost") for line in lines(out)] == [3, None]


def test_a_closed_log_stops_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    start_logs(LogLevel.INFO, out)
    out.close()
    structlog.get_logger("x").info("ready")
    monkeypatch.setattr("sys.stderr", None)
    start_logs(LogLevel.INFO)
    structlog.get_logger("x").info("ready")
    structlog.reset_defaults()


def test_on_a_terminal_the_sentence_stands_in_place_of_the_key() -> None:
    out = Terminal()
    start_logs(LogLevel.INFO, out)
    structlog.get_logger("x").warning(LogEvent.DEVICE_WAITING, sentence="waiting for the shoe: plug it in")
    structlog.reset_defaults()
    assert "waiting for the shoe: plug it in" in out.getvalue()
    assert "sentence" not in out.getvalue()
    assert "device_waiting" not in out.getvalue()


def test_elsewhere_the_key_and_the_sentence_are_fields(out: io.StringIO) -> None:
    start_logs(LogLevel.INFO, out)
    structlog.get_logger("x").warning(LogEvent.DEVICE_WAITING, sentence="waiting for the shoe")
    (line,) = lines(out)
    assert (line["event"], line["sentence"]) == ("device_waiting", "waiting for the shoe")


def test_the_paper_names_every_key_and_no_other() -> None:
    rows = re.findall(r"^\| `([a-z_]+)` \|", (PRODUCT / "LOGS.md").read_text(), re.MULTILINE)
    assert sorted(rows) == sorted(LogEvent)


def test_nothing_is_logged_without_a_key() -> None:
    """The first thing that a logger is given is never a text of its own."""
    texts = []
    for file in PRODUCT.rglob("*.py"):
        for call in ast.walk(ast.parse(file.read_text())):
            if isinstance(call, ast.Call) and _is_logging(call.func) and call.args:
                first = call.args[0]
                if isinstance(first, ast.Constant | ast.JoinedStr | ast.BinOp):
                    texts.append(f"{file.name} line {call.lineno}")
    assert texts == []


def _is_logging(called: ast.expr) -> bool:
    if not isinstance(called, ast.Attribute) or called.attr not in {"debug", "info", "warning", "error", "critical"}:
        return False
    return ast.unparse(called.value).endswith("_log") or "get_logger" in ast.unparse(called.value)
