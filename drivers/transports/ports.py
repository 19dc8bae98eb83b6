"""The text that names a port in the configuration; each kind of port and what its text may say stands below."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from drivers.errors import PortNameError

DEFAULT_BAUD: Final = 115_200
HIGHEST_BAUD: Final = 4_000_000
SERIAL_FORM: Final = "serial:/dev/NAME, serial:/dev/NAME@BAUD, either followed by any of ,dtr=off ,rts=off ,hupcl=off"
BY_FORM: Final = "serial:by=PROPERTY=VALUE, such as serial:by=ID_SERIAL_SHORT=A123 or serial:by=ID_PATH=..."
USB_FORM: Final = (
    "usb:vid=HHHH,pid=HHHH,serial=TEXT, where serial, or vid and pid, may be left out, and path=BUS-PORT.PORT added"
)
TCP_FORM: Final = "tcp:HOST:PORT or tcp:[IPv6 ADDRESS]:PORT"
REPLAY_FORM: Final = "replay:FILE"
FORM: Final = f"{SERIAL_FORM}; {BY_FORM}; {USB_FORM}; {TCP_FORM}; {REPLAY_FORM}"
_USB_VALUES: Final = {
    "vid": re.compile(r"[0-9a-fA-F]{4}"),
    "pid": re.compile(r"[0-9a-fA-F]{4}"),
    "serial": re.compile(r"[ -+\--~]{1,126}"),
    "path": re.compile(r"[1-9][0-9]{0,2}-[1-9][0-9]{0,2}(\.[1-9][0-9]{0,2}){0,6}"),
}
_PROPERTY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HOST: Final = re.compile(r"\[(?P<v6>[0-9A-Fa-f:.]+(?:%[A-Za-z0-9_.-]+)?)\]|(?P<name>[A-Za-z0-9_.-]+)")


@dataclass(frozen=True, slots=True)
class SerialPort:
    """A serial line: 8 data bits, no parity, 1 stop bit, no flow control.

    `dtr`, `rts`: level of the modem line while the port is open. The kernel raises both for a moment at every open.
    `hupcl`: let the lines drop when the port is closed; some boards start anew on that, so it can be turned off.
    """

    path: str
    baud: int = DEFAULT_BAUD
    dtr: bool = True
    rts: bool = True
    hupcl: bool = True

    @property
    def place(self) -> str:
        """Two ports with one place are one port."""
        return self.path


@dataclass(frozen=True, slots=True)
class SerialByProperty:
    """The one serial line whose udev properties have these values, looked up anew at every opening.

    `line` holds the settings; its path is empty.
    """

    properties: tuple[tuple[str, str], ...]
    line: SerialPort

    @property
    def place(self) -> str:
        """The port in words."""
        return " and ".join(f"{name}={value}" for name, value in self.properties)


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


@dataclass(frozen=True, slots=True)
class TcpPort:
    """A line of a terminal server that passes bytes on as they are."""

    host: str
    port: int

    @property
    def place(self) -> str:
        """The port in words."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class ReplayPort:
    """A recording that is played back in place of its device."""

    path: str

    @property
    def place(self) -> str:
        """The port in words."""
        return self.path


Port: TypeAlias = SerialPort | SerialByProperty | UsbPort | TcpPort | ReplayPort


def parse_port(text: str) -> Port:
    """Read a port's text. Raises PortNameError, whose sentence shows the forms that can be read."""
    scheme, colon, rest = text.partition(":")
    if text.startswith("/"):
        raise PortNameError(f'the port "{text}" lacks its kind: write "serial:{text}"')
    if scheme == "pty":
        raise PortNameError(f'the port "{text}" does not say which pty: write "serial:/dev/pts/NUMBER"')
    if scheme not in _READERS or not colon:
        raise PortNameError(f'the port "{text}" cannot be read: write {FORM}')
    return _READERS[scheme](text, rest)


def _serial(text: str, rest: str) -> Port:
    head, *settings = rest.split(",")
    name, at, speed = head.rpartition("@") if "@" in head else (head, "", str(DEFAULT_BAUD))
    by_property = head.startswith("by=")
    if by_property and at and not _is_speed(speed):
        name, speed = head, str(DEFAULT_BAUD)  # a property's value may contain an "@"
    elif not by_property and (
        not name.startswith("/") or name.endswith("/") or any(c.isspace() or not c.isprintable() for c in name)
    ):
        raise PortNameError(f'the port "{text}" needs the absolute path of a device: write {SERIAL_FORM}; {BY_FORM}')
    if not _is_speed(speed):
        raise PortNameError(f'the port "{text}" needs a speed from 50 to {HIGHEST_BAUD} baud after the "@"')
    properties = [_property(text, name)] if by_property else []
    levels: dict[str, bool] = {}
    for setting in settings:
        if by_property and setting.startswith("by="):
            properties.append(_property(text, setting))
            continue
        key, _, level = setting.partition("=")
        if key not in ("dtr", "rts", "hupcl") or level not in ("on", "off") or key in levels:
            raise PortNameError(
                f'the port "{text}" has the setting "{setting}": write dtr, rts and hupcl once at most, =on or =off'
            )
        levels[key] = level == "on"
    if by_property:
        return SerialByProperty(tuple(sorted(properties)), SerialPort("", baud=int(speed), **levels))
    return SerialPort(path=os.path.normpath(name), baud=int(speed), **levels)


def _is_speed(text: str) -> bool:
    return text.isascii() and text.isdecimal() and 50 <= int(text) <= HIGHEST_BAUD


def _property(text: str, setting: str) -> tuple[str, str]:
    name, _, value = setting.removeprefix("by=").partition("=")
    if not _PROPERTY.fullmatch(name) or not value or not value.isprintable():
        raise PortNameError(f'the port "{text}" needs the name of a udev property and its value: write {BY_FORM}')
    return name, value


def _tcp(text: str, rest: str) -> TcpPort:
    host, _, number = rest.rpartition(":")
    match = _HOST.fullmatch(host)
    if match is None or not (number.isascii() and number.isdecimal() and 1 <= int(number) <= 65_535):
        raise PortNameError(f'the port "{text}" needs a host and a port from 1 to 65535: write {TCP_FORM}')
    return TcpPort(match["v6"] or match["name"], int(number))


def _replay(text: str, rest: str) -> ReplayPort:
    if not rest.strip() or rest.endswith("/") or not rest.isprintable():
        raise PortNameError(f'the port "{text}" needs the file of a recording: write {REPLAY_FORM}')
    return ReplayPort(os.path.normpath(rest))


def usb_port(text: str, rest: str) -> UsbPort:
    """The port of `text`, which is "usb:" and `rest`. Raises PortNameError."""
    values: dict[str, str] = {}
    for setting in rest.split(","):
        name, _, value = setting.partition("=")
        if name not in _USB_VALUES or name in values or not _USB_VALUES[name].fullmatch(value):
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


_READERS: Final[dict[str, Callable[[str, str], Port]]] = {
    "serial": _serial,
    "usb": usb_port,
    "tcp": _tcp,
    "replay": _replay,
}
