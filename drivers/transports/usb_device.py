"""Finding one USB device, taking its vendor-class interface, and giving it back whole."""

import errno
import os
from array import array
from collections.abc import Callable, Iterator
from contextlib import suppress
from ctypes.util import find_library
from dataclasses import dataclass
from typing import Any, Final

import usb.core
import usb.util

from drivers.errors import LinkError, LinkLost, PortAmbiguous, PortForbidden, PortHeld, PortMissing, PortUnusable
from drivers.sentences import printable
from drivers.transports.permissions import forbidden
from drivers.transports.port_users import Holder, other_holders
from drivers.transports.ports import UsbPort

TRANSFER_TIMEOUT_MS: Final = 200
"""How long a transfer waits at most; a thread that is to end waits for no more than one."""
MOST_STALLS: Final = 8
"""So many in a row, with nothing carried in between, are no hiccup any more."""

VENDOR_CLASS: Final = 0xFF
_PACKET_SIZE: Final = 0x07FF
_NOTHING_YET: Final = (errno.ETIMEDOUT, errno.EAGAIN, errno.EINTR)
_NO_DEVICE: Final = (errno.ENODEV, errno.ENOENT, errno.EIO, errno.ENXIO)
_USB_ERRORS: Final = (usb.core.USBError, NotImplementedError, ValueError)
"""What pyusb raises: the last two for what the system cannot do, and for descriptors that make no sense."""


class BulkEnd:
    """One bulk endpoint of a claimed interface; for one thread. Stalls are cleared here."""

    def __init__(self, endpoint: Any, port: str) -> None:
        self.packet_size: Final = max(1, int(endpoint.wMaxPacketSize) & _PACKET_SIZE)
        self._endpoint = endpoint
        self._port = port
        self._stalls = 0
        # One packet: the transfer ends with it, whether or not the device marks the end of what it sends, and a
        # device can never send more than was asked for.
        self._buffer = array("B", bytes(self.packet_size))

    def read(self) -> bytes:
        """What comes within TRANSFER_TIMEOUT_MS; empty if nothing does. Raises LinkLost."""
        count = self._transfer(lambda: self._endpoint.read(self._buffer, TRANSFER_TIMEOUT_MS))
        return self._buffer[:count].tobytes()

    def write(self, data: bytes) -> int:
        """How many bytes of `data` the device took within TRANSFER_TIMEOUT_MS. Raises LinkLost."""
        return self._transfer(lambda: self._endpoint.write(data, TRANSFER_TIMEOUT_MS))

    def _transfer(self, move: Callable[[], int]) -> int:
        try:
            count = move()
        except _USB_ERRORS as error:
            self._bear(error)
            return 0
        self._stalls = 0
        return count

    def _bear(self, error: Exception) -> None:
        code = _code(error)
        if isinstance(error, usb.core.USBTimeoutError) or code in _NOTHING_YET:
            return
        self._stalls += 1
        if code != errno.EPIPE or self._stalls > MOST_STALLS:
            raise _lost(self._port, error) from error
        try:
            self._endpoint.clear_halt()
        except _USB_ERRORS as second:
            raise _lost(self._port, second) from second


@dataclass(frozen=True, slots=True)
class UsbPipe:
    """A device whose interface is ours until `release`. `detached`: the kernel's driver gave way and gets it back."""

    port: str
    device: Any
    interface: int
    detached: bool
    inward: BulkEnd
    outward: BulkEnd

    def release(self) -> None:
        """Give the interface back and close the device; no thread may be in a transfer. The device may be gone."""
        _release(self.device, self.interface, detached=self.detached)


def open_pipe(port: UsbPort, backend: Any = None) -> UsbPipe:
    """Find and take the one device that fits; `backend` as pyusb's `find` takes it.

    Raises PortMissing, PortForbidden, PortHeld, PortAmbiguous or PortUnusable; nothing stays open then.
    """
    device = _find(port, backend)
    interface: int | None = None
    detached = False
    try:
        chosen, inward, outward = _bulk_interface(port, _configuration(device))
        interface = int(chosen.bInterfaceNumber)
        detached = _detach(device, interface)
        usb.util.claim_interface(device, interface)
        if chosen.bAlternateSetting:
            chosen.set_altsetting()
        ends = BulkEnd(inward, port.place), BulkEnd(outward, port.place)
    except BaseException as error:
        _release(device, interface, detached=detached)
        if isinstance(error, _USB_ERRORS):
            raise _link_error(port, device, error) from error
        raise
    return UsbPipe(port.place, device, interface, detached, *ends)


def _find(port: UsbPort, backend: Any) -> Any:
    """The one device that fits. Every other is closed again."""
    candidates = _candidates(port, backend)
    matching: list[Any] = []
    others: list[str] = []
    shut: LinkError | None = None
    for device in candidates:
        serial_number = None
        try:
            if port.serial_number is not None or len(candidates) > 1:
                serial_number = _serial_number(device)
        except _USB_ERRORS as error:
            shut = shut or _link_error(port, device, error)
            if port.serial_number is not None or _code(error) == errno.ENODEV:  # it has just gone
                continue
        finally:
            usb.util.dispose_resources(device)
        name = _name(device, serial_number)
        if port.serial_number in (None, serial_number):
            matching.append(device)
            others.insert(len(matching) - 1, name)
        else:
            others.append(name)
    if len(matching) > 1:
        raise PortAmbiguous(
            f"{len(matching)} USB devices fit {port.place}: {' and '.join(others[: len(matching)])}; "
            "add to `port` in the configuration the serial, or the path where they have none"
        )
    if matching:
        return matching[0]
    if shut is not None:
        raise shut
    there = f" (there is {', '.join(others)})" if others else ""
    raise PortMissing(
        f"there is no USB device {port.place}{there}: "
        "plug it in and switch it on, or correct `port` in the configuration"
    )


def _candidates(port: UsbPort, backend: Any) -> list[Any]:
    """By what can be known without opening a device."""

    def fits(device: Any) -> bool:
        ids = port.vendor_id in (None, device.idVendor) and port.product_id in (None, device.idProduct)
        if not ids or port.path not in (None, _place(device)):
            return False
        return port.vendor_id is not None or any(True for _ in _bulk_interfaces(device))

    try:
        return list(usb.core.find(find_all=True, backend=backend, custom_match=fits))
    except usb.core.NoBackendError:
        if find_library("usb-1.0") is not None:  # pyusb tells no difference
            raise PortUnusable(
                "the system's library libusb does not start here: where the program runs in a sandbox, let it open"
                " /dev/bus/usb and netlink sockets (AF_NETLINK)"
            ) from None
        raise PortUnusable(
            "USB devices need the system's library libusb, which is missing: apt-get install libusb-1.0-0"
        ) from None
    except _USB_ERRORS as error:
        raise PortUnusable(
            f"the USB devices cannot be listed ({_why(error)}): look at the system's log of the kernel"
        ) from error


def _bulk_interfaces(configurations: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Vendor-class interfaces with their first bulk endpoints in and out."""
    with suppress(*_USB_ERRORS):  # a device whose descriptors cannot be read, or that has just gone, offers nothing
        for configuration in configurations:
            for interface in configuration:
                if interface.bInterfaceClass == VENDOR_CLASS:
                    bulk = [e for e in interface if e.bmAttributes & 3 == usb.util.ENDPOINT_TYPE_BULK]
                    inward = [e for e in bulk if e.bEndpointAddress & usb.util.ENDPOINT_IN]
                    outward = [e for e in bulk if not e.bEndpointAddress & usb.util.ENDPOINT_IN]
                    if inward and outward:
                        yield interface, inward[0], outward[0]


def _bulk_interface(port: UsbPort, configuration: Any) -> tuple[Any, Any, Any]:
    for found in _bulk_interfaces([configuration]):
        return found
    raise PortUnusable(
        f"the USB device {port.place} has no vendor-class interface with bulk endpoints in and out: "
        "correct `port` in the configuration"
    )


def _configuration(device: Any) -> Any:
    """The configuration that is set; setting it once more would reset the device."""
    try:
        return device.get_active_configuration()
    except usb.core.USBError as error:
        if (error.errno, error.backend_error_code) != (None, None):  # both: nothing failed, but none is set
            raise
        device.set_configuration()
        return device.get_active_configuration()


def _detach(device: Any, interface: int) -> bool:
    try:
        active = device.is_kernel_driver_active(interface)
    except NotImplementedError:  # a system whose kernel has no say in it
        return False
    if active:
        device.detach_kernel_driver(interface)
    return bool(active)


def _release(device: Any, interface: int | None, *, detached: bool) -> None:
    try:
        if interface is not None:
            with suppress(*_USB_ERRORS):
                usb.util.release_interface(device, interface)
        if detached:
            with suppress(*_USB_ERRORS):
                device.attach_kernel_driver(interface)
    finally:
        usb.util.dispose_resources(device)


def _serial_number(device: Any) -> str | None:
    if device.iSerialNumber == 0:
        return None
    usb.util.get_langids(device)  # raises what went wrong, where `serial_number` only says that something did
    try:
        text = str(device.serial_number or "").partition("\0")[0].strip()  # as the kernel and udev show it
    except UnicodeError:
        return None
    return printable(text) or None


def _place(device: Any) -> str:
    ports = ".".join(str(number) for number in device.port_numbers or ())
    return f"{device.bus}-{ports}" if ports else f"{device.bus}-0"


def _name(device: Any, serial_number: str | None) -> str:
    serial = "no serial" if serial_number is None else f"serial {serial_number}"
    return f"{device.idVendor:04x}:{device.idProduct:04x} {serial} at path {_place(device)}"


def _link_error(port: UsbPort, device: Any, error: Exception) -> LinkError:
    code = _code(error)
    node = f"/dev/bus/usb/{device.bus or 0:03d}/{device.address or 0:03d}"
    if code in _NO_DEVICE:
        return PortMissing(
            f"the USB device {port.place} went away while it was opened ({_why(error)}): "
            "plug it in again, and look at its cable and hub"
        )
    if code in (errno.EACCES, errno.EPERM):
        return PortForbidden(f"the USB device {port.place} is shut: {forbidden(node)}")
    if code == errno.EBUSY:
        return PortHeld(f"the USB device {port.place} is held by {_holder(node)}, or correct the configuration")
    return PortUnusable(
        f"the USB device {port.place} cannot be used ({_why(error)}): unplug it and plug it in again, "
        "or correct `port` in the configuration"
    )


def _holder(node: str) -> str:
    holders: tuple[Holder, ...] = ()
    with suppress(OSError):
        holders = other_holders(os.stat(node))
    for holder in holders:
        if holder.pid != os.getpid():
            return f"{holder}: end it"
    if holders:
        return "this program itself: see that no two devices in the configuration have ports that mean this one"
    return "a driver of the kernel, or a process that this user cannot see: end it"


def _lost(port: str, error: Exception) -> LinkLost:
    return LinkLost(f"the connection at {port} ended ({_why(error)}): check the cable and the power of the device")


def _why(error: Exception) -> str:
    code = _code(error)
    if code == errno.EOVERFLOW:
        return "it sent more than its own descriptors say that a packet holds"
    if code:
        return os.strerror(code).lower()
    told = error.strerror if isinstance(error, OSError) else str(error)
    return str(told or type(error).__name__).lower()


def _code(error: BaseException) -> int | None:
    return error.errno if isinstance(error, OSError) else None
