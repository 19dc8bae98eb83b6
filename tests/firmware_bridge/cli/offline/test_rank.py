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


def test_rank_names_three_cards_or_six() -> None:
    assert run("rank", "Qh", "Qd", "4s").stdout == "pair\n"
    assert run("rank", "Ah 2h 3h").stdout == "straight_flush\n"
    assert run("rank", "Qh", "Qd", "4s", "4c", "4d", "Kc").stdout == "full_house\n"
    assert run("rank", "Qh", "Td", "4s", "2c", "9d", "Kc").stdout == "nothing\n"


@pytest.mark.parametrize("cards", [["Qh"], ["Qh", "Qd", "4s", "4c"], ["1h", "2h", "3h"], ["qh", "2h", "3h"]])
def test_rank_refuses_what_is_no_hand(cards: list[str]) -> None:
    assert refusal("rank", *cards).status == 2
