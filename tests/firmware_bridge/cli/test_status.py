"""What `status` shows of a daemon that answers."""

import json
from pathlib import Path

import msgspec
import pytest
import typer
from typer.testing import CliRunner

from firmware_bridge.cli import status
from firmware_bridge.link import DeviceState, LinkState
from firmware_bridge.status import Status
from tests.firmware_bridge.cli.test_tell import Door

app = typer.Typer()
status.register(app)
app.command("other")(lambda: None)


def shown(tmp_path: Path, alarm: str | None) -> str:
    shoe = DeviceState(
        kind="shoe",
        driver="tdp",
        port="serial:/dev/shoe",
        link=LinkState.WAITING,
        sentence="there is no device",
        alarm=alarm,
        generation=2,
        tries=1,
        losses=1,
        losses_last_hour=1,
        faults=0,
        heard_at_ms=5,
        claims=None,
        boot=None,
        counters={},
    )
    told = Status(
        table="1",
        house="licensed",
        version="1",
        at_ms=9,
        trouble=None,
        applied=3,
        waiting=0,
        lost=("shoe",),
        round=None,
        devices={"shoe": shoe},
    )
    door = Door(tmp_path / "c.sock")
    door.answer = {"status": json.loads(msgspec.json.encode(told))}
    result = CliRunner().invoke(app, ["status", "--control", str(door.path)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_what_a_person_should_look_into_stands_before_the_table(tmp_path: Path) -> None:
    output = shown(tmp_path, "An old frame came again.")
    assert output.index("look into the shoe: An old frame came again.") < output.index("serial:/dev/shoe")


@pytest.mark.parametrize("alarm", ["\x1b[2Jgone", "two\nlines"])
def test_an_alarm_cannot_write_on_the_screen_as_it_likes(tmp_path: Path, alarm: str) -> None:
    output = shown(tmp_path, alarm)
    assert "\x1b" not in output
    assert sum("look into" in line for line in output.splitlines()) == 1
    assert "\nlines" not in output


def test_without_an_alarm_there_is_nothing_to_look_into(tmp_path: Path) -> None:
    assert "look into" not in shown(tmp_path, None)
