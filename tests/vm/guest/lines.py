"""In the guest: what a real serial line does that no pty shows, with the project's own transport on it.

`python -m tests.vm.guest.lines adapter | acm`; prints JSON.
"""

import asyncio
import errno
import fcntl
import json
import os
import pwd
import struct
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import serial

from drivers.errors import LinkError, PortHeld
from drivers.transports.opening import open_transport
from tests.vm.guest.adapters import Adapters, AdapterWire
from tests.vm.guest.gadgets import AcmWire, Controllers

UDEV_S: Final = 30.0
NODES: Final = {"adapter": Path("/dev/table/adapter-TDP-SHOE-00"), "acm": Path("/dev/table/shoe-0123-00")}
TO_AND_FRO: Final = bytes(range(256)) * 8


async def until(ready: Callable[[], bool], what: str) -> None:
    deadline_s = time.monotonic() + UDEV_S
    while not ready():
        if time.monotonic() > deadline_s:
            raise TimeoutError(what)
        await asyncio.sleep(0.02)


async def look(kind: str) -> dict[str, Any]:
    node = NODES[kind]
    far: list[bytes] = []
    arrived: list[bytes] = []
    lost: list[LinkError] = []
    wire: AdapterWire | AcmWire
    if kind == "adapter":
        wire = AdapterWire(Adapters(), Path("shoe"), far.append)
    else:
        wire = AcmWire(Controllers(), Path("shoe"), far.append)
    told: dict[str, Any] = {"found": False}
    try:
        wire.plug()
        await until(node.exists, f"udev to make {node}")
        told |= {"found": True, "seven_even_one": seven_even_one(node)}
        for level in ("on", "off"):
            port = await open_transport(f"serial:{node},dtr={level},rts={level}", arrived.append, lost.append)
            told[f"lines_{level}"] = modem_lines(node)
            await port.close()
        port = await open_transport(f"serial:{node}", arrived.append, lost.append)
        told |= {"as_nobody": open_as_nobody(node), "held": await second_open(node)}
        port.write(TO_AND_FRO)
        await until(lambda: b"".join(far).endswith(TO_AND_FRO), "bytes to the machine")
        wire.write(TO_AND_FRO)
        await until(lambda: b"".join(arrived).endswith(TO_AND_FRO), "bytes from the machine")
        wire.pull()
        await until(lambda: bool(lost), "the loss to be told")
        await until(lambda: not node.exists(), f"udev to take {node} away")
        told |= {"lost": [str(error) for error in lost], "still_open": open_lines()}
        await port.close()
    finally:
        wire.close()
    return told


def seven_even_one(node: Path) -> str:
    """What the kernel says that the line is set to, after it was asked for 7E1."""
    with serial.Serial(str(node), bytesize=serial.SEVENBITS, parity=serial.PARITY_EVEN) as line:
        flags = termios.tcgetattr(line.fileno())[2]
    bits = {termios.CS7: 7, termios.CS8: 8}[flags & termios.CSIZE]
    parity = ("O" if flags & termios.PARODD else "E") if flags & termios.PARENB else "N"
    return f"{bits}{parity}{2 if flags & termios.CSTOPB else 1}"


def modem_lines(node: Path) -> list[str]:
    """Which of DTR and RTS are up on the line that this process has open."""
    fd = next(fd for fd in os.listdir("/proc/self/fd") if leads_to(fd, node))
    (state,) = struct.unpack("I", fcntl.ioctl(int(fd), termios.TIOCMGET, bytes(4)))
    return [name for name, bit in (("DTR", termios.TIOCM_DTR), ("RTS", termios.TIOCM_RTS)) if state & bit]


def leads_to(fd: str, node: Path) -> bool:
    try:
        return Path("/proc/self/fd", fd).resolve() == node.resolve()
    except OSError:
        return False


def open_lines() -> list[str]:
    targets = [str(Path("/proc/self/fd", fd).resolve()) for fd in os.listdir("/proc/self/fd")]
    return [target for target in targets if target.startswith(("/dev/ttyUSB", "/dev/ttyACM"))]


def open_as_nobody(node: Path) -> str:
    """As a user of the machines' group: root is let in whatever another process has asked for."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgid(node.stat().st_gid)
        os.setuid(pwd.getpwnam("nobody").pw_uid)
        try:
            os.open(node, os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY)
            outcome = "opened"
        except OSError as error:
            outcome = errno.errorcode.get(error.errno or 0, str(error))
        os.write(writing, outcome.encode())
        os._exit(0)
    os.waitpid(child, 0)
    return os.read(reading, 100).decode()


async def second_open(node: Path) -> str:
    try:
        await open_transport(f"serial:{node}", lambda data: None, lambda error: None)
    except PortHeld as held:
        return str(held)
    return "opened"


if __name__ == "__main__":
    print(json.dumps(asyncio.run(look(sys.argv[1]))))
