import errno
import os
from pathlib import Path

import pytest
import serial
from pytest_mock import MockerFixture

from drivers.errors import PortForbidden
from drivers.transports import permissions
from tests.drivers.transports.ends.pty_end import Host, PtyEnd, opened


@pytest.mark.real
@pytest.mark.parametrize(
    ("mode", "member", "words"),
    [
        (0o660, False, r"this user may not open \S+ \(group \w+, mode 0660\): add the user to the group \w+"),
        (0o660, True, r"the system forbids \S+ \(group \w+, mode 0660\) though this user is in the group"),
        (0o600, True, r"\(group \w+, mode 0600\): install the udev rule that lets a group read and write it"),
    ],
)
async def test_f03_a_forbidden_port_names_the_group(
    pty: PtyEnd,
    host: Host,
    mocker: MockerFixture,
    mode: int,
    member: bool,  # noqa: FBT001
    words: str,
) -> None:
    os.chmod(pty.path, mode)
    mocker.patch.object(permissions, "ROOT_GROUP", -1)  # where the group of ptys may well be root's
    mocker.patch.object(serial.Serial, "open", side_effect=serial.SerialException(errno.EACCES, "no"))
    mocker.patch.object(os, "getgroups", return_value=[os.stat(pty.path).st_gid] if member else [])
    mocker.patch.object(os, "getegid", return_value=65_534)
    with pytest.raises(PortForbidden, match=words):
        await opened(pty.port, host)


def test_a_node_that_cannot_even_be_looked_at(tmp_path: Path) -> None:
    sentence = permissions.forbidden(str(tmp_path / "gone"))
    assert sentence.startswith(f"this user may not look at {tmp_path}/gone: grant access to its folder")


def test_a_node_of_roots_own_group_wants_the_udev_rule(tmp_path: Path, mocker: MockerFixture) -> None:
    node = tmp_path / "node"
    node.touch(mode=0o660)
    os.chmod(node, 0o660)
    mocker.patch.object(permissions, "ROOT_GROUP", os.stat(node).st_gid)
    assert "install the udev rule that lets a group read and write it" in permissions.forbidden(str(node))


def test_a_group_without_a_name_is_told_by_its_number(tmp_path: Path, mocker: MockerFixture) -> None:
    node = tmp_path / "node"
    node.touch()
    os.chmod(node, 0o660)
    mocker.patch("grp.getgrgid", side_effect=KeyError)
    number = os.stat(node).st_gid
    assert f"(group {number}, mode 0660)" in permissions.forbidden(str(node))
