import json
import socket
from pathlib import Path

import pytest

from firmware_bridge.cli.errors import CommandError
from firmware_bridge.cli.table_pc import control_client
from firmware_bridge.cli.table_pc.control_client import ask, control_socket
from tests.firmware_bridge.cli.table_pc.conftest import Door


def test_nobody_there_and_somebody_else_there_are_told(tmp_path: Path, door: Door) -> None:
    with pytest.raises(CommandError, match="Nobody answers at"):
        ask(tmp_path / "none.sock", {"id": "1"})
    door.answer = {"accepted": "perhaps"}
    with pytest.raises(CommandError, match="no daemon of this program"):
        ask(door.path, {"id": "1"})
    with pytest.raises(CommandError, match="--control SOCKET, or --config FILE"):
        control_socket(None, None)


def test_an_answer_comes_back_as_it_is_and_read(door: Door) -> None:
    door.answer = {"accepted": False, "sentence": "no round is open"}
    line, answer = ask(door.path, {"id": "7", "fact": {}})
    assert json.loads(line) == {"id": "7", **door.answer}
    assert (answer.accepted, answer.sentence, answer.events) == (False, "no round is open", ())
    assert [request["id"] for request in door.heard] == ["7"]


def test_the_socket_is_named_once_by_itself_or_by_the_configuration(tmp_path: Path) -> None:
    named = tmp_path / "c.sock"
    assert control_socket(named, None) == named
    config = tmp_path / "table.toml"
    config.write_text(
        '[table]\nname = "t"\ndeal = "rotation"\n[house]\nfile = "licensed"\n'
        '[journal]\nfile = "j"\nkey = "k"\n[sockets]\ncontrol = "run/c.sock"\nfeed = "f.sock"\n'
        '[[device]]\nname = "shoe"\nkind = "shoe"\ndriver = "tdp"\nport = "serial:/dev/x"\n'
    )
    assert control_socket(None, config) == tmp_path / "run" / "c.sock"
    for control, file in ((None, None), (named, config)):
        with pytest.raises(CommandError, match="say which daemon") as refused:
            control_socket(control, file)
        assert refused.value.status == 2
    with pytest.raises(CommandError) as refused:
        control_socket(None, tmp_path / "none.toml")
    assert refused.value.status == 2


def test_a_daemon_that_says_nothing_is_told_with_how_to_ask_again(
    door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_client, "ANSWER_TIMEOUT_S", 0.05)
    silent = socket.socket(socket.AF_UNIX)
    silent.bind(str(tmp_path / "silent.sock"))
    silent.listen()
    with pytest.raises(CommandError, match="ask again with --id 9 to learn what became of it"):
        ask(tmp_path / "silent.sock", {"id": "9", "fact": {}})
    with pytest.raises(CommandError, match=r"did not answer in \d+ s: ask again\."):
        ask(tmp_path / "silent.sock", {"id": "9", "ask": "status"})
    silent.close()
