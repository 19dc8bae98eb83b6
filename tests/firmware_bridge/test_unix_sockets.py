"""What is said where nobody answers at a socket."""

import grp
import os
from pathlib import Path

import pytest

from firmware_bridge.unix_sockets import unanswered


def test_nobody_there_is_told_with_the_reason() -> None:
    told = unanswered(Path("/nowhere/control.sock"), FileNotFoundError(2, "No such file or directory"))
    assert told.startswith("nobody answers at /nowhere/control.sock (No such file or directory)")


@pytest.mark.parametrize("name", ["control.sock", "hidden/control.sock"])
def test_who_may_not_open_it_is_told_which_group_may(tmp_path: Path, name: str) -> None:
    """A folder that cannot be entered hides the socket: then the folder's group is the one."""
    group = grp.getgrgid(os.stat(tmp_path).st_gid).gr_name
    told = unanswered(tmp_path / name, PermissionError(13, "Permission denied"))
    assert f"add the user to the group {group} (as root: usermod -aG {group} NAME) and log in anew" in told
