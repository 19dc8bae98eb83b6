"""`firmware-bridge journal show`: a round for people, sealed where it is."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from drivers.cards import Card
from firmware_bridge.cli.errors import CommandError
from firmware_bridge.cli.offline import journal as journal_command
from firmware_bridge.core import events as ev
from firmware_bridge.core.facts import Started, Wager
from firmware_bridge.journal.keys import load_keys
from firmware_bridge.journal.rows import Apply, Origin, Receive, encoded
from firmware_bridge.journal.store import Store
from tests.firmware_bridge.journal.facts_and_events import draw, origin


@pytest.fixture
def table(tmp_path: Path) -> Store:
    """A journal that is being written: two rounds, the second one open."""
    store = Store.open(tmp_path / "table.journal", load_keys(tmp_path / "key"))
    started = Started(at_ms=0, version="1", house=b'{"name":"licensed"}', table=b"{}")  # type: ignore[arg-type]
    wager = Wager(at_ms=61_001, seat=2, ante=500)
    refused = ev.FactRefused(seq=3, round=1, source="operator", fact="decision", sentence="seat 4 is not in play")
    store.commit(
        [
            Receive(1, Origin("bridge", "run", 1), started, 0),
            Apply(1, ()),
            Receive(2, Origin("operator", "id-1", 0), wager, 61_001, "dealer"),
            Apply(
                2, encoded((ev.RoundOpened(seq=1, round=1, house="licensed", seats=(2,)), ev.DealOver(seq=2, round=1)))
            ),
            Receive(3, origin(3), draw(3, Card.QUEEN_OF_HEARTS), 61_002),
            Apply(3, encoded((refused, ev.RoundVoid(seq=4, round=1, reason=None)))),
            Receive(4, origin(4), draw(4, Card.ACE_OF_SPADES), 61_003),
            Apply(4, encoded((ev.RoundOpened(seq=5, round=2, house="licensed", seats=(2,)),))),
        ]
    )
    return store


def show(folder: Path, *options: str) -> Result:
    app = typer.Typer()
    journal_command.register(app)
    app.callback()(lambda: None)
    return CliRunner().invoke(app, ["journal", "show", "--journal", str(folder / "table.journal"), *options])


@pytest.mark.usefixtures("table")
def test_a_round_is_printed_while_it_is_written(tmp_path: Path) -> None:
    result = show(tmp_path, "--round", "1")
    assert result.exit_code == 0, result.exception
    assert result.stdout.splitlines() == [
        "round 1: 3 facts",
        "0:00:00.000  bridge: started",
        "0:01:01.001  dealer: wager  seat 2, ante 500",
        "    -> round 1  opens under licensed: seats 2",
        "    -> round 1  the deal is over",
        "0:00:01.003  shoe: card drawn  sealed",
        "    -> round 1  refused: operator decision: seat 4 is not in play",
        "    -> round 1  void: by the floor; every wager goes back",
    ]


@pytest.mark.usefixtures("table")
def test_the_last_round_is_shown_without_a_number(tmp_path: Path) -> None:
    assert "opens under licensed" in show(tmp_path).stdout
    assert show(tmp_path).stdout.startswith("round 2: 1 facts\n")


@pytest.mark.usefixtures("table")
def test_a_card_is_shown_to_who_gives_the_key_alone(tmp_path: Path) -> None:
    for options in ((), ("--json",)):
        assert "As" not in show(tmp_path, *options).stdout
        assert "As" in show(tmp_path, "--key", str(tmp_path / "key"), *options).stdout


@pytest.mark.usefixtures("table")
def test_json_has_one_fact_a_line(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in show(tmp_path, "--round", "1", "--json").stdout.splitlines()]
    assert [line["name"] for line in lines] == ["started", "wager", "card_drawn"]
    assert lines[1]["actor"] == "dealer"
    assert lines[1]["fact"]["ante"] == 500
    assert [event["event"] for event in lines[1]["events"]] == ["round_opened", "deal_over"]
    assert lines[2]["fact"] is None


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--round", "9"], "holds no round 9: its last one is 2"),
        (["--key", "{folder}/none"], "the key file .* cannot be read"),
        (["--key", "{folder}/other"], "is sealed with the key"),
        (["--config", "x.toml"], "say which journal"),
    ],
)
def test_what_cannot_be_shown_is_told(tmp_path: Path, options: list[str], sentence: str) -> None:
    load_keys(tmp_path / "other")
    result = show(tmp_path, *(option.format(folder=tmp_path) for option in options))
    assert isinstance(result.exception, CommandError)
    with pytest.raises(CommandError, match=sentence):
        raise result.exception


def test_a_missing_and_an_empty_journal_are_told(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="there is no journal"):
        raise show(tmp_path).exception or AssertionError
    Store.open(tmp_path / "table.journal", load_keys(tmp_path / "key")).close()
    with pytest.raises(CommandError, match="holds no round 1: it holds none yet"):
        raise show(tmp_path).exception or AssertionError


def test_a_name_that_steers_terminals_or_forges_a_line_is_shown_harmlessly(table: Store, tmp_path: Path) -> None:
    name = "x\x1b[2J\n0:01:00.000  floor"
    told = Receive(5, Origin("operator", "id-2", 0), Wager(at_ms=61_004, seat=2, ante=500), 61_004, name)
    table.commit([told, Apply(5, ())])
    shown = show(tmp_path).stdout
    assert "\x1b" not in shown
    assert [line for line in shown.splitlines() if "500" in line] == [
        "0:01:01.004  x?[2J?0:01:00.000  floor: wager  seat 2, ante 500"
    ]
