"""What the kernel and the programs around it do to USB devices: sleep, delays, probing, theft, interference."""

import re
from collections.abc import Iterator
from typing import Final

from drivers.usb_ids import PRODUCTS, VENDOR
from firmware_bridge.doctor.context import DoctorContext
from firmware_bridge.doctor.devices import UsbDevice, serial_lines, usb_devices
from firmware_bridge.doctor.findings import Finding, Health

# "usb 1-4: usbfs: interface 0 claimed by ch341 while 'brltty' sets config #1"
_STOLEN: Final = re.compile(r"interface \d+ claimed by (\S+) while '(\S+)' sets config")
_INTERFERENCE: Final = re.compile(r"disabled by hub \(EMI\?\)|urb stopped: -32|device descriptor read/\w+, error -71")
LOGS: Final = (("journalctl", "--quiet", "--dmesg", "--boot", "--no-pager", "--output=short-monotonic"), ("dmesg",))


def autosuspend(context: DoctorContext) -> Iterator[Finding]:
    """A machine that is put to sleep while it is idle misses what it is told next."""
    for usb in _table_devices(context):
        if usb.power == "on":
            yield Finding("autosuspend", Health.OK, f"{usb.called} is kept awake.")
        elif usb.power is None:
            yield Finding("autosuspend", Health.UNKNOWN, f"Whether {usb.called} is kept awake cannot be seen.")
        else:
            told = f"{usb.called} is put to sleep when it is idle (power/control is {usb.power})"
            what = "install the rule of udev and plug it in again, and keep TLP, powertop and the like off it"
            yield Finding("autosuspend", Health.WRONG, f"{told}: {what}.")


def latency(context: DoctorContext) -> Iterator[Finding]:
    """Whether a USB adapter passes bytes on at once."""
    for device, line in context.lines():
        if line.latency_timer is None:
            continue
        if line.latency_timer > 1:
            told = f"The adapter of the {device.name} keeps bytes back for {line.latency_timer} ms"
            yield Finding("latency", Health.WARNING, f"{told}: install the rule of udev and plug it in again.")
        else:
            yield Finding("latency", Health.OK, f"The adapter of the {device.name} hands bytes on at once.")


def modem_manager(context: DoctorContext) -> Iterator[Finding]:
    """It talks to every new serial line until it is told to leave one alone."""
    check = "ModemManager"
    running = context.machine.processes("ModemManager")
    if not running:
        yield Finding(check, Health.OK, "ModemManager does not run.")
        return
    bothered = [
        f"{line.node} of the {device.name}"
        for device, line in context.lines()
        if not {line.properties.get("ID_MM_DEVICE_IGNORE"), line.properties.get("ID_MM_PORT_IGNORE")} & {"1"}
    ]
    if bothered:
        told = f"ModemManager (process {running[0]}) talks to {' and '.join(bothered)} whenever it is plugged in"
        yield Finding(check, Health.WRONG, f"{told}: install the rule of udev, or take ModemManager off this machine.")
    else:
        yield Finding(check, Health.OK, "ModemManager runs, and leaves the machines alone.")


def kernel_log(context: DoctorContext) -> Iterator[Finding]:
    """What the kernel has to say of devices that failed: brown-outs, resets, errors."""
    log = next((text for command in LOGS if (text := context.machine.ask(command)) is not None), None)
    if log is None:
        yield Finding("brltty", Health.UNKNOWN, "The kernel's log is shown to root alone: run this as root.")
        return
    stolen = _STOLEN.search(log)
    if stolen is not None:
        told = f"{stolen[2]} took an adapter away from its driver {stolen[1]} since this machine was started"
        what = "take it off this machine (apt-get remove brltty), or bring it to version 6.5 or newer"
        yield Finding("brltty", Health.WRONG, f"{told}: {what}.")
    else:
        yield Finding("brltty", Health.OK, "Nobody took an adapter away from its driver.")
    disturbed = len(_INTERFERENCE.findall(log))
    if disturbed:
        told = f"USB was disturbed {disturbed} times since this machine was started"
        what = "lead its cables away from motors, use short screened ones and a hub with its own power"
        yield Finding("interference", Health.WARNING, f"{told}: {what}.")
    else:
        yield Finding("interference", Health.OK, "The kernel tells of no disturbed USB line.")


def _table_devices(context: DoctorContext) -> list[UsbDevice]:
    """The configured machines, and what the project's own numbers or udev's rules show to be one."""
    numbers = {(f"{VENDOR:04x}", f"{product:04x}") for product in PRODUCTS.values()}
    configured = {line.usb.place for _, line in context.lines() if line.usb is not None}
    marked = {
        line.usb.place
        for line in serial_lines(context.machine)
        if line.usb is not None and "TABLE_DEVICE" in line.properties
    }
    return [
        usb
        for usb in usb_devices(context.machine)
        if usb.place in configured | marked or (usb.vendor_id, usb.product_id) in numbers
    ]
