"""The machine under examination: its files below one root, and the commands that are asked of it.

Nothing here changes anything.
"""

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

COMMAND_TIMEOUT_S: Final = 10.0
MOST_BYTES: Final = 1 << 24
_LONGEST_NUMBER: Final = 10

Ask: TypeAlias = Callable[[Sequence[str]], str | None]


def ask_system(command: Sequence[str]) -> str | None:
    """What a command prints, whatever it ends with; None where it is not there, hangs, or prints nothing at all."""
    try:
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=COMMAND_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout or None


@dataclass(frozen=True, slots=True)
class Machine:
    """`root` stands for /; `ask` runs a command in it."""

    root: Path = Path("/")
    ask: Ask = ask_system

    def at(self, path: str | Path) -> Path:
        """The file that the machine calls `path`."""
        return self.root / str(path).lstrip("/")

    def named(self, there: Path) -> str:
        """What the machine calls a file of its own: `at` the other way round."""
        return "/" + str(there.relative_to(self.root)).removeprefix("/")

    def read(self, path: str | Path) -> str | None:
        """The text of a file without the white space around it; None where it cannot be read.

        No file is waited for, and none is read without end.
        """
        try:
            with open(self.at(path), "rb", opener=_open_at_once) as file:
                return (file.read(MOST_BYTES) or b"").decode(errors="replace").strip()
        except OSError:
            return None

    def group_id(self, name: str) -> int | None:
        """The number of the group of that name; None where there is none."""
        return next((int(fields[2]) for fields in self._lines("/etc/group", 4) if fields[0] == name), None)

    def group_name(self, number: int) -> str:
        """The name of the group of that number, or the number where it has none."""
        names = (fields[0] for fields in self._lines("/etc/group", 4) if fields[2] == str(number))
        return next(names, str(number))

    def user_id(self, name: str) -> int | None:
        """The number of the user of that name; None where there is none."""
        return next((int(fields[2]) for fields in self._lines("/etc/passwd", 7) if fields[0] == name), None)

    def groups_of(self, user: str) -> set[int]:
        """The groups that a user has at login."""
        own = {int(fields[3]) for fields in self._lines("/etc/passwd", 7) if fields[0] == user and _number(fields[3])}
        return own | {int(fields[2]) for fields in self._lines("/etc/group", 4) if user in fields[3].split(",")}

    def processes(self, name: str) -> list[int]:
        """The processes that are called so, by number."""
        found = (entry for entry in self._entries("/proc") if entry.name.isdecimal())
        return sorted(int(entry.name) for entry in found if self.read(f"/proc/{entry.name}/comm") == name)

    def files(self, folders: Sequence[str], ending: str) -> Iterator[Path]:
        """What lies in the folders; a name in an earlier folder hides the same name in a later one."""
        seen = set()
        for folder in folders:
            for entry in sorted(self._entries(folder)):
                if entry.name.endswith(ending) and entry.name not in seen:
                    seen.add(entry.name)
                    yield entry

    def _entries(self, folder: str) -> list[Path]:
        try:
            return list(self.at(folder).iterdir())
        except OSError:
            return []

    def _lines(self, path: str, fields: int) -> Iterator[list[str]]:
        for line in (self.read(path) or "").splitlines():
            split = line.split(":")
            if len(split) == fields and _number(split[2]):
                yield split


def _number(text: str) -> bool:
    return text.isdecimal() and len(text) <= _LONGEST_NUMBER


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
