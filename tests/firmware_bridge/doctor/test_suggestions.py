"""Rules of udev for what the project's own do not know."""

from dataclasses import replace

import pytest

from firmware_bridge.doctor.suggestions import FILE, Adapter, suggest

ADAPTER = Adapter(
    node="/dev/ttyUSB0",
    vendor_id="0403",
    product_id="6001",
    product="FT232R USB UART",
    serial_number="A10K",
    place="1-4.2",
    interface="00",
    known=False,
)


def rules(*adapters: Adapter) -> list[str]:
    return [line for line in suggest(adapters) if line and not line.startswith("#")]


def test_a_stranger_is_known_by_its_serial_number() -> None:
    (rule,) = rules(ADAPTER)
    assert rule == (
        'SUBSYSTEM=="usb|tty", SUBSYSTEMS=="usb", ATTRS{idVendor}=="0403", ATTRS{idProduct}=="6001",'
        ' ATTRS{serial}=="A10K", ENV{TABLE_DEVICE}="adapter"'
    )
    assert FILE in suggest([ADAPTER])[0]


def test_what_is_known_needs_no_rule() -> None:
    assert suggest([replace(ADAPTER, known=True)]) == []
    assert suggest([]) == []


@pytest.mark.parametrize("twin", [replace(ADAPTER, place="1-3", node="/dev/ttyUSB1")])
def test_f06_twins_and_nameless_adapters_are_known_by_their_sockets(twin: Adapter) -> None:
    both = rules(ADAPTER, twin)
    assert ['KERNELS=="1-4.2"' in both[0], 'KERNELS=="1-3"' in both[1]] == [True, True]
    assert "serial" not in "".join(both)
    assert 'KERNELS=="1-4.2"' in rules(replace(ADAPTER, serial_number=None))[0]


def test_two_lines_of_one_adapter_need_one_rule() -> None:
    second = replace(ADAPTER, node="/dev/ttyUSB1", interface="01")
    assert len(rules(ADAPTER, second)) == 1
    assert "serial" in rules(ADAPTER, second)[0]


def test_letters_of_several_bytes_are_matched_in_any_locale() -> None:
    """udev's daemon sets no locale, so that one letter is as many as its bytes to it."""
    for serial_number, pattern in (("Ä日-7", "*-7"), ("7\ufffd7", "7*7"), ("Ä", "*")):
        (rule,) = rules(replace(ADAPTER, serial_number=serial_number))
        assert f'ATTRS{{serial}}=="{pattern}"' in rule


def test_what_a_device_says_of_itself_cannot_become_a_rule() -> None:
    """Neither patterns of udev's nor the end of the value, nor a line of its own."""
    sly = replace(ADAPTER, serial_number='*", RUN+="/bin/sh', product="nice\nRUN+=x")
    lines = suggest([sly])
    assert len([line for line in lines if line and not line.startswith("#")]) == 1
    assert 'ATTRS{serial}=="??? RUN+??/bin/sh"' in lines[-1]
