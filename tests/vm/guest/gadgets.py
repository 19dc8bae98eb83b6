"""In the guest: USB devices of the kernel's own making (configfs), on its dummy controllers: bus, descriptors, uevents
and class drivers are the real ones. A device goes onto another controller every time, which is another socket.
"""

import asyncio
import os
import queue
import shutil
import struct
import subprocess
import threading
import tty
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from drivers.driver import DeviceKind
from drivers.usb_ids import PRODUCTS, VENDOR

CONTROLLERS: Final = 6
GADGETS: Final = Path("/sys/kernel/config/usb_gadget")
PACKET: Final = 512
CHUNK: Final = 4096
ENGLISH: Final = 0x0409
VENDOR_CLASS: Final = 0xFF
BULK: Final = 2
FULL_SPEED: Final = 1
HIGH_SPEED: Final = 2


def load() -> None:
    """Have the controllers there, and the folder in which gadgets are made."""
    run("modprobe", "-a", "libcomposite", "cdc_acm")
    if not Path("/sys/module/dummy_hcd").exists():
        run("modprobe", "dummy_hcd", f"num={CONTROLLERS}")
    if not GADGETS.exists():
        run("mount", "-t", "configfs", "none", str(GADGETS.parent))


def run(command: str, *arguments: str) -> None:
    subprocess.run([shutil.which(command) or command, *arguments], check=True)


class Gadget:
    """One device with one function, "acm.NAME" or "ffs.NAME"."""

    def __init__(self, kind: DeviceKind, function: str) -> None:
        self._folder = GADGETS / kind.value
        self._function = self._folder / "functions" / function
        self._bound = False
        self.remove()
        self._function.mkdir(parents=True)
        self._write("idVendor", f"{VENDOR:#06x}")
        self._write("idProduct", f"{PRODUCTS[kind]:#06x}")
        strings = {"manufacturer": "Simulated Devices", "product": f"TDP {kind.value}", "serialnumber": "0123"}
        self._folder.joinpath("strings/0x409").mkdir()
        for name, text in strings.items():
            self._write(f"strings/0x409/{name}", text)
        self._folder.joinpath("configs/c.1").mkdir()
        self._folder.joinpath("configs/c.1", function).symlink_to(self._function)

    def attribute(self, name: str) -> str:
        return self._function.joinpath(name).read_text(encoding="ascii").strip()

    def bind(self, controller: str) -> None:
        self._write("UDC", controller)
        self._bound = True

    def unbind(self) -> None:
        if self._bound:
            self._write("UDC", "\n")
            self._bound = False

    def remove(self) -> None:
        """A gadget of an earlier run is taken apart in this order or not at all."""
        if not self._folder.exists():
            return
        with suppress(OSError):
            self._write("UDC", "\n")
        for link in self._folder.glob("configs/*/*.*"):
            link.unlink()
        for pattern in ("configs/*/strings/*", "configs/*", "functions/*", "strings/*"):
            for folder in self._folder.glob(pattern):
                if folder.is_dir() and folder.name != "strings":
                    folder.rmdir()
        self._folder.rmdir()

    def _write(self, name: str, text: str) -> None:
        self._folder.joinpath(name).write_text(text, encoding="ascii")


class Controllers:
    """Each plug uses the next one."""

    def __init__(self) -> None:
        load()
        self._free = [path.name for path in sorted(Path("/sys/class/udc").iterdir())]

    def take(self) -> str:
        return self._free.pop(0)


class AcmWire:
    """A serial line of the CDC-ACM class: the daemon has /dev/ttyACM…, this end is /dev/ttyGS…"""

    def __init__(self, controllers: Controllers, path: Path, on_data: Callable[[bytes], None]) -> None:
        self.path: Final = path
        self.sockets: Final[list[str]] = []
        self._controllers = controllers
        self._on_data = on_data
        self._gadget = Gadget(DeviceKind(path.name), f"acm.{path.name}")
        self._node = f"/dev/ttyGS{self._gadget.attribute('port_num')}"
        self._fd: int | None = None
        self._pending = bytearray()

    @property
    def plugged(self) -> bool:
        return self._fd is not None

    def plug(self) -> None:
        if self._fd is not None:
            return
        self._pending.clear()
        self._fd = os.open(self._node, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self._fd)
        asyncio.get_running_loop().add_reader(self._fd, self._readable)
        self.sockets.append(self._controllers.take())
        self._gadget.bind(self.sockets[-1])

    def pull(self) -> None:
        if self._fd is None:
            return
        self._gadget.unbind()
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._fd)
        loop.remove_writer(self._fd)
        os.close(self._fd)
        self._fd = None

    def close(self) -> None:
        self.pull()
        self._gadget.remove()

    def write(self, data: bytes) -> None:
        if self._fd is not None and data:
            self._pending += data
            self._writable()

    def _readable(self) -> None:
        if self._fd is not None:
            with suppress(OSError):  # nothing there yet, or hung up by a pull that is under way
                data = os.read(self._fd, CHUNK)
                if data:
                    self._on_data(data)

    def _writable(self) -> None:
        if self._fd is None:
            return
        loop = asyncio.get_running_loop()
        with suppress(BlockingIOError):
            while self._pending:
                del self._pending[: os.write(self._fd, self._pending[:CHUNK])]
            loop.remove_writer(self._fd)
            return
        loop.add_writer(self._fd, self._writable)


class BulkWire:
    """A vendor-class interface with a bulk endpoint each way, served through FunctionFS."""

    def __init__(self, controllers: Controllers, path: Path, on_data: Callable[[bytes], None]) -> None:
        self.path: Final = path
        self.sockets: Final[list[str]] = []
        self._controllers = controllers
        self._on_data = on_data
        self._folder = Path("/run") / f"ffs-{path.name}"
        self._folder.mkdir(exist_ok=True)
        if self._folder.is_mount():  # an earlier run's
            run("umount", str(self._folder))
        self._gadget = Gadget(DeviceKind(path.name), f"ffs.{path.name}")
        run("mount", "-t", "functionfs", path.name, str(self._folder))
        self._control = os.open(self._folder / "ep0", os.O_RDWR)
        os.write(self._control, descriptors())
        os.write(self._control, strings("TDP"))
        self._outgoing: queue.SimpleQueue[tuple[int, bytes]] = queue.SimpleQueue()
        self._plug = 0
        self._plugged = False
        for work in (self._read, self._send):
            threading.Thread(target=work, daemon=True).start()

    @property
    def plugged(self) -> bool:
        return self._plugged

    def plug(self) -> None:
        if self._plugged:
            return
        self._plug += 1
        self._plugged = True
        self._loop = asyncio.get_running_loop()
        self.sockets.append(self._controllers.take())
        self._gadget.bind(self.sockets[-1])

    def pull(self) -> None:
        if self._plugged:
            self._plugged = False
            self._gadget.unbind()

    def close(self) -> None:
        """The endpoints' threads end with the process."""
        self.pull()

    def write(self, data: bytes) -> None:
        if self._plugged and data:
            self._outgoing.put((self._plug, data))

    def _read(self) -> None:
        endpoint = os.open(self._folder / "ep2", os.O_RDWR)
        while True:
            with suppress(OSError):  # the cable is out: the next read waits until it is in again
                data = os.read(endpoint, PACKET)
                self._loop.call_soon_threadsafe(self._arrived, self._plug, data)

    def _send(self) -> None:
        endpoint = os.open(self._folder / "ep1", os.O_RDWR)
        while True:
            plug, data = self._outgoing.get()
            with suppress(OSError):
                if plug == self._plug and self._plugged:
                    os.write(endpoint, data)

    def _arrived(self, plug: int, data: bytes) -> None:
        if plug == self._plug and self._plugged:
            self._on_data(data)


def descriptors() -> bytes:
    """One interface with a bulk endpoint in (ep1) and one out (ep2), at full and at high speed."""

    def one_speed(packet: int) -> bytes:
        interface = struct.pack("<BBBBBBBBB", 9, 4, 0, 0, 2, VENDOR_CLASS, 0, 0, 1)
        inward = struct.pack("<BBBBHB", 7, 5, 0x81, BULK, packet, 0)
        outward = struct.pack("<BBBBHB", 7, 5, 0x02, BULK, packet, 0)
        return interface + inward + outward

    body = struct.pack("<II", 3, 3) + one_speed(64) + one_speed(PACKET)
    return struct.pack("<III", 3, 12 + len(body), FULL_SPEED | HIGH_SPEED) + body


def strings(text: str) -> bytes:
    body = struct.pack("<H", ENGLISH) + text.encode() + b"\0"
    return struct.pack("<IIII", 2, 16 + len(body), 1, 1) + body
