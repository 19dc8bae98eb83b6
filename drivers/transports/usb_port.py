"""The text that names a USB device in the configuration: "usb:vid=1209,pid=5450,serial=S-1"."""

import re
from dataclasses import dataclass
from typing import Final

from drivers.errors import PortNameError

USB_FORM: Final = (
    "usb:vid=HHHH,pid=HHHH,serial=TEXT, where serial, or vid and pid, may be left out, and path=BUS-PORT.PORT added"
)
_VALUES: Final = {
    "vid": re.compile(r"[0-9a-fA-F]{4}"),
    "pid": re.compile(r"[0-9a-fA-F]{4}"),
    "serial": re.compile(r"[ -+\--~]{1,126}"),
    "path": re.compile(r"[1-9][0-9]{0,2}-[1-9][0-9]{0,2}(\.[1-9][0-9]{0,2}){0,6}"),
}


@dataclass(frozen=True, slots=True)
class UsbPort:
    """A vendor-class device with bulk endpoints; what is None fits any.

    `path`: bus and ports as the kernel names them, "1-4.2": what is left for twins without serial numbers.
    """

    vendor_id: int | None = None
    product_id: int | None = None
    serial_number: str | None = None
    path: str | None = None

    @property
    def place(self) -> str:
        """Two ports with one place are one port."""
        named = {
            "vid": None if self.vendor_id is None else f"{self.vendor_id:04x}",
            "pid": None if self.product_id is None else f"{self.product_id:04x}",
            "serial": self.serial_number,
            "path": self.path,
        }
        return "usb:" + ",".join(f"{name}={value}" for name, value in named.items() if value is not None)


def usb_port(text: str, rest: str) -> UsbPort:
    """The port of `text`, which is "usb:" and `rest`. Raises PortNameError."""
    values: dict[str, str] = {}
    for setting in rest.split(","):
        name, _, value = setting.partition("=")
        if name not in _VALUES or name in values or not _VALUES[name].fullmatch(value):
            raise PortNameError(f'the port "{text}" has the setting "{setting}": write {USB_FORM}')
        values[name] = value
    if ("vid" in values) != ("pid" in values):
        raise PortNameError(f'the port "{text}" needs both vid and pid, or neither: write {USB_FORM}')
    return UsbPort(
        vendor_id=int(values["vid"], 16) if "vid" in values else None,
        product_id=int(values["pid"], 16) if "pid" in values else None,
        serial_number=values.get("serial"),
        path=values.get("path"),
    )
