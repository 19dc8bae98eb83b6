"""A simulated USB device and the host's transport to it."""

from drivers.transports.ports import UsbPort, usb_port
from drivers.transports.transport import Transport
from drivers.transports.usb import open_usb
from simulator.wires.usb import UsbSocket
from simulator.wires.usb_bus import UsbBus
from simulator.wires.usb_device import UsbDevice, UsbIdentity
from tests.drivers.transports.ends.pty_end import Host


def identity(serial_number: str | None = "S-1", **changes: object) -> UsbIdentity:
    fields: dict[str, object] = {"vendor_id": 0x1209, "product_id": 2, "serial_number": serial_number, **changes}
    return UsbIdentity(**fields)  # type: ignore[arg-type]


class UsbEnd:
    """One device on a bus of its own, plugged in."""

    def __init__(self, changed: UsbIdentity | None = None) -> None:
        self.bus = UsbBus()
        self.received = b""
        self.socket = UsbSocket(self.bus, changed or identity(), self._on_data)
        self.socket.plug()

    @property
    def device(self) -> UsbDevice:
        assert self.socket.device is not None
        return self.socket.device

    async def open(self, host: Host, text: str = "vid=1209,pid=0002,serial=S-1") -> Transport:
        return await open_usb(port(text), host.on_data, host.on_lost, self.bus)

    def _on_data(self, data: bytes) -> None:
        self.received += data


def port(text: str) -> UsbPort:
    return usb_port(f"usb:{text}", text)
