"""A device's end of a USB cable on the event loop, as `PtyPort` is one of a serial cable."""

import asyncio
import errno
from collections.abc import Callable

from simulator.wires.usb_bus import UsbBus
from simulator.wires.usb_device import UsbDevice, UsbIdentity


class UsbSocket:
    """A device that can be plugged into `bus` and pulled out of it. `on_data` is called on the event loop."""

    def __init__(self, bus: UsbBus, identity: UsbIdentity, on_data: Callable[[bytes], None]) -> None:
        self.identity = identity
        self.device: UsbDevice | None = None
        self._bus = bus
        self._on_data = on_data

    @property
    def plugged(self) -> bool:
        """A device is on the bus."""
        return self.device is not None

    def plug(self) -> None:
        """Put the device on the bus; nothing where it is there already."""
        if self.device is not None:
            return
        loop = asyncio.get_running_loop()

        def on_data(data: bytes) -> None:
            loop.call_soon_threadsafe(self._arrived, data)

        self.device = self._bus.plug(self.identity, on_data)

    def pull(self, code: int = errno.ENODEV) -> None:
        """`code`: what the host's transfers end with."""
        if self.device is not None:
            self._bus.pull(self.device, code)
            self.device = None

    def write(self, data: bytes) -> None:
        """Bytes towards the daemon."""
        if self.device is not None:
            self.device.send(data)

    def _arrived(self, data: bytes) -> None:
        if self.device is not None:
            self._on_data(data)
