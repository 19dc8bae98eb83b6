"""This machine once more, booted by systemd in a container, with the project installed as on a table PC."""

import contextlib
import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

BOOT: Final = Path(__file__).with_name("boot.sh")
UNIT: Final = "firmware-bridge.service"
CONFIG: Final = "/etc/firmware-bridge/table.toml"
BOOT_S: Final = 60.0
POWER_OFF_S: Final = 20.0

# Should this process die without a word, the container is powered off, and its mounts go with it.
_WITH_THIS_PROCESS: Final = ("/usr/bin/setpriv", "--pdeathsig", "TERM")
_OWN_MOUNTS: Final = ("/usr/bin/unshare", "--mount", "--propagation", "private")

Found = TypeVar("Found")


class ContainerError(Exception):
    """The container, or a command in it, did not do what it has to; the text shows what it said."""


def wait_for(found: Callable[[], Found | None], what: str, within_s: float = 30.0) -> Found:
    """What `found` answers as soon as it is something. Raises ContainerError."""
    deadline_s = time.monotonic() + within_s
    while time.monotonic() < deadline_s:
        if (answer := found()) is not None:
            return answer
        time.sleep(0.02)
    msg = f"waited {within_s:.0f} s in vain for {what}"
    raise ContainerError(msg)


class Container:
    """Booted when it is made; `close` powers it off and leaves no process, mount or cgroup of it.

    `tree`: what `make install` made. `work`: an empty folder.
    """

    def __init__(self, tree: Path, work: Path) -> None:
        _sweep()
        self._cursor = ""
        self._console = work.with_suffix(".console")
        with self._console.open("wb") as console:
            self._outside = subprocess.Popen(
                [*_WITH_THIS_PROCESS, *_OWN_MOUNTS, str(BOOT), str(tree), str(work)],
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                start_new_session=True,
            )
        try:
            self._leader = wait_for(self._find_leader, "systemd in the container", BOOT_S)
            wait_for(self._booted, "the container to have booted", BOOT_S)
        except ContainerError as error:
            self.close()
            msg = f"{error}; its console:\n{self._console.read_text(errors='replace')}"
            raise ContainerError(msg) from None

    @property
    def root(self) -> Path:
        """Its files as this process sees them."""
        return Path(f"/proc/{self._leader}/root")

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command in it, as root."""
        entered = ["/usr/bin/nsenter", "--target", str(self._leader), "--all", "--wdns=/", *command]
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}
        return subprocess.run(
            entered, check=False, text=True, timeout=120, env=environment, stdin=subprocess.DEVNULL, capture_output=True
        )

    def check(self, *command: str) -> str:
        """What it prints on its standard output. Raises ContainerError where it fails."""
        done = self.run(*command)
        if done.returncode != 0:
            msg = f"{' '.join(command)} ended with {done.returncode}: {done.stdout}{done.stderr}\n{self.journal()}"
            raise ContainerError(msg)
        return done.stdout

    def show(self, setting: str) -> str:
        return self.run("systemctl", "show", "--property", setting, "--value", UNIT).stdout.strip()

    def forget_lines(self) -> None:
        """What is in the journal by now is not shown any more."""
        told = self.check("journalctl", "--sync") + self.check("journalctl", "--lines=0", "--show-cursor", "--quiet")
        self._cursor = told.partition("cursor: ")[2].strip()

    def journal(self, *more: str) -> str:
        """The unit's lines since they were forgotten, `more` being options of journalctl's."""
        since = [f"--after-cursor={self._cursor}"] if self._cursor else []
        shown = self.run("journalctl", "--unit", UNIT, "--output=cat", "--no-pager", "--quiet", *since, *more)
        return shown.stdout

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(mode)

    def watchdog(self, limit_s: int | None) -> None:
        """How long the unit's watchdog waits; None: as the unit says, which takes long on a bench."""
        drop_in = f"/etc/systemd/system/{UNIT}.d/bench.conf"
        self.write(drop_in, "" if limit_s is None else f"[Service]\nWatchdogSec={limit_s}s\n")
        self.check("systemctl", "daemon-reload")

    def close(self) -> None:
        with contextlib.suppress(OSError, AttributeError):
            os.kill(self._leader, signal.SIGRTMIN + 4)
        try:
            self._outside.wait(POWER_OFF_S)
        except subprocess.TimeoutExpired:
            self._outside.kill()
            self._outside.wait()
        _sweep()

    def _find_leader(self) -> int | None:
        if self._outside.poll() is not None:
            msg = f"the container ended with {self._outside.returncode}"
            raise ContainerError(msg)
        pid = self._outside.pid
        with contextlib.suppress(OSError):
            for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
                if Path(f"/proc/{child}/comm").read_text().strip() == "systemd":
                    return int(child)
        return None

    def _booted(self) -> bool | None:
        state = self.run("systemctl", "is-system-running").stdout.strip()
        return True if state in ("running", "degraded") else None


def _sweep() -> None:
    """Take away the cgroups of containers that are no more, whoever booted them."""
    for group in Path("/sys/fs/cgroup").glob("**/table-bench-*"):
        if not Path("/proc", group.name.rpartition("-")[2]).exists():
            for folder in sorted(group.glob("**/"), reverse=True):
                folder.rmdir()


@contextlib.contextmanager
def only_one(lock: Path) -> Iterator[None]:
    """One container at a time on this machine: another run of the suite waits."""
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
