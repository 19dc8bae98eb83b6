"""A USB bus in memory, as a backend of pyusb: vendor-class devices with two bulk endpoints and one interrupt endpoint.

It has packets, time limits that end a transfer half way, stalls, a kernel driver in the way, exclusive claims,
overflow and unplugging. It has no bandwidth, no other classes, one configuration and one interface a device.
Transfers are called from the host's threads and wait there.
"""

import errno
import os
import threading
from array import array
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from types import SimpleNamespace
from typing import Final

import usb.backend
import usb.core

VENDOR_CLASS: Final = 0xFF
BULK: Final = 2
INTERRUPT: Final = 3
ENGLISH: Final = 0x0409
STRING: Final = 3
GET_DESCRIPTOR: Final = 6
CONFIGURATION: Final = 1
INTERFACE: Final = 0
UNLIMITED: Final = 2**63


def usb_error(code: int) -> usb.core.USBError:
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
        if self._gone is not None:
            raise usb_error(self._gone)

    def claim(self, handle: "UsbHandle") -> None:
        self.check()
        if self.kernel_driver or self._claim not in (None, handle):
            raise usb_error(errno.EBUSY)
        self._claim = handle

    def unclaim(self, handle: "UsbHandle") -> None:
        if self._claim is handle:
            self._claim = None

    @property
    def claimed(self) -> bool:
        return self._claim is not None

    def clear_halt(self, endpoint: int) -> None:
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


class UsbBus(usb.backend.IBackend):  # type: ignore[misc]
    """The devices that are plugged in, and the handles that are open."""

    def __init__(self) -> None:
        self._devices: list[UsbDevice] = []
        self._addresses = 1
        self._lock = threading.Lock()
        self.handles: Final[set[UsbHandle]] = set()
        self.opened = 0

    def plug(self, identity: UsbIdentity, on_data: Callable[[bytes], None]) -> UsbDevice:
        """The device gets the next address, as on every plugging in."""
        self._addresses = self._addresses % 127 + 1
        device = UsbDevice(identity, self._addresses, on_data)
        self._devices.append(device)
        return device

    def pull(self, device: UsbDevice, code: int = errno.ENODEV) -> None:
        """`code`: ENODEV, or EIO where a transfer was under way."""
        self._devices.remove(device)
        device.end(code)

    def enumerate_devices(self) -> list[UsbDevice]:
        return list(self._devices)

    def get_device_descriptor(self, dev: UsbDevice) -> SimpleNamespace:
        identity = dev.identity
        return SimpleNamespace(
            bLength=18,
            bDescriptorType=1,
            bcdUSB=0x0200,
            bDeviceClass=0,
            bDeviceSubClass=0,
            bDeviceProtocol=0,
            bMaxPacketSize0=64,
            idVendor=identity.vendor_id,
            idProduct=identity.product_id,
            bcdDevice=0x0100,
            iManufacturer=0,
            iProduct=0,
            iSerialNumber=0 if identity.serial_number is None else 1,
            bNumConfigurations=1,
            address=dev.address,
            bus=identity.bus,
            port_number=identity.ports[-1],
            port_numbers=identity.ports,
            speed=3,
        )

    def get_configuration_descriptor(self, dev: UsbDevice, config: int) -> SimpleNamespace:
        dev.check()
        if config:
            raise IndexError(config)
        return SimpleNamespace(
            bLength=9,
            bDescriptorType=2,
            wTotalLength=39,
            bNumInterfaces=1,
            bConfigurationValue=CONFIGURATION,
            iConfiguration=0,
            bmAttributes=0x80,
            bMaxPower=50,
            extra_descriptors=[],
        )

    def get_interface_descriptor(self, dev: UsbDevice, intf: int, alt: int, config: int) -> SimpleNamespace:
        dev.check()
        if intf or alt or config:
            raise IndexError((intf, alt, config))
        return SimpleNamespace(
            bLength=9,
            bDescriptorType=4,
            bInterfaceNumber=INTERFACE,
            bAlternateSetting=0,
            bNumEndpoints=3,
            bInterfaceClass=dev.identity.interface_class,
            bInterfaceSubClass=0,
            bInterfaceProtocol=0,
            iInterface=0,
            extra_descriptors=[],
        )

    def get_endpoint_descriptor(self, dev: UsbDevice, ep: int, intf: int, alt: int, config: int) -> SimpleNamespace:
        dev.check()
        identity = dev.identity
        address, kind = ((identity.wake, INTERRUPT), (identity.outward, BULK), (identity.inward, BULK))[ep]
        return SimpleNamespace(
            bLength=7,
            bDescriptorType=5,
            bEndpointAddress=address,
            bmAttributes=kind,
            wMaxPacketSize=identity.packet_size,
            bInterval=0,
            bRefresh=0,
            bSynchAddress=0,
            extra_descriptors=[],
        )

    def open_device(self, dev: UsbDevice) -> UsbHandle:
        dev.check()
        if dev.forbidden:
            raise usb_error(errno.EACCES)
        handle = UsbHandle(dev)
        with self._lock:
            self.handles.add(handle)
            self.opened += 1
        return handle

    def close_device(self, dev_handle: UsbHandle) -> None:
        dev_handle.device.unclaim(dev_handle)
        with self._lock:
            self.handles.remove(dev_handle)

    def get_configuration(self, dev_handle: UsbHandle) -> int:
        dev_handle.device.check()
        return dev_handle.device.configuration

    def set_configuration(self, dev_handle: UsbHandle, config_value: int) -> None:
        """Resets the device where the value is set already, and fails while somebody has its interface."""
        device = dev_handle.device
        device.check()
        if device.claimed or device.kernel_driver:
            raise usb_error(errno.EBUSY)
        device.seen["configurations set"] += 1
        device.configuration = config_value

    def claim_interface(self, dev_handle: UsbHandle, intf: int) -> None:
        if intf != INTERFACE:
            raise usb_error(errno.ENOENT)
        dev_handle.device.claim(dev_handle)

    def release_interface(self, dev_handle: UsbHandle, intf: int) -> None:
        dev_handle.device.check()
        dev_handle.device.unclaim(dev_handle)

    def bulk_read(self, dev_handle: UsbHandle, ep: int, intf: int, buff: "array[int]", timeout: int) -> int:
        came = dev_handle.device.read(dev_handle, ep, len(buff), timeout)
        buff[: len(came)] = array("B", came)
        return len(came)

    def bulk_write(self, dev_handle: UsbHandle, ep: int, intf: int, data: "array[int]", timeout: int) -> int:
        return dev_handle.device.write(dev_handle, ep, data.tobytes(), timeout)

    def intr_read(self, dev_handle: UsbHandle, ep: int, intf: int, buff: "array[int]", timeout: int) -> int:
        came = dev_handle.device.read_wake(dev_handle, ep, timeout)
        buff[: len(came)] = array("B", came)
        return len(came)

    def ctrl_transfer(
        self,
        dev_handle: UsbHandle,
        bmRequestType: int,  # noqa: N803  pyusb's name
        bRequest: int,  # noqa: N803
        wValue: int,  # noqa: N803
        wIndex: int,  # noqa: N803
        data: "array[int]",
        timeout: int,
    ) -> int:
        """The device's strings; anything else stalls."""
        device = dev_handle.device
        device.check()
        if bRequest != GET_DESCRIPTOR or wValue >> 8 != STRING:
            raise usb_error(errno.EPIPE)
        index = wValue & 0xFF
        text = (
            ENGLISH.to_bytes(2, "little") if index == 0 else (device.identity.serial_number or "").encode("utf-16-le")
        )
        answer = (bytes((len(text) + 2, STRING)) + text)[: len(data)]
        data[: len(answer)] = array("B", answer)
        return len(answer)

    def clear_halt(self, dev_handle: UsbHandle, ep: int) -> None:
        dev_handle.device.clear_halt(ep)

    def is_kernel_driver_active(self, dev_handle: UsbHandle, intf: int) -> bool:
        dev_handle.device.check()
        return dev_handle.device.kernel_driver

    def detach_kernel_driver(self, dev_handle: UsbHandle, intf: int) -> None:
        dev_handle.device.check()
        dev_handle.device.kernel_driver = False

    def attach_kernel_driver(self, dev_handle: UsbHandle, intf: int) -> None:
        dev_handle.device.check()
        if dev_handle.device.claimed:
            raise usb_error(errno.EBUSY)
        dev_handle.device.kernel_driver = True
