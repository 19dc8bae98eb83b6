"""The USB numbers of devices built to this project's protocol.

Vendor 1209 is shared by open projects, and its products 0001 to 0010 are free for tests. They identify no maker: a
product that is sold needs numbers of its own, here and in udev/70-firmware-bridge.rules.
"""

from typing import Final

from drivers.driver import DeviceKind

VENDOR: Final = 0x1209
PRODUCTS: Final = {DeviceKind.SHUFFLER: 0x0001, DeviceKind.SHOE: 0x0002, DeviceKind.LAYOUT: 0x0003}

# Adapters of any make (FTDI, CP210x) belong to a table where their own memory says so.
ADAPTER_PRODUCT: Final = "TDP "
ADAPTER_SERIAL_NUMBER: Final = "TDP-"
