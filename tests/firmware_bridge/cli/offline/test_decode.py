"""`firmware-bridge decode`, as a person calls it."""

import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from drivers.transports.pcapng import CaptureWriter, Piece
from firmware_bridge.cli import main
from tests.contract.test_drivers import TestTdp as Tdp
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


def record(file: Path, *connections: Sequence[bytes]) -> None:
    """As the daemon does, with what the host wrote in between."""
    writer = CaptureWriter(file)
    for number, pieces in enumerate(connections):
        writer.begin(port="serial:/dev/x", device="shoe", nonce=number.to_bytes(8, "big"))
        for at_ns, data in enumerate(pieces):
            writer.put(Piece(at_ns, to_host=False, data=b"\x05\x00said by the host\x00"))
            writer.put(Piece(at_ns, to_host=True, data=data))
    writer.close()


def test_what_capture_recorded_is_read_connection_by_connection(
    tmp_path: Path, mocker: MockerFixture, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """The first breaks off within a telegram, and the second says a part of what it said once more."""
    eight, ace = told("1", "D", "81B8"), told("2", "D", "82C1")
    record(tmp_path / "shoe.pcapng", [eight[:3], eight[3:] + ace[:5]], [eight[-8:], ace, told("3", "C")])
    assert run(mocker, "--driver", "angel_eye", str(tmp_path / "shoe.pcapng")) == 0
    lines = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert [line.get("card", line["fact"]) for line in lines[:-1]] == ["8s", "Ah", "cut_card"]
    counters = {"bytes_of_an_unfinished_telegram": 4, "repeated_telegrams": 2 + 1 + 2 + 2}
    assert lines[-1] == {"counters": counters}


def test_facts_that_were_sent_again_in_the_next_connection_are_told_once(
    tmp_path: Path, mocker: MockerFixture, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    bench = Tdp().session()
    bench.deal(10, every_ms=100)
    first = len(bench.recorded)
    cut_off = bench.recorded[first - 1][:-1]
    bench.pull()
    bench.deal(10, every_ms=100)
    bench.run(5_000)
    assert len(bench.connections) == 2
    whole = bench.recorded[:first]
    again = whole[len(whole) // 2 :]
    record(tmp_path / "shoe.pcapng", [*whole, cut_off], [*again, *bench.recorded[first:]])
    mocker.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO((tmp_path / "shoe.pcapng").read_bytes())))
    assert run(mocker, "--driver", "tdp", "-") == 0
    *facts, counters = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert [fact["card"] for fact in facts] == [None if card is None else str(card) for card in bench.drawn]
    assert counters["counters"]["repeated_facts"] > 0
    assert "frames_of_the_host" not in counters["counters"]


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


def test_a_recording_of_another_program_is_told_so(
    tmp_path: Path, mocker: MockerFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    record(tmp_path / "shoe.pcapng", [b"x"])
    data = (tmp_path / "shoe.pcapng").read_bytes()
    (tmp_path / "other.pcapng").write_bytes(data.replace(b"nonce ", b"comet "))
    assert run(mocker, "--driver", "angel_eye", str(tmp_path / "other.pcapng")) == 2
    assert "other.pcapng is no recording of this program's" in capfd.readouterr().err
