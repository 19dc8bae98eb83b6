"""`suggest-udev` reads from udev what is plugged in, and prints rules for the strangers."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from pytest_mock import MockerFixture

from firmware_bridge.cli.errors import CommandError
from firmware_bridge.cli.table_pc.suggest_udev import suggest_udev


@dataclass
class Device:
    """As pyudev shows one."""

    subsystem: str
    device_type: str | None = None
    device_node: str | None = None
    sys_name: str = ""
    attributes: dict[str, bytes] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict)
    driver: str | None = None
    parent: "Device | None" = None

    def find_parent(self, subsystem: str, device_type: str) -> "Device | None":
        above = self.parent
        while above is not None and (above.subsystem, above.device_type) != (subsystem, device_type):
            above = above.parent
        return above


class Context:
    def __init__(self, *devices: Device) -> None:
        self.devices = devices

    def list_devices(self, **wanted: Any) -> list[Device]:
        kind = wanted.get("DEVTYPE")
        return [
            device
            for device in self.devices
            if device.subsystem == wanted["subsystem"] and (kind is None or device.device_type == kind)
        ]


def usb(**attributes: bytes) -> Device:
    told = {"idVendor": b"0403", "idProduct": b"6001", "product": b"FT232R", "serial": b"A10K\n", **attributes}
    return Device("usb", "usb_device", "/dev/bus/usb/001/004", "1-4", told)


def interface(parent: Device, of_class: bytes, driver: str | None) -> Device:
    about = {"bInterfaceNumber": b"00", "bInterfaceClass": of_class}
    return Device("usb", "usb_interface", sys_name="1-4:1.0", attributes=about, driver=driver, parent=parent)


@pytest.fixture
def printed(mocker: MockerFixture, capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*devices: Device) -> list[str]:
        mocker.patch("pyudev.Context", return_value=Context(*devices))
        suggest_udev()
        return capsys.readouterr().out.splitlines()

    return run


def test_a_serial_line_that_no_rule_knows(printed: Any) -> None:
    taken = interface(usb(), b"ff", "ftdi_sio")
    lines = printed(
        Device("tty", device_node="/dev/ttyUSB0", parent=taken), taken, Device("tty", device_node="/dev/tty1")
    )
    rules = [line for line in lines if line and not line.startswith("#")]
    assert len(rules) == 1
    assert 'ATTRS{idVendor}=="0403", ATTRS{idProduct}=="6001", ATTRS{serial}=="A10K"' in rules[0]
    assert any("/dev/ttyUSB0 at present" in line for line in lines)


def test_an_interface_of_the_vendors_own_that_no_driver_has_taken(printed: Any) -> None:
    lines = printed(interface(usb(idVendor=b"1234"), b"ff", None))
    assert any('ATTRS{idVendor}=="1234"' in line for line in lines)
    assert any("/dev/bus/usb/001/004 at present" in line for line in lines)


def test_what_the_rules_know_already_is_told(printed: Any) -> None:
    known = Device("tty", device_node="/dev/ttyACM0", properties={"TABLE_DEVICE": "shoe"}, parent=usb())
    assert printed(known) == ["# The rules that are installed know everything that is plugged in: /dev/ttyACM0"]


def test_f70_nothing_plugged_in_is_no_success(printed: Any) -> None:
    with pytest.raises(CommandError, match="Nothing that could be a machine is plugged in"):
        printed(interface(usb(), b"09", "hub"), Device("tty", device_node="/dev/ttyS0"))


def test_a_machine_without_udev_is_told(mocker: MockerFixture) -> None:
    mocker.patch("pyudev.Context", side_effect=OSError("no libudev"))
    with pytest.raises(CommandError, match="apt-get install libudev1"):
        suggest_udev()
