import json
import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from firmware_bridge.cli.errors import CommandError
from firmware_bridge.cli.offline import diagram, house, rank, settle
from firmware_bridge.core.game.machine import mermaid

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


def test_rank_names_three_cards_or_six() -> None:
    assert run("rank", "Qh", "Qd", "4s").stdout == "pair\n"
    assert run("rank", "Ah 2h 3h").stdout == "straight_flush\n"
    assert run("rank", "Qh", "Qd", "4s", "4c", "4d", "Kc").stdout == "full_house\n"
    assert run("rank", "Qh", "Td", "4s", "2c", "9d", "Kc").stdout == "nothing\n"


@pytest.mark.parametrize("cards", [["Qh"], ["Qh", "Qd", "4s", "4c"], ["1h", "2h", "3h"], ["qh", "2h", "3h"]])
def test_rank_refuses_what_is_no_hand(cards: list[str]) -> None:
    assert refusal("rank", *cards).status == 2


def test_diagram_prints_the_machine() -> None:
    assert run("diagram").stdout == mermaid()


@pytest.mark.parametrize("name", ["classic", "licensed", "player-dealer", "six-card"])
def test_house_check_tells_every_rule_with_its_source(name: str) -> None:
    done = run("house", "check", name)
    assert done.exit_code == 0
    first, *sentences = done.stdout.splitlines()
    assert first.startswith(f"The house {name}, after: ")
    assert len(sentences) > 40
    assert all(re.search(r"\. \[.+\]$", sentence) for sentence in sentences)
    assert "no source" not in done.stdout


def test_house_check_refuses_a_bad_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('name = "mine"\ncolour = "green"\n')
    assert "mine.toml, line 2: colour" in str(refusal("house", "check", str(file)))


def test_house_compare_shows_what_differs_and_nothing_else() -> None:
    table = json.loads(run("house", "compare", "--json").stdout)
    assert table["settlement.nonqualify_play"] == {
        "classic": "push",
        "licensed": "push",
        "player-dealer": "returned",
        "six-card": "push",
    }
    assert table["policy.exposed_card.dealer"]["classic"] == "hold"
    assert table["position.coverage"]["licensed"] == "-"
    assert "settlement.qualifies_with" not in table
    assert all(len(set(row.values())) > 1 for row in table.values())
    shown = run("house", "compare", "licensed", "classic").stdout
    assert "folds.counted" in shown
    assert "position.coverage" not in shown


def test_a_house_is_like_itself() -> None:
    assert json.loads(run("house", "compare", "licensed", "licensed", "--json").stdout) == {}


def test_house_list_names_the_four() -> None:
    names = [line.split(":")[0] for line in run("house", "list").stdout.splitlines()]
    assert names == ["classic", "licensed", "player-dealer", "six-card"]
