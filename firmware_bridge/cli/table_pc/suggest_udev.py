"""`firmware-bridge suggest-udev`: rules of udev for what is plugged in."""

from typing import Any, Final

import typer

from firmware_bridge.cli.errors import CommandError
from firmware_bridge.doctor.suggestions import Adapter, suggest

VENDOR_CLASS: Final = "ff"


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("suggest-udev")(suggest_udev)


def suggest_udev() -> None:
    """Print a rule of udev for every serial line and vendor's device on USB that is plugged in and not known yet."""
    adapters = _adapters()
    if not adapters:
        raise CommandError("Nothing that could be a machine is plugged in at USB: plug one in, then ask again.")
    lines = suggest(adapters)
    if not lines:
        nodes = ", ".join(adapter.node for adapter in adapters)
        typer.echo(f"# The rules that are installed know everything that is plugged in: {nodes}")
    for line in lines:
        typer.echo(line)


def _adapters() -> list[Adapter]:
    """Raises CommandError."""
    try:
        import pyudev  # here, so that nothing else of the daemon's tools needs udev

        context = pyudev.Context()
        found = [
            *context.list_devices(subsystem="tty"),
            *context.list_devices(subsystem="usb", DEVTYPE="usb_interface"),
        ]
    except (ImportError, OSError) as error:
        raise CommandError(f"There is no libudev here ({error}): apt-get install libudev1.") from error
    return [adapter for device in found if (adapter := _adapter(device)) is not None]


def _adapter(device: Any) -> Adapter | None:
    """A serial line, or an interface of the vendor's own that no driver has taken: what libusb opens."""
    parent = device.find_parent("usb", "usb_device")
    serial = device.subsystem == "tty"
    if parent is None or not (serial or (_text(device, "bInterfaceClass") == VENDOR_CLASS and device.driver is None)):
        return None
    interface = device.find_parent("usb", "usb_interface") if serial else device
    return Adapter(
        node=(device if serial else parent).device_node or "not ready yet",
        vendor_id=_text(parent, "idVendor") or "",
        product_id=_text(parent, "idProduct") or "",
        product=_text(parent, "product") or "an adapter without a name",
        serial_number=_text(parent, "serial"),
        place=parent.sys_name,
        interface=None if interface is None else _text(interface, "bInterfaceNumber"),
        known="TABLE_DEVICE" in (device if serial else parent).properties,
    )


def _text(device: Any, name: str) -> str | None:
    value = device.attributes.get(name)
    return None if value is None else value.decode(errors="replace").rstrip() or None  # as udev compares it
