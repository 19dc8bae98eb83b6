import asyncio
import os
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from drivers.errors import PortHeld
from drivers.transports import serial as serial_module
from drivers.transports.port_users import LONGEST_COMMAND, Holder, is_pty, other_holders
from tests.drivers.transports.ends.pty_end import Host, PtyEnd, opened


@pytest.mark.real
async def test_a_port_that_this_process_holds_is_named(pty: PtyEnd, host: Host) -> None:
    transport = await opened(pty.port, host)
    with pytest.raises(PortHeld, match=rf"{pty.path} is held by "):
        await opened(pty.port, host)
    await transport.close()
    await (await opened(pty.port, host)).close()


HOLD = (
    "import fcntl, os, sys; fd = os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY); "
    "{lock}print('held', flush=True); sys.stdin.read()"
)


@pytest.mark.real
@pytest.mark.parametrize("lock", ["fcntl.flock(fd, fcntl.LOCK_EX); ", "", "other = os.openpty(); "])
async def test_f07_another_reader_is_named_locking_or_not(pty: PtyEnd, host: Host, lock: str) -> None:
    command = [sys.executable, "-c", HOLD.format(lock=lock), pty.path]
    other = await asyncio.create_subprocess_exec(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdout is not None
    assert await other.stdout.readline() == b"held\n"
    before = termios.tcgetattr(pty.slave)
    with pytest.raises(PortHeld) as caught:
        await opened(f"{pty.port}@9600", host)
    assert termios.tcgetattr(pty.slave) == before  # whoever has it goes on undisturbed
    await other.communicate(b"")
    assert f"{pty.path} is held by process {other.pid} ({sys.executable} -c import fcntl" in str(caught.value)
    assert str(caught.value).endswith("end it, or take the port out of its configuration")
    await (await opened(pty.port, host)).close()


@pytest.mark.real
async def test_a_locked_port_whose_holder_is_hidden_says_so(pty: PtyEnd, host: Host, mocker: MockerFixture) -> None:
    transport = await opened(pty.port, host)
    mocker.patch.object(serial_module, "other_holders", return_value=())
    with pytest.raises(PortHeld, match=rf'a process this user cannot see \(as root: "fuser -v {pty.path}"\)'):
        await opened(pty.port, host)
    await transport.close()


def process(proc: Path, pid: int, **fds: str) -> Path:
    """A process of a made-up /proc with its open files, by descriptor."""
    folder = proc / str(pid) / "fd"
    folder.mkdir(parents=True)
    for fd, target in fds.items():
        (folder / fd.removeprefix("fd")).symlink_to(target)
    return folder.parent


def test_holders_are_found_by_their_descriptors_and_named(tmp_path: Path) -> None:
    device = os.stat("/dev/null")
    (process(tmp_path, 20, fd3="/dev/null") / "cmdline").write_bytes(b"minicom\0-D\0/dev/ttyUSB0\0")
    getty = process(tmp_path, 3, fd0="/dev/zero", fd1="/dev/null")
    (getty / "cmdline").touch()
    (getty / "comm").write_text("getty\n")
    process(tmp_path, 4, fd0="/dev/zero")
    process(tmp_path, 5, fd0="/no/such/file")
    (tmp_path / "self").mkdir()
    assert other_holders(device, proc=tmp_path) == (Holder(3, "getty"), Holder(20, "minicom -D /dev/ttyUSB0"))


def test_a_descriptor_of_our_own_is_no_other_reader(tmp_path: Path) -> None:
    device = os.stat("/dev/null")
    process(tmp_path, os.getpid(), fd7="/dev/null")
    assert other_holders(device, 7, tmp_path) == ()
    (holder,) = other_holders(device, 8, tmp_path)
    assert str(holder) == f"this process itself ({os.getpid()})"


def test_a_long_or_hostile_command_line_is_cut_and_made_printable(tmp_path: Path) -> None:
    (process(tmp_path, 9, fd0="/dev/null") / "cmdline").write_bytes(b"\x1b[2J" + b"x" * 200)
    (holder,) = other_holders(os.stat("/dev/null"), proc=tmp_path)
    assert holder.command == "?[2J" + "x" * 53 + "..."
    assert len(holder.command) == LONGEST_COMMAND


def test_a_process_that_has_just_ended_has_no_command(tmp_path: Path) -> None:
    process(tmp_path, 9, fd0="/dev/null")
    (holder,) = other_holders(os.stat("/dev/null"), proc=tmp_path)
    assert str(holder) == "process 9 (command unknown)"


@pytest.mark.real
def test_who_holds_the_master_of_a_pty_is_no_second_reader(pty: PtyEnd) -> None:
    device = os.stat(pty.path)
    assert is_pty(device)
    assert not is_pty(os.stat("/dev/null"))
    assert other_holders(device) == ()
