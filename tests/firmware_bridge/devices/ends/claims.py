"""What a device of the tests says of itself."""

from drivers.driver import Claims

CLAIMS = Claims(
    kind="shoe",
    vendor="Vendor",
    model="Model",
    serial_number="1",
    firmware_version="1.0",
    firmware_hash="00",
    protocol="1.0",
)
