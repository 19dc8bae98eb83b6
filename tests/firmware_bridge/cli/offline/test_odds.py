import json
from pathlib import Path

import pytest

from firmware_bridge import cli

CASES = sorted((Path(__file__).parents[3] / "cases" / "odds").glob("*.json"))


def odds(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run the command, as `firmware-bridge odds ARGUMENTS`; the exit status."""
    monkeypatch.setattr("sys.argv", ["firmware-bridge", "odds", *arguments])
    monkeypatch.setenv("COLUMNS", "120")
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


@pytest.mark.parametrize("file", CASES, ids=lambda file: file.stem)
def test_worked_cases(file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    case = json.loads(file.read_text())
    assert odds(monkeypatch, *case["odds"], "--json") == 0
    found = json.loads(capsys.readouterr().out)
    for wager, expected in case["expect"].items():
        for key, value in expected.items():
            assert found[wager][key] == (pytest.approx(value, abs=1e-6) if isinstance(value, float) else value)


def test_the_object_says_which_game_it_is_of(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert odds(monkeypatch, "--house", "player-dealer", "--decks", "2", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["house"], found["schedule"], found["decks"]) == ("player-dealer", 1, 2)
    assert found["ante_play"]["play_from"] is None
    assert found["pair_plus"] is None
    assert found["six_card"] is None


def test_people_get_a_table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert odds(monkeypatch, "--house", "six-card") == 0
    told = capsys.readouterr().out
    for part in ("3.372981%", "play Q-6-4 or better", "7.276018%", "-1,608", "20,358,520", "2.014672%"):
        assert part in told


def test_the_lowest_hand_to_play_may_be_better_than_a_high_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where only an ace makes the dealer qualify, every hand is played: the lowest is 5-3-2."""
    file = _own_house(tmp_path, '"Q"', '"A"')
    assert odds(monkeypatch, "--house", file, "--json") == 0
    assert json.loads(capsys.readouterr().out)["ante_play"]["play_from"] == "5-3-2"


def test_a_house_file_with_a_pay_table_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """30 to 1 lowered to 20 for 52 hands takes 520 units from the player."""
    file = _own_house(tmp_path, "three_of_a_kind = 30", "three_of_a_kind = 20")
    assert odds(monkeypatch, "--house", file, "--json") == 0
    assert json.loads(capsys.readouterr().out)["pair_plus"]["numerator"] == -512 - 520


def _own_house(folder: Path, old: str, new: str) -> str:
    licensed = Path(cli.__file__).parents[1] / "houses" / "licensed.toml"
    text = licensed.read_text("utf-8")
    assert old in text
    file = folder / "own.toml"
    file.write_text(text.replace(old, new, 1), "utf-8")
    return str(file)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--house", "nowhere"], "there is no house 'nowhere'"),
        (["--house", "licensed", "--schedule", "7"], "has no schedule 7"),
        (["--house", "licensed", "--decks", "4"], "the player has the edge"),
        (["--house", "licensed", "--decks", "0"], "decks, not 0"),
        (["--house", "player-dealer", "--decks", "9"], "plays with 1 to 8 decks, not 9"),
        (["--house", "licensed", "--option", "coverage=gross"], "has no option 'coverage'"),
        (["--house", "player-dealer", "--option", "nonqualify"], "write --option NAME=VALUE"),
        (["--house", "player-dealer", "--option", "nonqualify=never"], "does not offer nonqualify = 'never'"),
    ],
)
def test_a_game_that_cannot_be_is_one_sentence(
    arguments: list[str], told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert odds(monkeypatch, *arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert told in err
    assert err.count("\n") == 1


def test_how_far_a_wager_covers_has_no_bearing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = []
    for coverage in ("gross", "bankroll"):
        assert odds(monkeypatch, "--house", "player-dealer", "--option", f"coverage={coverage}", "--json") == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]


def test_a_terminal_is_shown_how_far_it_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    assert odds(monkeypatch, "--house", "player-dealer", "--json") == 0
    out, err = capsys.readouterr()
    assert "Playing every hand" in err
    json.loads(out)
