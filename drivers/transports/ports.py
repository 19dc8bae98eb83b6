"""The text that names a port in the configuration: "serial:/dev/ttyACM0", "serial:/dev/ttyUSB0@9600,dtr=off"."""

import os
from dataclasses import dataclass
from typing import Final

from drivers.errors import PortNameError

DEFAULT_BAUD: Final = 115_200
HIGHEST_BAUD: Final = 4_000_000
FORM: Final = "serial:/dev/NAME, serial:/dev/NAME@BAUD, either followed by any of ,dtr=off ,rts=off ,hupcl=off"
NOT_YET: Final = ("usb", "pty", "replay", "tcp")


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


def parse_port(text: str) -> SerialPort:
    """Read a port's text. Raises PortNameError, whose sentence shows the forms that can be read."""
    scheme, colon, rest = text.partition(":")
    if text.startswith("/"):
        raise PortNameError(f'the port "{text}" lacks its kind: write "serial:{text}"')
    if scheme in NOT_YET or rest.startswith("by="):
        raise PortNameError(f'ports of the form "{text}" are not supported by this version: write {FORM}')
    if scheme != "serial" or not colon:
        raise PortNameError(f'the port "{text}" cannot be read: write {FORM}')
    head, *settings = rest.split(",")
    path, _, speed = head.rpartition("@") if "@" in head else (head, "", str(DEFAULT_BAUD))
    if not path.startswith("/") or path.endswith("/") or any(c.isspace() or not c.isprintable() for c in path):
        raise PortNameError(f'the port "{text}" needs the absolute path of a device: write {FORM}')
    if not (speed.isascii() and speed.isdecimal() and 50 <= int(speed) <= HIGHEST_BAUD):
        raise PortNameError(f'the port "{text}" needs a speed from 50 to {HIGHEST_BAUD} baud after the "@"')
    levels: dict[str, bool] = {}
    for setting in settings:
        name, _, level = setting.partition("=")
        if name not in ("dtr", "rts", "hupcl") or level not in ("on", "off") or name in levels:
            raise PortNameError(
                f'the port "{text}" has the setting "{setting}": write dtr, rts and hupcl once at most, =on or =off'
            )
        levels[name] = level == "on"
    return SerialPort(path=os.path.normpath(path), baud=int(speed), **levels)
