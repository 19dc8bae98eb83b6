"""`firmware-bridge judge`: rows on standard output, sentences on standard error, and the status."""

import json
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firmware_bridge import cli
from tests.firmware_bridge.core.table.recording import Recording

CLEAN = "".join(json.dumps(fact) + "\n" for fact in Recording().open([1, 2]).deal().reveal().facts)


class Judged:
    """Runs the command in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], folder: Path) -> None:
        self._monkeypatch = monkeypatch
        self._capfd = capfd
        self.folder = folder
        self.status = 0
        self.rows: list[dict[str, object]] = []
        self.sentences = ""

    def write(self, name: str, text: str | bytes) -> str:
        path = self.folder / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return str(path)

    def run(self, *arguments: str) -> "Judged":
        self._monkeypatch.setattr(sys, "argv", ["firmware-bridge", "judge", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        self.status = int(ended.value.code or 0)
        out, self.sentences = self._capfd.readouterr()
        assert "Traceback" not in self.sentences
        self.rows = [json.loads(line) for line in out.splitlines()]
        return self


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Judged:
    return Judged(monkeypatch, capfd, tmp_path)


def test_a_row_a_round(judged: Judged) -> None:
    judged.run("--house", "licensed", judged.write("facts.jsonl", CLEAN))
    assert (judged.status, judged.sentences) == (0, "")
    assert judged.rows == [
        {
            "round": 1,
            "outcome": "dealt",
            "reason": None,
            "seats": {
                "1": hand("2c", "2d", "2h", named="three_of_a_kind"),
                "2": hand("2s", "3c", "3d", named="pair"),
                "dealer": hand("3h", "3s", "4c", named="pair"),
            },
            "flags": [],
            "deck": "in",
        }
    ]


def hand(*cards: str, named: str) -> dict[str, object]:
    return {"cards": list(cards), "count": 3, "verdict": "ok", "hand": named, "evidence": "taken"}


def test_a_flag_as_it_is_printed(judged: Judged) -> None:
    recording = Recording().open([1]).group(1, ("As", None, "Ks"))
    facts = "".join(json.dumps(fact) + "\n" for fact in recording.facts)
    judged.run("--house", "licensed", judged.write("facts.jsonl", facts))
    assert judged.rows[0]["flags"] == [{"irregularity": "unread_card", "seat": 1, "at_ms": 2000, "ruling": "continue"}]


def test_standard_input(judged: Judged, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with Path(judged.write("facts.jsonl", CLEAN)).open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        judged.run("--house", "licensed", "-")
    assert judged.status == 0
    assert len(judged.rows) == 1


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"{", "not JSON"),
        (b"[]", "not a good fact"),
        (b"\xff\xfe", "not JSON"),
        (b'{"at_ms": 1, "source": "operator", "fact": "seats"}', "missing required field `seats`"),
        (b'{"at_ms": -1, "source": "operator", "fact": "seats", "seats": [1]}', "at_ms"),
        (b'{"at_ms": 1, "source": "operator", "fact": "seats", "seats": ["dealer"]}', "$.seats[0]"),
        (b'{"at_ms": 1, "source": "shoe", "fact": "card_drawn", "draw": 1, "card": "1h", "face": "down"}', "card"),
        (b'{"at_ms": 1, "source": "shoe", "fact": "card_drawn", "draw": 1, "card": "Ah", "face": "side"}', "face"),
        (b'{"at_ms": 1, "source": "operator", "fact": "alarm_acknowledged", "alarm": "fire"}', "alarm"),
        (b"[" * 100_000, "not"),
        (b'{"at_ms": 1' + b"0" * 5000 + b"}", "not"),
    ],
)
def test_a_bad_line_is_named_and_skipped(judged: Judged, line: bytes, told: str) -> None:
    judged.run("--house", "licensed", judged.write("facts.jsonl", line + b"\n\n" + CLEAN.encode()))
    assert judged.status == 2
    assert "line 1:" in judged.sentences
    assert told in judged.sentences
    assert [row["outcome"] for row in judged.rows] == ["dealt"]


def test_a_fact_that_does_not_fit_leaves_the_status_alone(judged: Judged) -> None:
    ruling = {"at_ms": 10**6, "source": "operator", "fact": "ruling", "ruling": "continue"}
    judged.run("--house", "licensed", judged.write("facts.jsonl", CLEAN + json.dumps(ruling) + "\n"))
    number = len(CLEAN.splitlines()) + 1
    assert judged.status == 0
    assert judged.sentences == (
        f"firmware-bridge: line {number}: nothing is held: there is nothing for the floor to rule on\n"
    )


def test_unknown_facts_are_counted_and_unknown_fields_ignored(judged: Judged) -> None:
    unknown = '{"at_ms": 0, "source": "shoe", "fact": "hum\\u001b[31m"}\n' * 2
    known = CLEAN.replace('"at_ms"', '"colour": "red", "at_ms"')
    judged.run("--house", "licensed", judged.write("facts.jsonl", unknown + known))
    assert judged.status == 0
    assert "hum\\x1b[31m (2)" in judged.sentences
    assert [row["flags"] for row in judged.rows] == [[]]


def test_a_recording_of_its_own_start(judged: Judged) -> None:
    line = '{"at_ms": 0, "source": "bridge", "fact": "started", "version": "0", "house": {}, "table": {}}\n'
    judged.run("--house", "licensed", judged.write("facts.jsonl", line + CLEAN))
    assert (judged.status, judged.sentences) == (0, "")
    assert len(judged.rows) == 1


def test_no_round_at_all(judged: Judged) -> None:
    judged.run("--house", "licensed", judged.write("facts.jsonl", ""))
    assert (judged.status, judged.rows, judged.sentences) == (0, [], "")


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ('deal = "by hand"', "deal is wrong"),
        ('deal = "group"\ndecks = 9', "decks is wrong"),
        ('deal = "group"\nseats = "7"', "seats is wrong"),
        ('deal = "group"\nnoise = 1', "noise"),
        ("decks = 1", "deal"),
        ("deal =", "is not TOML"),
        ('deal = "group"\ndecks = 4', "decks"),
        ('deal = "group"\nschedule = 9', "schedule"),
    ],
)
def test_a_table_that_cannot_be_used(judged: Judged, table: str, told: str) -> None:
    judged.run("--house", "licensed", "--table", judged.write("table.toml", table), judged.write("f.jsonl", CLEAN))
    assert judged.status != 0
    assert told in judged.sentences
    assert judged.sentences.count("\n") == 1
    assert judged.rows == []


@pytest.mark.parametrize("missing", ["--table", "facts"])
def test_a_file_that_is_not_there(judged: Judged, missing: str) -> None:
    facts = str(judged.folder / "nothing") if missing == "facts" else judged.write("facts.jsonl", CLEAN)
    table = ["--table", str(judged.folder / "nothing")] if missing == "--table" else []
    judged.run("--house", "licensed", *table, facts)
    assert judged.status != 0
    assert "nothing cannot be read: No such file" in judged.sentences
    assert judged.sentences.count("\n") == 1


def test_a_house_that_is_not_there(judged: Judged) -> None:
    judged.run("--house", "of cards", judged.write("facts.jsonl", CLEAN))
    assert judged.status != 0
    assert "of cards" in judged.sentences


@given(st.binary(max_size=300))
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_any_bytes_at_all(judged: Judged, noise: bytes) -> None:
    judged.run("--house", "licensed", judged.write("facts.jsonl", noise + b"\n" + CLEAN.encode()))
    assert judged.status in (0, 2)
    assert [row["outcome"] for row in judged.rows] == ["dealt"]
