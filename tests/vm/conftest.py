"""One machine for all scenarios of a run: it boots once, and every scenario leaves it without anything plugged in."""

import platform
import shutil
import subprocess
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from tests.parts.required import missing
from tests.vm.code_layer import ROOT, make_code_layer
from tests.vm.machine import VirtualMachine
from tests.vm.table_pc import install

PART = "virtual-machine"


@pytest.fixture(scope="session")
def booted() -> Iterator[VirtualMachine]:
    image = ROOT / _image()
    if platform.machine() != "x86_64":
        missing(PART, f"its image is for x86_64, and this machine is {platform.machine()}")
    if shutil.which("qemu-system-x86_64") is None or not image.is_dir():
        missing(PART, "it is not there: run tests/parts/virtual_machine.sh as root")
    with tempfile.TemporaryDirectory(prefix="vm-") as folder:
        machine = VirtualMachine(image, make_code_layer(Path(folder)), Path(folder))
        try:
            yield machine
        finally:
            machine.close()


@pytest.fixture(scope="session")
def installed(booted: VirtualMachine) -> None:
    """The project is installed there as on a table PC."""
    install(booted)


@pytest.fixture
def machine(booted: VirtualMachine) -> Iterator[VirtualMachine]:
    yield booted
    booted.pull_all()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failed scenario shows the end of the machine's serial log."""
    report = yield
    machine = getattr(item, "funcargs", {}).get("booted")
    if report.failed and isinstance(machine, VirtualMachine):
        report.sections.append(("the machine", machine.tail()))
    return report


def _image() -> str:
    where = [str(ROOT / "tests/parts/virtual_machine.sh"), "--where"]
    return subprocess.run(where, check=True, capture_output=True, text=True).stdout.strip()
