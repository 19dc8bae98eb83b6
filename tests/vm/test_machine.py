"""The machine itself: without it none of the other scenarios proves anything."""

import pytest

from tests.vm.machine import PYTHON, MachineError, VirtualMachine

pytestmark = [pytest.mark.real, pytest.mark.timeout(600), pytest.mark.xdist_group("virtual-machine")]


def test_it_runs_systemd_and_the_project(machine: VirtualMachine) -> None:
    assert machine.shell("cat /proc/1/comm").strip() == "systemd"
    assert machine.shell("systemctl --failed --plain --no-legend") == ""
    packages = "import importlib.metadata as m, cobs.cobs, cryptography, msgspec, usb"
    assert machine.check(PYTHON, "-c", f"{packages}; print(m.version('firmware-bridge'))").strip()


def test_f70_an_adapter_is_found_and_lost(machine: VirtualMachine) -> None:
    """A run without a device would pass everything: here one is plugged in, and is there; pulled out, and is not."""
    by_id = "/dev/serial/by-id/usb-QEMU_QEMU_USB_SERIAL_LOOK-HERE-if00-port0"
    machine.plug("stranger", serial_number="LOOK-HERE", port=3)
    machine.wait_for(f"test -c {by_id}")
    assert machine.shell(f"readlink -f {by_id}").startswith("/dev/ttyUSB")
    machine.pull("stranger")
    machine.wait_for(f"! test -e {by_id}")


def test_a_command_that_fails_says_so_with_the_serial_log(machine: VirtualMachine) -> None:
    assert machine.run("/bin/sh", "-c", "echo out; echo err >&2; exit 3").status == 3
    assert machine.run("/no/such/thing").status == 127
    with pytest.raises(MachineError, match=r"ended with 3(?s:.*)serial log(?s:.*)bench: \["):
        machine.shell("exit 3")
    assert machine.run("/bin/sleep", "60", timeout_s=0.5).status == 124
