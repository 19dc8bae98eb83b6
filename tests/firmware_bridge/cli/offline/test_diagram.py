import typer
from typer.testing import CliRunner, Result

from firmware_bridge.cli.offline import diagram, house, rank, settle
from firmware_bridge.core.game.machine import mermaid


def run(*arguments: str, text: str | bytes | None = None) -> Result:
    app = typer.Typer()
    app.callback()(lambda: None)
    for command in (settle, rank, house, diagram):
        command.register(app)
    return CliRunner().invoke(app, arguments, input=text)


def test_diagram_prints_the_machine() -> None:
    assert run("diagram").stdout == mermaid()
