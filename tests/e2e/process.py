"""The daemon and its commands as a person starts them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

MAIN = "import sys; from firmware_bridge.cli import main; sys.argv[0] = 'firmware-bridge'; main()"
BRIDGE = (sys.executable, "-c", MAIN)
DEADLINE_S = 60.0


def bridge(*arguments: str) -> subprocess.CompletedProcess[str]:
    """One command to its end."""
    return subprocess.run(
        (*BRIDGE, *arguments),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
        env={**os.environ, "COLUMNS": "200"},
    )


def wait_until(ready: Callable[[], bool], what: str) -> None:
    deadline_s = time.monotonic() + DEADLINE_S
    while not ready():
        assert time.monotonic() < deadline_s, f"waited in vain for {what}"
        time.sleep(0.02)


class Running:
    """`firmware-bridge run`, its standard error in a file."""

    def __init__(self, config: Path, *options: str) -> None:
        self.config = config
        self.log_file = config.with_suffix(".log")
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen((*BRIDGE, "run", "--config", str(config), *options), stderr=log)

    @property
    def log(self) -> str:
        return self.log_file.read_text()

    def wait_for(self, text: str) -> None:
        wait_until(lambda: text in self.log or self.process.poll() is not None, text)
        assert text in self.log, self.log

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return self.process.wait(DEADLINE_S)


@contextmanager
def running(config: Path, *options: str) -> Iterator[Running]:
    """Ready, and ended at the end."""
    daemon = Running(config, *options)
    try:
        daemon.wait_for('"ready"')
        yield daemon
    finally:
        if daemon.process.poll() is None:
            daemon.process.kill()
            daemon.process.wait()
