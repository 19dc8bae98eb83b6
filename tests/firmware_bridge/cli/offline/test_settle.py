import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from firmware_bridge.cli.errors import CommandError
from firmware_bridge.cli.offline import diagram, house, rank, settle

CASES = Path(__file__).parents[3] / "cases"
GOOD = json.dumps(json.loads((CASES / "settle" / "own-tie-in-other-suits.json").read_text())["settle"])
BAD = json.dumps(json.loads((CASES / "refused" / "unknown-house.json").read_text())["settle"])


def run(*arguments: str, text: str | bytes | None = None) -> Result:
    app = typer.Typer()
    app.callback()(lambda: None)
    for command in (settle, rank, house, diagram):
        command.register(app)
    return CliRunner().invoke(app, arguments, input=text)


def refusal(*arguments: str, text: str | bytes | None = None) -> CommandError:
    done = run(*arguments, text=text)
    assert isinstance(done.exception, CommandError)
    assert "\n" not in str(done.exception)
    return done.exception


def test_settle_answers_each_line_in_its_place() -> None:
    done = run("settle", "-", text=f"{GOOD}\n\n{BAD}\nnot json\n{GOOD}\n")
    assert done.exit_code == 2
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert ["refused" in line for line in lines] == [False, True, True, False]
    assert lines[0]["seats"]["1"]["net"] == -5
    assert "case 2: there is no house 'atlantis'" in done.stderr
    assert "case 3: the case is not JSON" in done.stderr


def test_settle_reads_one_case_over_several_lines(tmp_path: Path) -> None:
    file = tmp_path / "case.json"
    file.write_text(json.dumps(json.loads(GOOD), indent=2))
    done = run("settle", str(file))
    assert done.exit_code == 0
    assert len(done.stdout.splitlines()) == 1


def test_settle_refuses_a_broken_case_once(tmp_path: Path) -> None:
    file = tmp_path / "case.json"
    file.write_text(json.dumps(json.loads(GOOD), indent=2)[:-3])
    done = run("settle", str(file))
    assert done.exit_code == 2
    assert len(done.stdout.splitlines()) == 1


def test_settle_says_when_there_is_nothing_to_read(tmp_path: Path) -> None:
    assert refusal("settle", str(tmp_path / "no.json")).status == 2
    assert refusal("settle", str(tmp_path)).status == 2
    assert "holds no case" in str(refusal("settle", "-", text=" \n"))


@pytest.mark.parametrize("text", [b"\xff\xfe", b"\x00", b"[" * 100_000, b'{"house": "\\ud800"}', b"1e999"])
def test_settle_takes_any_bytes_calmly(text: bytes) -> None:
    done = run("settle", "-", text=text)
    assert done.exit_code == 2
    assert json.loads(done.stdout)["refused"]
