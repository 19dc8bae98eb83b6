"""One USB device in memory: what is plugged in, and how it treats the transfers that the host's threads wait for."""

import errno
import os
import threading
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Final

import usb.core

VENDOR_CLASS: Final = 0xFF
CONFIGURATION: Final = 1
UNLIMITED: Final = 2**63


def usb_error(code: int) -> usb.core.USBError:
    """The error that pyusb raises for that errno."""
    kind = usb.core.USBTimeoutError if code == errno.ETIMEDOUT else usb.core.USBError
    return kind(os.strerror(code), -1, code)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsbIdentity:
    """What the descriptors say. `ports`: the way from the bus to the device, hub by hub."""

    vendor_id: int
    product_id: int
    serial_number: str | None
    bus: int = 1
    ports: tuple[int, ...] = (1,)
    inward: int = 0x81
    outward: int = 0x02
    wake: int = 0x83
    packet_size: int = 64
    interface_class: int = VENDOR_CLASS


class UsbDevice:
    """A device in a port of the bus, from its plugging in to its end. `on_data` is called in a thread of the host's."""

    def __init__(self, identity: UsbIdentity, address: int, on_data: Callable[[bytes], None]) -> None:
        self.identity: Final = identity
        self.address: Final = address
        self.configuration = CONFIGURATION
        self.kernel_driver = False
        self.forbidden = False
        self.seen: Final[Counter[str]] = Counter()
        self._on_data = on_data
        self._packets: deque[bytes] = deque()
        self._wakes = 0
        self._halted: set[int] = set()
        self._gone: int | None = None
        self._room = UNLIMITED
        self._changed = threading.Condition()
        self._claim: UsbHandle | None = None

    # The device's side

    def send(self, data: bytes) -> None:
        """Bytes for the host, in packets; the end of what is sent is not marked where the last packet is full."""
        size = self.identity.packet_size
        with self._changed:
            self._packets.extend(data[at : at + size] for at in range(0, len(data), size))
            self._changed.notify_all()

    def send_packet(self, packet: bytes) -> None:
        """One packet as it is, whatever its length."""
        with self._changed:
            self._packets.append(packet)
            self._changed.notify_all()

    def wake(self) -> None:
        """Something for the interrupt endpoint."""
        with self._changed:
            self._wakes += 1
            self._changed.notify_all()

    def take(self, room: int) -> None:
        """How many bytes are taken from the host from now on, in all."""
        with self._changed:
            self._room = room
            self._changed.notify_all()

    def stall(self, endpoint: int) -> None:
        """Transfers fail there until the host clears it."""
        with self._changed:
            self._halted.add(endpoint)
            self._changed.notify_all()

    def end(self, code: int) -> None:
        """Unplugged: every transfer fails with `code`, now and from now on."""
        with self._changed:
            self._gone = self._gone or code
            self._changed.notify_all()

    # The host's side

    def check(self) -> None:
        """Raises USBError where the device is gone."""
        if self._gone is not None:
            raise usb_error(self._gone)

    def claim(self, handle: "UsbHandle") -> None:
        """The handle takes the interface. Raises USBError where another has it."""
        self.check()
        if self.kernel_driver or self._claim not in (None, handle):
            raise usb_error(errno.EBUSY)
        self._claim = handle

    def unclaim(self, handle: "UsbHandle") -> None:
        """The handle lets the interface go."""
        if self._claim is handle:
            self._claim = None

    @property
    def claimed(self) -> bool:
        """Somebody has the interface."""
        return self._claim is not None

    def clear_halt(self, endpoint: int) -> None:
        """The endpoint takes transfers again."""
        with self._changed:
            self.check()
            self.seen["halts cleared"] += 1
            self._halted.discard(endpoint)

    def read(self, handle: "UsbHandle", endpoint: int, size: int, timeout_ms: int) -> bytes:
        """Ends with a short packet, with `size` bytes, or when the time is over; what had come by then is kept."""
        self.seen["reads"] += 1
        self.seen["longest read ms"] = max(self.seen["longest read ms"], timeout_ms)
        came = bytearray()
        deadline = monotonic() + timeout_ms / 1000
        with self._changed:
            while len(came) < size:
                self._ready(handle, endpoint)
                if self._packets:
                    packet = self._packets.popleft()
                    if len(came) + len(packet) > size:
                        raise usb_error(errno.EOVERFLOW)
                    came += packet
                    if len(packet) < self.identity.packet_size:
                        break
                elif not self._changed.wait(deadline - monotonic()):
                    if not came:
                        raise usb_error(errno.ETIMEDOUT)
                    self.seen["reads ended half way"] += 1
                    break
        return bytes(came)

    def write(self, handle: "UsbHandle", endpoint: int, data: bytes, timeout_ms: int) -> int:
        """How many bytes were taken before the time was over."""
        taken = 0
        deadline = monotonic() + timeout_ms / 1000
        with self._changed:
            while True:
                self._ready(handle, endpoint)
                part = min(len(data) - taken, self._room)
                if part:
                    self._room -= part
                    self._on_data(data[taken : taken + part])
                    taken += part
                if taken == len(data):
                    self.seen["transfers that end unmarked"] += len(data) % self.identity.packet_size == 0
                    return taken
                if not self._changed.wait(deadline - monotonic()):
                    if not taken:
                        raise usb_error(errno.ETIMEDOUT)
                    self.seen["writes ended half way"] += 1
                    return taken

    def read_wake(self, handle: "UsbHandle", endpoint: int, timeout_ms: int) -> bytes:
        """One transfer from the interrupt endpoint. Raises USBError, with ETIMEDOUT where nothing comes."""
        deadline = monotonic() + timeout_ms / 1000
        with self._changed:
            while not self._wakes:
                self._ready(handle, endpoint)
                if not self._changed.wait(deadline - monotonic()):
                    raise usb_error(errno.ETIMEDOUT)
            self._wakes -= 1
        return b"\x01"

    def _ready(self, handle: "UsbHandle", endpoint: int) -> None:
        self.check()
        if self._claim is not handle:
            raise usb_error(errno.EBUSY)
        if endpoint in self._halted:
            self.seen["stalls met"] += 1
            raise usb_error(errno.EPIPE)


class UsbHandle:
    """One opening of a device."""

    def __init__(self, device: UsbDevice) -> None:
        self.device: Final = device
