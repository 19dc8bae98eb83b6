"""Who has a serial port open: the other processes whose descriptors lead to the same device."""

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from drivers.sentences import printable

PTMX: Final = os.makedev(5, 2)
PTY_SLAVE_MAJORS: Final = range(136, 144)
LONGEST_COMMAND: Final = 60


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that has the port open; `command` as the process names itself, cut to 60 characters."""

    pid: int
    command: str

    def __str__(self) -> str:
        if self.pid == os.getpid():
            return f"this process itself ({self.pid})"
        return f"process {self.pid} ({self.command})"


def is_pty(device: os.stat_result) -> bool:
    """Is this the slave end of a pseudo-terminal?"""
    return os.major(device.st_rdev) in PTY_SLAVE_MAJORS


def other_holders(device: os.stat_result, own_fd: int | None = None, proc: Path = Path("/proc")) -> tuple[Holder, ...]:
    """The processes that have `device` open, `own_fd` of this process apart, by process id.

    The process at the far end of a pty keeps a slave descriptor of its own, since its master reports errors while
    nobody has the slave open; so who holds the master of this very pty is no second reader. Processes that this user
    may not look into are not found.
    """
    return tuple(holder for pid in _pids(proc) if (holder := _holder(proc / str(pid), pid, device, own_fd)))


def _pids(proc: Path) -> list[int]:
    return sorted(int(entry.name) for entry in proc.iterdir() if entry.name.isdecimal())


def _holder(process: Path, pid: int, device: os.stat_result, own_fd: int | None) -> Holder | None:
    found = False
    for fd, opened in _open_devices(process):
        if is_pty(device) and opened.st_rdev == PTMX and _pty_index(process, fd) == _slave_index(device):
            return None
        if _same(opened, device) and not (pid == os.getpid() and fd == own_fd):
            found = True
    return Holder(pid, _command(process)) if found else None


def _open_devices(process: Path) -> Iterator[tuple[int, os.stat_result]]:
    with contextlib.suppress(OSError):  # the process ended, or belongs to somebody else
        for fd in os.listdir(process / "fd"):
            with contextlib.suppress(OSError):
                opened = os.stat(process / "fd" / fd)
                if stat.S_ISCHR(opened.st_mode):
                    yield int(fd), opened


def _same(opened: os.stat_result, device: os.stat_result) -> bool:
    # Several nodes may lead to one line; but two mounts of devpts number different ptys alike.
    return opened.st_rdev == device.st_rdev and (not is_pty(device) or opened.st_dev == device.st_dev)


def _slave_index(device: os.stat_result) -> int:
    return (os.major(device.st_rdev) - PTY_SLAVE_MAJORS.start) * 256 + os.minor(device.st_rdev)


def _pty_index(process: Path, fd: int) -> int | None:
    with contextlib.suppress(OSError):
        for line in (process / "fdinfo" / str(fd)).read_text().splitlines():
            name, _, value = line.partition(":")
            if name == "tty-index":
                return int(value)
    return None


def _command(process: Path) -> str:
    with contextlib.suppress(OSError):
        words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        text = words or (process / "comm").read_text(errors="replace").strip()
        shown = printable(text)
        return shown if len(shown) <= LONGEST_COMMAND else shown[: LONGEST_COMMAND - 3] + "..."
    return "command unknown"
