"""Rules of udev for adapters that the project's own rules do not know."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from drivers.sentences import printable

FILE: Final = "/etc/udev/rules.d/69-table-local.rules"
HEADING: Final = f"""\
# To be put into {FILE}, without what is not of the table; say which machine it is: shuffler, shoe or layout.
# Then: udevadm control --reload && udevadm trigger"""
_SAFE: Final = re.compile(r"[^A-Za-z0-9 _.:#/+-]")
_OF_SEVERAL_BYTES: Final = re.compile(r"[^\x00-\x7f]+")


@dataclass(frozen=True, slots=True)
class Adapter:
    """A serial line on USB, or what libusb opens.

    `place`: the socket as the kernel names it, "1-4.2". `node`: what it is called now.
    """

    node: str
    vendor_id: str
    product_id: str
    product: str
    serial_number: str | None
    place: str
    interface: str | None
    known: bool

    @property
    def identity(self) -> tuple[str, str, str | None, str | None]:
        """What udev can tell it by: vendor id, product id, serial number, interface."""
        return self.vendor_id, self.product_id, self.serial_number, self.interface


def suggest(adapters: Sequence[Adapter]) -> list[str]:
    """The lines to print for what is plugged in, those that are known already apart.

    An adapter without a serial number, or with the one of another, can be told by its socket alone.
    """
    alike = Counter(adapter.identity for adapter in adapters)
    strangers = sorted((adapter for adapter in adapters if not adapter.known), key=lambda adapter: adapter.node)
    lines = [HEADING] if strangers else []
    told = set()
    for adapter in strangers:
        rule = _rule(adapter, by_place=adapter.serial_number is None or alike[adapter.identity] > 1)
        if rule not in told:
            told.add(rule)
            lines += ["", f"# {_about(adapter)}", rule]
    return lines


def _rule(adapter: Adapter, *, by_place: bool) -> str:
    keys = [f'ATTRS{{idVendor}}=="{adapter.vendor_id}"', f'ATTRS{{idProduct}}=="{adapter.product_id}"']
    if by_place:
        keys.insert(0, f'KERNELS=="{adapter.place}"')
    else:
        keys.append(f'ATTRS{{serial}}=="{_pattern(adapter.serial_number or "")}"')
    return f'SUBSYSTEM=="usb|tty", SUBSYSTEMS=="usb", {", ".join(keys)}, ENV{{TABLE_DEVICE}}="adapter"'


def _about(adapter: Adapter) -> str:
    number = f"serial number {adapter.serial_number}" if adapter.serial_number else "no serial number"
    return printable(f"{adapter.product}, {number}, in the socket {adapter.place}; {adapter.node} at present")


def _pattern(text: str) -> str:
    """What udev may take for more than itself stands as any letter; "?" is a single byte of a longer one to it."""
    return "*".join(_SAFE.sub("?", part) for part in _OF_SEVERAL_BYTES.split(text))
