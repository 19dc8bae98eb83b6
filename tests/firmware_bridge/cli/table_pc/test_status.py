"""What `status` shows of a daemon that answers."""

import json
import socket
from pathlib import Path

import msgspec
import pytest
import typer
from typer.testing import CliRunner

from drivers.driver import Claims
from firmware_bridge.cli.errors import CommandError
from firmware_bridge.cli.table_pc import control_client, status
from firmware_bridge.daemon.status import Status
from firmware_bridge.devices.link import DeviceState, LinkState
from tests.firmware_bridge.cli.table_pc.conftest import Door
from tests.firmware_bridge.devices.ends.claims import CLAIMS

app = typer.Typer()
status.register(app)
app.command("other")(lambda: None)


def shown(
    tmp_path: Path, alarm: str | None, *, sentence: str = "there is no device", claims: Claims | None = None
) -> str:
    shoe = DeviceState(
        kind="shoe",
        driver="tdp",
        port="serial:/dev/table/port-pci-0000:00:14.0-usb-0:4.2:1.0-00",
        link=LinkState.WAITING if claims is None else LinkState.UP,
        sentence=sentence,
        alarm=alarm,
        generation=2,
        tries=1,
        losses=1,
        losses_last_hour=1,
        faults=0,
        heard_at_ms=5,
        answers_ms=None if claims is None else (3, 17),
        claims=claims,
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
    assert output.index("look into the shoe: An old frame came again.") < output.index("serial:/dev")


def test_no_end_of_a_port_is_left_out(tmp_path: Path) -> None:
    output = shown(tmp_path, None)
    column = [line.split("│")[3].strip() for line in output.splitlines() if line.count("│") == 6]
    assert "".join(column) == "serial:/dev/table/port-pci-0000:00:14.0-usb-0:4.2:1.0-00"


@pytest.mark.parametrize("text", ["[/]", "[[approved]]", "M[red]7[/b]"])
def test_brackets_are_brackets(tmp_path: Path, text: str) -> None:
    assert text in shown(tmp_path, None, sentence=text)


@pytest.mark.parametrize("text", ["[/]", "M[red]7[/b]"])
def test_brackets_of_a_devices_own_are_brackets(tmp_path: Path, text: str) -> None:
    assert text in shown(tmp_path, None, claims=msgspec.structs.replace(CLAIMS, model=text))


def test_a_sentence_with_a_devices_words_does_not_steer_the_terminal(tmp_path: Path) -> None:
    assert "?[2J" in shown(tmp_path, None, sentence="the shoe \x1b[2J")


@pytest.mark.parametrize("alarm", ["\x1b[2Jgone", "two\nlines"])
def test_an_alarm_cannot_write_on_the_screen_as_it_likes(tmp_path: Path, alarm: str) -> None:
    output = shown(tmp_path, alarm)
    assert "\x1b" not in output
    assert sum("look into" in line for line in output.splitlines()) == 1
    assert "\nlines" not in output


def test_without_an_alarm_there_is_nothing_to_look_into(tmp_path: Path) -> None:
    assert "look into" not in shown(tmp_path, None)


def test_f23_f33_how_long_answers_take_stands_beside_the_device(tmp_path: Path) -> None:
    output = " ".join(shown(tmp_path, None, claims=CLAIMS).replace("│", " ").split())
    assert "17 ms" in output
    assert "worst" in output


def test_what_a_device_does_not_tell_leaves_no_gap(tmp_path: Path) -> None:
    claims = msgspec.structs.replace(CLAIMS, serial_number="", firmware_version="")
    output = " ".join(shown(tmp_path, None, claims=claims).replace("│", " ").split())
    assert "Vendor Model, firmware" in output
    assert "not told" in output


def test_a_daemon_that_hangs_is_told_with_what_this_command_can_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An id is for whoever told a fact and does not know what became of it."""
    monkeypatch.setattr(control_client, "ANSWER_TIMEOUT_S", 0.05)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "c.sock"))
        silent.listen()
        with pytest.raises(CommandError, match=r"did not answer in 0 s: ask again\.$"):
            control_client.ask(tmp_path / "c.sock", {"id": "7", "ask": "status"})
        with pytest.raises(CommandError, match=r"ask again with --id 7 to learn"):
            control_client.ask(tmp_path / "c.sock", {"id": "7", "fact": {}})
