"""`firmware-bridge decode`, as a person calls it."""

import io
import json
import sys
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from firmware_bridge.cli import main
from tests.drivers.angel_eye.wire import told

WIRE = b"\xff" + told("1", "D", "81B8") + told("2", "C") + told("3", "E", "C1")


def run(mocker: MockerFixture, *arguments: str) -> int:
    mocker.patch.object(sys, "argv", ["firmware-bridge", "decode", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_facts_line_by_line_and_the_counters_last(
    tmp_path: Path, mocker: MockerFixture, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    file = tmp_path / "stream.bin"
    file.write_bytes(WIRE)
    assert run(mocker, "--driver", "angel_eye", str(file)) == 0
    lines = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert lines == [
        {"fact": "card_drawn", "at_ms": 0, "source": "shoe", "draw": 1, "card": "8s", "face": "down"},
        {"fact": "cut_card", "at_ms": 0, "source": "shoe"},
        {"fact": "card_drawn", "at_ms": 0, "source": "shoe", "draw": 2, "card": None, "face": "down"},
        {"counters": {"errors_set": 1, "junk_bytes": 1, "repeated_telegrams": 6}},
    ]


def test_standard_input_is_read(mocker: MockerFixture, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    mocker.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(WIRE)))
    assert run(mocker, "--driver", "angel_eye_with_stx", "-") == 0
    assert len(capfdbinary.readouterr().out.splitlines()) == 4


@pytest.mark.parametrize(
    ("driver", "file", "words"),
    [
        ("angle_eye", "/dev/null", 'there is no driver "angle_eye" that reads recordings: name one of angel_eye, '),
        ("angel_eye", "/no/such/file", "/no/such/file cannot be read: No such file or directory"),
        ("angel_eye", "/", "/ cannot be read: Is a directory"),
    ],
)
def test_what_cannot_be_read_is_told_in_a_sentence(
    mocker: MockerFixture, capfd: pytest.CaptureFixture[str], driver: str, file: str, words: str
) -> None:
    assert run(mocker, "--driver", driver, file) == 2
    told_out, told_err = capfd.readouterr()
    assert told_out == ""
    assert words in told_err
    assert told_err.count("\n") == 1
