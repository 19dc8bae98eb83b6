"""Opening the port that the configuration names, whatever kind it is of."""

from dataclasses import replace
from typing import TYPE_CHECKING

from drivers.transports.ports import Port, ReplayPort, SerialByProperty, SerialPort, TcpPort, UsbPort, parse_port
from drivers.transports.transport import OnData, OnLost, OpenPort, Transport

if TYPE_CHECKING:
    from drivers.transports.replay import Recordings


async def open_transport(port_text: str, on_data: OnData, on_lost: OnLost) -> Transport:
    """Open the port named in the configuration; a recording is played from its beginning.

    Raises PortNameError for a text that cannot be read, and PortMissing, PortForbidden, PortHeld, PortAmbiguous or
    PortUnusable, each with its sentence, for a port that cannot be opened; nothing stays open then.
    """
    return await new_opener()(port_text, on_data, on_lost)


def new_opener() -> OpenPort:
    """`open_transport` for one run, in which the next opening of a recording plays its next connection."""
    from drivers.transports.replay import Recordings

    recordings = Recordings()

    async def open_port(port_text: str, on_data: OnData, on_lost: OnLost) -> Transport:
        return await _open(parse_port(port_text), recordings, on_data, on_lost)

    return open_port


async def _open(port: Port, recordings: "Recordings", on_data: OnData, on_lost: OnLost) -> Transport:
    # Imported where they are needed: who opens no serial port needs no pyserial and no libusb.
    match port:
        case SerialPort():
            from drivers.transports.serial import open_serial

            return await open_serial(port, on_data, on_lost)
        case SerialByProperty(line=line):
            from drivers.transports.discovery import find_serial
            from drivers.transports.serial import open_serial

            return await open_serial(replace(line, path=await find_serial(port)), on_data, on_lost)
        case UsbPort():
            from drivers.transports.usb import open_usb

            return await open_usb(port, on_data, on_lost)
        case TcpPort():
            from drivers.transports.tcp import open_tcp

            return await open_tcp(port, on_data, on_lost)
        case ReplayPort():
            return await recordings.open(port, on_data, on_lost)
