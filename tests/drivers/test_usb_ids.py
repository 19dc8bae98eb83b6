from pathlib import Path

from drivers.driver import DeviceKind
from drivers.usb_ids import ADAPTER_PRODUCT, ADAPTER_SERIAL_NUMBER, PRODUCTS, VENDOR

RULES = Path(__file__).parent.parent.parent / "udev" / "70-firmware-bridge.rules"


def test_every_kind_of_device_has_a_product_and_no_two_the_same() -> None:
    assert set(PRODUCTS) == set(DeviceKind)
    assert len(set(PRODUCTS.values())) == len(PRODUCTS)


def test_the_udev_rules_know_the_same_numbers() -> None:
    rules = RULES.read_text()
    assert f'"{VENDOR:04x}"' in rules
    for product in PRODUCTS.values():
        assert f"{product:04x}" in rules
    assert f"{ADAPTER_PRODUCT}*" in rules
    assert f"{ADAPTER_SERIAL_NUMBER}*" in rules
