"""Rounds on real lines, whose cables are pulled: the service as it is installed, kernel and udev as Debian has them."""

from typing import Any

import pytest

from tests.vm.machine import VirtualMachine
from tests.vm.table_pc import BRIDGE, CONFIG, play, start, wait_until_said

pytestmark = [pytest.mark.real, pytest.mark.timeout(600), pytest.mark.xdist_group("virtual-machine")]

ADAPTERS = {
    "shuffler": "serial:/dev/table/adapter-TDP-SHUFFLER-00",
    "shoe": "serial:by=ID_SERIAL_SHORT=TDP-SHOE",
    "layout": "serial:/dev/table/adapter-TDP-LAYOUT-00",
}
TAKES_BULK = "/sys/bus/usb-serial/drivers/generic"


def assert_right(outcome: dict[str, Any]) -> None:
    """As the scenario was written, and with all three machines there."""
    assert outcome["wrong"] == []
    assert outcome["refused"] == []
    assert outcome["events"].count("device_up") >= 3
    assert outcome["events"].count("round_settled") == 1


@pytest.mark.usefixtures("installed")
def test_f05_f08_f09_f70_a_technicians_story(machine: VirtualMachine) -> None:
    """Installed, plugged in, found well by `doctor`, dealt on; in the middle of a group the shoe's cable is pulled and
    goes into another socket, where it comes back as another ttyUSB: the round ends right.
    """
    start(machine, ADAPTERS)
    outcome = play(
        machine,
        "shoe-cable-pulled",
        dict.fromkeys(ADAPTERS, "adapter"),
        (BRIDGE, "doctor", "--config", CONFIG),
    )
    assert_right(outcome)
    ((status, findings),) = outcome["answers"]
    assert status == 0, findings
    first, second = outcome["sockets"]["shoe"]
    assert first != second
    before, after = outcome["lines"]["shoe"]
    assert before.startswith("/dev/ttyUSB")
    assert after.startswith("/dev/ttyUSB")
    assert before != after
    assert "the line was hung up" in wait_until_said(machine, "waiting for the shoe: the connection at")


@pytest.mark.usefixtures("installed")
def test_f38_f39_a_shoe_with_bulk_endpoints_is_pulled_in_a_group(machine: VirtualMachine) -> None:
    """Three kinds of wire at one table; the kernel's own USB stack, libusb and FunctionFS between daemon and shoe. A
    driver of the kernel takes the shoe's interface whenever it is plugged in.
    """
    ports = {"shuffler": "serial:/dev/table/shuffler-0123-00", "shoe": "usb:vid=1209,pid=0002,serial=0123"}
    machine.shell(f"modprobe usbserial && echo 1209 0002 > {TAKES_BULK}/new_id")
    try:
        start(machine, {**ports, "layout": ADAPTERS["layout"]})
        outcome = play(machine, "shoe-cable-pulled", {"shuffler": "acm", "shoe": "bulk", "layout": "adapter"})
    finally:
        machine.wait_for("modprobe -r ftdi_sio usbserial")
    assert_right(outcome)
    first, second = outcome["sockets"]["shoe"]
    assert first != second
    assert "ended (" in wait_until_said(machine, "waiting for the shoe: the connection at usb:")
    assert int(machine.shell("dmesg | grep -c 'generic converter now attached to ttyUSB'")) >= 2


@pytest.mark.usefixtures("installed")
def test_a_shuffler_on_a_cdc_acm_line_is_pulled_in_a_round(machine: VirtualMachine) -> None:
    ports = {"shuffler": "serial:/dev/table/shuffler-0123-00", "shoe": ADAPTERS["shoe"], "layout": ADAPTERS["layout"]}
    start(machine, ports)
    outcome = play(machine, "shuffler-cable-pulled", {"shuffler": "acm", "shoe": "adapter", "layout": "adapter"})
    assert_right(outcome)
    first, second = outcome["sockets"]["shuffler"]
    assert first != second


@pytest.mark.usefixtures("installed")
def test_f35_f36_the_clock_is_set_by_hours_in_a_round(machine: VirtualMachine) -> None:
    """Forward by five, back by nine: no machine is lost, nothing times out, nothing is told out of order."""
    start(machine, ADAPTERS)
    outcome = play(machine, "group-clean-sensed", dict.fromkeys(ADAPTERS, "adapter"), clock=True)
    assert_right(outcome)
    assert outcome["clock_set"] == 3
    assert "device_down" not in outcome["events"]
