"""What is plugged in, as sysfs and udev's database show it."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firmware_bridge.doctor.machine import Machine

USB_PARENTS: Final = 8
_DIGITS: Final = 10


@dataclass(frozen=True, slots=True)
class UsbDevice:
    """`place`: bus and ports as the kernel names them, "1-4.2". `folder`: in sysfs, as the machine names it."""

    place: str
    folder: str
    vendor_id: str
    product_id: str
    product: str
    serial_number: str | None
    power: str | None

    @property
    def called(self) -> str:
        """The device in words for a person."""
        serial_number = f", serial number {self.serial_number}" if self.serial_number else ""
        return f"{self.product} ({self.vendor_id}:{self.product_id}{serial_number}) in the socket {self.place}"

    @property
    def twin_key(self) -> tuple[str, str, str | None]:
        """Devices with the same one cannot be told apart by what they say."""
        return self.vendor_id, self.product_id, self.serial_number


@dataclass(frozen=True, slots=True)
class SerialLine:
    """`properties`: what udev says of it. `usb`: the device that it belongs to, if any."""

    node: str
    properties: dict[str, str]
    usb: UsbDevice | None
    latency_timer: int | None


def usb_devices(machine: Machine) -> list[UsbDevice]:
    """Every USB device that the kernel knows."""
    found = machine.files(["/sys/bus/usb/devices"], "")
    return [device for entry in found if (device := _usb_device(machine, entry)) is not None]


def serial_line(machine: Machine, node: str) -> SerialLine | None:
    """The line of a node such as /dev/ttyACM0; None where the kernel knows none."""
    entry = machine.at(f"/sys/class/tty/{Path(node).name}")
    if not os.path.exists(entry):
        return None
    latency = machine.read(f"{machine.named(entry)}/device/latency_timer")
    return SerialLine(
        node=node,
        properties=udev_properties(machine, machine.read(f"{machine.named(entry)}/dev")),
        usb=_parent(machine, entry),
        latency_timer=int(latency) if latency is not None and latency.isdecimal() and len(latency) < _DIGITS else None,
    )


def serial_lines(machine: Machine) -> list[SerialLine]:
    """Every line that the kernel lists."""
    found = (serial_line(machine, f"/dev/{entry.name}") for entry in machine.files(["/sys/class/tty"], ""))
    return [line for line in found if line is not None]


def udev_properties(machine: Machine, numbers: str | None) -> dict[str, str]:
    """Of a character device by its numbers, "188:0"."""
    text = machine.read(f"/run/udev/data/c{numbers}") or ""
    pairs = (line[2:].partition("=") for line in text.splitlines() if line.startswith("E:"))
    return {name: value for name, _, value in pairs}


def resolved(machine: Machine, path: str) -> str | None:
    """The node that a path leads to, through links; None where it leads nowhere."""
    there = machine.at(path)
    try:
        return machine.named(there.resolve(strict=True))
    except (OSError, RuntimeError, ValueError):  # RuntimeError: links in a circle
        return None


def _parent(machine: Machine, entry: Path) -> UsbDevice | None:
    try:
        folder = (entry / "device").resolve(strict=True)
    except (OSError, RuntimeError):
        return None
    for _ in range(USB_PARENTS):
        if (device := _usb_device(machine, folder)) is not None:
            return device
        folder = folder.parent
    return None


def _usb_device(machine: Machine, entry: Path) -> UsbDevice | None:
    try:
        folder = machine.named(entry.resolve())
    except (OSError, RuntimeError, ValueError):
        return None
    vendor_id, product_id = (machine.read(f"{folder}/{name}") for name in ("idVendor", "idProduct"))
    if vendor_id is None or product_id is None:
        return None
    return UsbDevice(
        place=Path(folder).name,
        folder=folder,
        vendor_id=vendor_id,
        product_id=product_id,
        product=machine.read(f"{folder}/product") or "a USB device",
        serial_number=machine.read(f"{folder}/serial") or None,
        power=machine.read(f"{folder}/power/control"),
    )
