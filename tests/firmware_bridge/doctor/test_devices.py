import pytest

from firmware_bridge.doctor.devices import (
    UsbDevice,
    resolved,
    serial_line,
    serial_lines,
    udev_properties,
    usb_devices,
)
from firmware_bridge.doctor.machine import Machine
from tests.firmware_bridge.doctor.table_pc import SHOE, SHUFFLER, TablePc


@pytest.fixture
def machine(pc: TablePc) -> Machine:
    return Machine(pc.root, pc.ask)


def test_usb_devices_are_those_with_numbers(pc: TablePc, machine: Machine) -> None:
    pc.at("/sys/bus/usb/devices/usb1").mkdir()
    found = {device.place: device for device in usb_devices(machine)}
    assert set(found) == {"1-1", "1-2"}
    assert found["1-1"].twin_key == ("1209", "0001", "S1")
    assert found["1-2"].called == "FT232R (0403:6001, serial number TDP-7) in the socket 1-2"
    assert found["1-2"].power == "on"


def test_a_device_without_a_name_or_serial_number_is_told_by_its_numbers() -> None:
    device = UsbDevice("1-4.2", "/sys/x", "0403", "6001", "a USB device", None, None)
    assert device.called == "a USB device (0403:6001) in the socket 1-4.2"
    assert device.twin_key == ("0403", "6001", None)


def test_a_serial_line_knows_its_adapter_and_what_udev_says(pc: TablePc, machine: Machine) -> None:
    line = serial_line(machine, "/dev/ttyUSB0")
    assert line is not None
    assert line.usb is not None
    assert (line.node, line.usb.place, line.latency_timer) == ("/dev/ttyUSB0", "1-2", 1)
    assert line.properties["ID_SERIAL_SHORT"] == "TDP-7"
    assert serial_line(machine, "/dev/ttyS9") is None
    assert {found.node for found in serial_lines(machine)} == {"/dev/ttyACM0", "/dev/ttyUSB0"}


@pytest.mark.parametrize("timer", ["", "fast", "-1", "9" * 4000, "16 ms"])
def test_a_latency_that_is_no_number_is_not_known(pc: TablePc, machine: Machine, timer: str) -> None:
    pc.write("/sys/class/tty/ttyUSB0/device/latency_timer", timer)
    line = serial_line(machine, "/dev/ttyUSB0")
    assert line is not None
    assert line.latency_timer is None


def test_a_line_that_is_no_usb_device_has_none(pc: TablePc, machine: Machine) -> None:
    pc.at("/sys/devices/platform/ttyS0").mkdir(parents=True)
    pc.at("/sys/class/tty/ttyS0").symlink_to(pc.at("/sys/devices/platform/ttyS0"))
    line = serial_line(machine, "/dev/ttyS0")
    assert line is not None
    assert (line.usb, line.properties) == (None, {})


def test_names_are_followed_to_their_node_and_a_circle_leads_nowhere(pc: TablePc, machine: Machine) -> None:
    assert (resolved(machine, SHUFFLER), resolved(machine, SHOE)) == ("/dev/ttyACM0", "/dev/ttyUSB0")
    pc.at("/dev/table/a").symlink_to("b")
    pc.at("/dev/table/b").symlink_to("a")
    assert resolved(machine, "/dev/table/a") is resolved(machine, "/dev/none") is None


def test_udevs_database_is_read_by_the_devices_numbers(pc: TablePc, machine: Machine) -> None:
    pc.write("/run/udev/data/c5:1", "N:x\nE:A=1\nE:B=x=y\nS:disk\n")
    assert udev_properties(machine, "5:1") == {"A": "1", "B": "x=y"}
    assert udev_properties(machine, "5:2") == udev_properties(machine, None) == {}
