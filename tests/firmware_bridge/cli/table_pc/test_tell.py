"""The commands of `tell` are made from the facts: every fact can be told, and nothing else."""

import json
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from firmware_bridge.cli.errors import CommandError
from firmware_bridge.cli.table_pc import tell
from firmware_bridge.daemon.control_socket import OPERATOR_FACTS, read_operator_fact
from tests.firmware_bridge.cli.table_pc.conftest import Door

app = typer.Typer()
tell.register(app)
app.command("other")(lambda: None)


def run(door: Door, *arguments: str) -> Any:
    result = CliRunner().invoke(
        app, ["tell", *arguments, "--control", str(door.path), "--actor", "floor"], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    return door.heard[-1]["fact"]


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        ("ruling continue --reason counted", {"fact": "ruling", "ruling": "continue", "reason": "counted"}),
        ("ruling void_seat --seat dealer", {"fact": "ruling", "ruling": "void_seat", "seat": "dealer"}),
        ("wager 1 --ante 500 --pair-plus 100", {"fact": "wager", "seat": 1, "ante": 500, "pair_plus": 100}),
        ("seats 1 2 5", {"fact": "seats", "seats": [1, 2, 5]}),
        ("decision 1 play", {"fact": "decision", "seat": 1, "play": True}),
        ("decision 1 fold", {"fact": "decision", "seat": 1, "play": False}),
        ("no_more_bets", {"fact": "no_more_bets"}),
        ("seat_checked 2 3", {"fact": "seat_checked", "seat": 2, "cards": 3}),
        ("card_identified dealer 3 Qd", {"fact": "card_identified", "seat": "dealer", "index": 3, "card": "Qd"}),
        ("card_exposed 4", {"fact": "card_exposed", "seat": 4}),
        ("hand_shuffled --deck 7", {"fact": "hand_shuffled", "deck": "7"}),
        ("position 3 declined", {"fact": "position", "seat": 3, "answer": "declined"}),
        ("alarm_acknowledged foreign_card", {"fact": "alarm_acknowledged", "alarm": "foreign_card"}),
        ("payment_corrected 2 ante 500 miscounted", {"fact": "payment_corrected", "seat": 2, "wager": "ante",
                                                      "paid": 500, "reason": "miscounted"}),
    ],
)  # fmt: skip
def test_arguments_become_the_fact(door: Door, arguments: str, fact: dict[str, Any]) -> None:
    assert run(door, *arguments.split()) == fact
    assert read_operator_fact(json.dumps(fact).encode())


def test_every_fact_has_a_command_and_every_field_an_argument() -> None:
    for name, kind in OPERATOR_FACTS.items():
        asked = {one.name for one in tell.fields_of(kind)}
        assert asked == {field for field in kind.__struct_fields__ if field not in ("at_ms", "source")}
        assert CliRunner().invoke(app, ["tell", name, "--help"]).exit_code == 0


def test_the_actor_and_the_id_go_along(door: Door) -> None:
    run(door, "no_more_bets", "--id", "again")
    assert (door.heard[0]["id"], door.heard[0]["actor"]) == ("again", "floor")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("decision 1 yes", "play is play or fold, not 'yes'"),
        ("ruling perhaps", "ruling is "),
        ("wager one", "seat is a whole number, not 'one'"),
        ("wager 1 --ante 5.50", "ante is a whole number, not '5.50'"),
        ("seat_checked banker 3", "seat is a seat's number, or \"dealer\", not 'banker'"),
        ("card_identified 1 4 Qh", "`$.index`"),
        ("card_identified 1 3 Zz", "card is a card, such as Qh or Td, not 'Zz'"),
        ("card_exposed 1 --card qh", "card is a card, such as Qh or Td, not 'qh'"),
        ("alarm_acknowledged fire", "alarm is one of "),
        ("wager 1 --ante -5", "`$.ante`"),
        ("seats 1 two", "seats are whole numbers, and 'two' is none"),
    ],
)
def test_what_makes_no_fact_is_told_before_anybody_is_asked(door: Door, arguments: str, told: str) -> None:
    with pytest.raises(CommandError) as error:
        run(door, *arguments.split())
    assert told in str(error.value)
    assert error.value.status == 2
    assert door.heard == []


def test_a_refusal_is_an_error_with_the_sentence(door: Door) -> None:
    door.answer = {"accepted": False, "sentence": "nothing is held"}
    with pytest.raises(CommandError, match="nothing is held"):
        run(door, "ruling", "continue")
    door.answer = {"error": "The disk is full."}
    with pytest.raises(CommandError, match="The disk is full"):
        run(door, "ruling", "continue")
    result = CliRunner().invoke(app, ["tell", "no_more_bets", "--control", str(door.path), "--json"])
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"] == "The disk is full."
