import json
import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from firmware_bridge.cli.errors import CommandError
from firmware_bridge.cli.offline import diagram, house, rank, settle


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
