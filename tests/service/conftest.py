"""One container for all tests of the service; each leaves it as it found it."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.parts.required import missing
from tests.service.container import CONFIG, UNIT, Container, only_one

ROOT = Path(__file__).resolve().parents[2]
PART = "nspawn"


@pytest.fixture(scope="session")
def installed() -> Path:
    """What `make install` made of this checkout."""
    if os.geteuid() != 0:
        missing(PART, "a container needs root")
    script = ROOT / "tests/parts/nspawn.sh"
    subprocess.run([str(script)], check=True, timeout=600)
    tree = subprocess.run([str(script), "--where"], check=True, capture_output=True, text=True).stdout.strip()
    if shutil.which("systemd-nspawn") is None or not Path(tree, "opt").is_dir():
        missing(PART, "systemd-container or its tree is not there: run tests/parts/nspawn.sh as root")
    return Path(tree)


@pytest.fixture(scope="session")
def booted(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    with only_one(installed.parent / "container.lock"):
        container = Container(installed, tmp_path_factory.mktemp("container"))
        try:
            yield container
        finally:
            container.close()


@pytest.fixture(scope="session")
def set_up(booted: Container) -> Container:
    """The commands of udev/README.md."""
    booted.check("systemd-sysusers")
    booted.check("systemd-tmpfiles", "--create", "firmware-bridge.conf")
    booted.write("/etc/firmware-bridge/table.key", "5a" * 32, 0o600)
    booted.check("systemctl", "daemon-reload")
    return booted


@pytest.fixture
def container(set_up: Container) -> Iterator[Container]:
    """The service is installed and not running; its journals, the table's and systemd's, are empty."""
    set_up.forget_lines()
    config = (set_up.root / CONFIG.lstrip("/")).read_text()
    yield set_up
    set_up.run("systemctl", "stop", UNIT)
    set_up.run("systemctl", "reset-failed", UNIT)
    set_up.write(CONFIG, config)
    set_up.watchdog(None)
    set_up.check("/bin/sh", "-c", "rm -rf /var/lib/firmware-bridge/*")
