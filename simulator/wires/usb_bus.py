"""A USB bus in memory, as a backend of pyusb: vendor-class devices with two bulk endpoints and one interrupt endpoint.

It has packets, time limits that end a transfer half way, stalls, a kernel driver in the way, exclusive claims,
overflow and unplugging. It has no bandwidth, no other classes, one configuration and one interface a device.
Transfers are called from the host's threads and wait there. What pyusb calls is described in `usb.backend.IBackend`.
"""

import errno
import threading
from array import array
from collections.abc import Callable
from types import SimpleNamespace
from typing import Final

import usb.backend

from simulator.wires.usb_device import CONFIGURATION, UsbDevice, UsbHandle, UsbIdentity, usb_error

BULK: Final = 2
INTERRUPT: Final = 3
ENGLISH: Final = 0x0409
STRING: Final = 3
GET_DESCRIPTOR: Final = 6
INTERFACE: Final = 0


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
