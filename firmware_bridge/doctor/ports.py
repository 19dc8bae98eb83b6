"""The machines' ports: there, told apart, open to the service, and in nobody else's hands."""

import fnmatch
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from typing import Final

from drivers.transports.port_users import other_holders
from drivers.transports.ports import Port, SerialByProperty, SerialPort, UsbPort
from firmware_bridge.config import DeviceConfig
from firmware_bridge.doctor.context import DoctorContext
from firmware_bridge.doctor.devices import UsbDevice, resolved, serial_line, usb_devices
from firmware_bridge.doctor.findings import Finding, Health
from firmware_bridge.doctor.unit import UNIT, service_groups

_READ_WRITE: Final = 0o6
_KERNEL_NUMBER: Final = re.compile(r"/dev/tty(?:USB|ACM)\d+")
_CLASSES: Final = {"ttyUSB": "char-ttyUSB", "ttyACM": "char-ttyACM", "ttyS": "char-ttyS", "bus": "char-usb_device"}
"""What DeviceAllow= calls the nodes whose names begin so."""


def ports(context: DoctorContext) -> Iterator[Finding]:
    """One node for each configured port, and another for each."""
    taken: dict[str, str] = {}
    for device, port in context.ports():
        if not isinstance(port, (SerialPort, SerialByProperty, UsbPort)):
            yield Finding("ports", Health.UNKNOWN, f"The {device.name} is at {device.port}, which is no local device.")
            continue
        found = _found(context, port)
        if not isinstance(port, UsbPort) and (no_line := [node for node in found if not _is_line(context, node)]):
            told = f"{no_line[0]}, which {device.port} of the {device.name} leads to, is no serial line"
            yield Finding("ports", Health.WRONG, f"{told}: correct its port; {_plugged_in(context)}.")
        elif len(found) == 1 and found[0] in taken:
            told = f"{device.port} of the {device.name} is {found[0]}, which is the port of the {taken[found[0]]} too"
            yield Finding("ports", Health.WRONG, f"{told}: correct one of them; {_plugged_in(context)}.")
        elif len(found) == 1:
            taken[found[0]] = device.name
            yield Finding("ports", Health.OK, f"The {device.name} is plugged in: {device.port} is {found[0]}.")
        elif found:
            several = f"{device.port} of the {device.name} fits {len(found)} devices ({', '.join(found)})"
            yield Finding("ports", Health.WRONG, f"{several}: unplug the others, or name it by its place.")
        else:
            missing = f"There is no device at {device.port} for the {device.name}"
            yield Finding("ports", Health.WRONG, f"{missing}: plug it in, or correct its port; {_plugged_in(context)}.")


def twins(context: DoctorContext) -> Iterator[Finding]:
    """Devices that nothing tells apart but the socket they are in."""
    check = "twins"
    everything = usb_devices(context.machine)
    alike = Counter(device.twin_key for device in everything)
    mine = {(device.name, usb) for device, usb in _usb(context)}
    for name, usb in sorted(mine, key=lambda one: one[0]):
        by_place = _names_place(context, name)
        if alike[usb.twin_key] > 1 and not by_place:
            same = "the same serial number" if usb.serial_number else "no serial number"
            told = f"The {name}, {usb.called}, is one of {alike[usb.twin_key]} devices of its make with {same}"
            yield Finding(check, Health.WRONG, f"{told}: name its port by its place, /dev/table/port-...")
        elif usb.serial_number is None and not by_place:
            told = f"The {name}, {usb.called}, has no serial number, so that a second one would be taken for it"
            yield Finding(check, Health.WARNING, f"{told}: name its port by its place, /dev/table/port-...")
        elif (number := _kernel_number(context, name)) is not None:
            told = f"The {name} is at {number}, a number that goes to whatever is plugged in next"
            names = _links(context, number)
            instead = f"name its port {' or '.join(names)}" if names else "give it a name by a rule of udev"
            yield Finding(check, Health.WARNING, f"{told}: {instead}.")
        else:
            how = "its place" if by_place else "its serial number"
            yield Finding(check, Health.OK, f"The {name}, {usb.called}, is known by {how}.")


def access(context: DoctorContext) -> Iterator[Finding]:
    """May the service's user open what is configured, and nobody else whom it does not concern?"""
    groups = service_groups(context.machine, context.unit)
    user = context.machine.user_id(context.unit.user)
    for device, node in _nodes(context):
        if (closed := _closed(context, node)) is not None:
            told = f"The unit of the service keeps {node} of the {device.name} closed"
            what = f"open it by a drop-in with DeviceAllow={closed} rw (systemctl edit firmware-bridge)"
            yield Finding("access", Health.WRONG, f"{told}: {what}.")
        there = context.machine.at(node).stat()
        mode = stat.S_IMODE(there.st_mode)
        group = context.machine.group_name(there.st_gid)
        about = f"{node} of the {device.name} (group {group}, mode {mode:04o})"
        owned = there.st_uid == user and mode >> 6 & _READ_WRITE == _READ_WRITE
        if mode & _READ_WRITE:
            told = f"{about} is open to everybody"
            yield Finding("access", Health.WARNING, f"{told}: give it a group and mode 0660 by a rule of udev.")
        elif owned or (there.st_gid in groups and mode >> 3 & _READ_WRITE == _READ_WRITE):
            yield Finding("access", Health.OK, f"The service may open {about}.")
        elif mode >> 3 & _READ_WRITE == _READ_WRITE and there.st_gid != 0:
            told = f"The service may not open {about}, because {context.unit.user} is not in the group {group}"
            what = "print a rule with firmware-bridge suggest-udev, or add SupplementaryGroups= to the unit"
            yield Finding("access", Health.WRONG, f"{told}: {what}.")
        else:
            told = f"The service may not open {about}, because no rule of udev gave it to a group"
            yield Finding("access", Health.WRONG, f"{told}: print one with firmware-bridge suggest-udev.")


def holders(context: DoctorContext) -> Iterator[Finding]:
    """Does anybody but the service have a port open?"""
    service = context.machine.ask(("systemctl", "show", "--property=MainPID", "--value", UNIT)) or ""
    for device, node in _nodes(context):
        there = context.machine.at(node).stat()
        others = [
            one for one in other_holders(there, proc=context.machine.at("/proc")) if str(one.pid) != service.strip()
        ]
        if others:
            told = f"{node} of the {device.name} is held by {others[0]}"
            yield Finding("holders", Health.WRONG, f"{told}: end it, or keep it from that port.")
        elif os.geteuid() != 0:
            yield Finding("holders", Health.UNKNOWN, f"Who holds {node} is shown to root alone: run this as root.")
        else:
            yield Finding("holders", Health.OK, f"Nobody but the service has {node} of the {device.name} open.")


def _found(context: DoctorContext, port: Port) -> list[str]:
    if isinstance(port, UsbPort):
        return [usb.called for usb in usb_devices(context.machine) if _fits(usb, port)]
    return context.nodes(port)


def _fits(usb: UsbDevice, port: UsbPort) -> bool:
    wanted = (
        (_four_digits(port.vendor_id), usb.vendor_id.lower()),
        (_four_digits(port.product_id), usb.product_id.lower()),
        (port.serial_number, usb.serial_number),
        (port.path, usb.place),
    )
    return all(asked is None or asked == there for asked, there in wanted)


def _four_digits(number: int | None) -> str | None:
    return None if number is None else f"{number:04x}"


def _is_line(context: DoctorContext, node: str) -> bool:
    """The kernel lists it, or at least it is a device: the kernel lists no pty."""
    return serial_line(context.machine, node) is not None or stat.S_ISCHR(context.machine.at(node).stat().st_mode)


def _closed(context: DoctorContext, node: str) -> str | None:
    """The DeviceAllow= that the service lacks for a node; None where it may reach it, as far as can be told."""
    allowed = context.unit.devices
    kind = next((wanted for name, wanted in _CLASSES.items() if node.startswith(f"/dev/{name}")), None)
    if allowed is None or kind is None:
        return None
    return None if any(fnmatch.fnmatch(kind, one) or fnmatch.fnmatch(node, one) for one in allowed) else kind


def _kernel_number(context: DoctorContext, name: str) -> str | None:
    """The port of this device, where it is a node's own name."""
    for device, port in context.ports():
        if device.name == name and isinstance(port, SerialPort) and _KERNEL_NUMBER.fullmatch(port.path):
            return port.path
    return None


def _links(context: DoctorContext, node: str) -> list[str]:
    """The names that the rules gave to a node."""
    names = [context.machine.named(path) for path in context.machine.files(["/dev/table"], "")]
    return [name for name in names if resolved(context.machine, name) == node]


def _usb(context: DoctorContext) -> Iterator[tuple[DeviceConfig, UsbDevice]]:
    for device, line in context.lines():
        if line.usb is not None:
            yield device, line.usb
    for device, port in context.ports():
        if isinstance(port, UsbPort):
            yield from ((device, usb) for usb in usb_devices(context.machine) if _fits(usb, port))


def _nodes(context: DoctorContext) -> Iterator[tuple[DeviceConfig, str]]:
    """The nodes of the configured devices that are there."""
    for device, port in context.ports():
        for node in context.nodes(port):
            yield device, node
        if isinstance(port, UsbPort):
            for usb in (usb for usb in usb_devices(context.machine) if _fits(usb, port)):
                numbers = (context.machine.read(f"{usb.folder}/{name}") for name in ("busnum", "devnum"))
                node = "/dev/bus/usb/" + "/".join((number or "").zfill(3) for number in numbers)
                if context.machine.at(node).exists():
                    yield device, node


def _names_place(context: DoctorContext, name: str) -> bool:
    """Is the port of this device named by the socket it is in?"""
    for device, port in context.ports():
        if device.name == name:
            match port:
                case SerialPort(path=path):
                    return "/port-" in path or "/by-path/" in path
                case SerialByProperty(properties=properties):
                    return any(key in ("ID_PATH", "ID_PATH_TAG") for key, _ in properties)
                case UsbPort(path=path):
                    return path is not None
    return False


def _plugged_in(context: DoctorContext) -> str:
    names = [context.machine.named(path) for path in context.machine.files(["/dev/table"], "")]
    return f"plugged in are {', '.join(names)}" if names else "nothing that udev knows as a machine is plugged in"
