import pytest

from drivers.errors import PortNameError
from drivers.transports.ports import UsbPort, usb_port
from tests.drivers.transports.ends.usb_end import port


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vid=1209,pid=0002,serial=S-1", UsbPort(0x1209, 2, "S-1")),
        ("serial=A B:C", UsbPort(serial_number="A B:C")),
        ("vid=ABCD,pid=ef01", UsbPort(0xABCD, 0xEF01)),
        ("vid=1209,pid=0002,path=1-4.2", UsbPort(0x1209, 2, path="1-4.2")),
    ],
)
def test_reads_every_setting_and_writes_it_in_one_form(text: str, expected: UsbPort) -> None:
    assert port(text) == expected
    assert port(expected.place.removeprefix("usb:")) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", '""'),
        ("vid=1209", "both vid and pid"),
        ("pid=0002,serial=S", "both vid and pid"),
        ("vid=12,pid=0002", '"vid=12"'),
        ("vid=0x1209,pid=0002", '"vid=0x1209"'),
        ("vid=1209,pid=0002,vid=1209", '"vid=1209"'),
        ("serial=", '"serial="'),
        ("serial=\u00e4", '"serial=\u00e4"'),
        ("path=4", '"path=4"'),
        ("bus=1", '"bus=1"'),
    ],
)
def test_says_what_cannot_be_read(text: str, words: str) -> None:
    with pytest.raises(PortNameError) as caught:
        usb_port(f"usb:{text}", text)
    assert words in str(caught.value)
    assert "usb:vid=HHHH,pid=HHHH,serial=TEXT" in str(caught.value)
