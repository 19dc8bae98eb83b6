import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.errors import PortNameError
from drivers.transports.ports import Port, ReplayPort, SerialByProperty, SerialPort, TcpPort, UsbPort, parse_port


@pytest.mark.parametrize(
    ("text", "port"),
    [
        ("serial:/dev/ttyACM0", SerialPort("/dev/ttyACM0")),
        ("serial:/dev/pts/12", SerialPort("/dev/pts/12", baud=115_200)),
        ("serial:/dev//ttyUSB0@9600", SerialPort("/dev/ttyUSB0", baud=9600)),
        ("serial:/dev/ttyUSB0@4800,dtr=off,rts=off", SerialPort("/dev/ttyUSB0", baud=4800, dtr=False, rts=False)),
        ("serial:/dev/serial/by-id/usb-A_B-if00,hupcl=off", SerialPort("/dev/serial/by-id/usb-A_B-if00", hupcl=False)),
        ("serial:/dev/x,dtr=on", SerialPort("/dev/x", dtr=True)),
        ("serial:by=ID_SERIAL_SHORT=A1", SerialByProperty((("ID_SERIAL_SHORT", "A1"),), SerialPort(""))),
        (
            "serial:by=ID_PATH=pci-0000:00:14.0-usb-0:1.2:1.0@9600,dtr=off",
            SerialByProperty((("ID_PATH", "pci-0000:00:14.0-usb-0:1.2:1.0"),), SerialPort("", baud=9600, dtr=False)),
        ),
        (
            "serial:by=ID_SERIAL_SHORT=a@b=c,by=ID_USB_INTERFACE_NUM=01",
            SerialByProperty((("ID_SERIAL_SHORT", "a@b=c"), ("ID_USB_INTERFACE_NUM", "01")), SerialPort("")),
        ),
        ("usb:vid=1209,pid=0001,serial=S 1", UsbPort(0x1209, 1, "S 1")),
        ("tcp:moxa-1.lan:4001", TcpPort("moxa-1.lan", 4001)),
        ("tcp:127.0.0.1:1", TcpPort("127.0.0.1", 1)),
        ("tcp:[fe80::1%eth0]:4001", TcpPort("fe80::1%eth0", 4001)),
        ("replay:/tmp/session.pcapng", ReplayPort("/tmp/session.pcapng")),  # noqa: S108
        ("replay:a: b.pcapng", ReplayPort("a: b.pcapng")),
    ],
)
def test_reads_every_setting(text: str, port: Port) -> None:
    assert parse_port(text) == port


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("serial:/dev/a@9600", "serial:/dev/./a,dtr=off"),
        ("serial:by=A=1,by=B=2", "serial:by=B=2@9600,by=A=1"),
        ("tcp:host:1", "tcp:host:01"),
        ("replay:a/../b", "replay:b"),
    ],
)
def test_one_port_has_one_place_however_it_is_written(one: str, other: str) -> None:
    assert parse_port(one).place == parse_port(other).place != ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("/dev/ttyACM0", 'write "serial:/dev/ttyACM0"'),
        ("", "cannot be read"),
        ("ttyACM0", "cannot be read"),
        ("serial", "cannot be read"),
        ("com:1", "cannot be read"),
        ("serial:", "absolute path"),
        ("serial:ttyACM0", "absolute path"),
        ("serial:/", "absolute path"),
        ("serial:/dev/tty ACM0", "absolute path"),
        ("serial:/dev/tty\0", "absolute path"),
        ("serial:/dev/ttyACM0@", "speed"),
        ("serial:/dev/ttyACM0@fast", "speed"),
        ("serial:/dev/ttyACM0@0", "speed"),
        ("serial:/dev/ttyACM0@99999999999", "speed"),
        ("serial:/dev/ttyACM0@\u0663\u0663\u0663", "speed"),
        ("serial:/dev/ttyACM0,dtr", '"dtr"'),
        ("serial:/dev/ttyACM0,dtr=maybe", '"dtr=maybe"'),
        ("serial:/dev/ttyACM0,dtr=on,dtr=off", '"dtr=off"'),
        ("serial:/dev/ttyACM0,", '""'),
        ("serial:/dev/x,by=ID_PATH=1", '"by=ID_PATH=1"'),
        ("serial:by=ID_SERIAL_SHORT", "udev property"),
        ("serial:by=ID_SERIAL_SHORT=", "udev property"),
        ("serial:by==1", "udev property"),
        ("serial:by=A=1,by=B", "udev property"),
        ("pty", 'write "serial:/dev/pts/NUMBER"'),
        ("replay:", "file of a recording"),
        ("replay:folder/", "file of a recording"),
        ("tcp:host", "a host and a port"),
        ("tcp::4001", "a host and a port"),
        ("tcp:host:0", "a host and a port"),
        ("tcp:host:65536", "a host and a port"),
        ("tcp:::1:4001", "a host and a port"),
    ],
)
def test_says_what_cannot_be_read(text: str, words: str) -> None:
    with pytest.raises(PortNameError) as caught:
        parse_port(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text())
def test_any_text_is_a_port_or_an_error(text: str) -> None:
    for candidate in (text, "serial:/dev/" + text, "serial:by=" + text, "usb:" + text, "tcp:" + text, "replay:" + text):
        with contextlib.suppress(PortNameError):
            assert parse_port(candidate).place
