import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.errors import PortNameError
from drivers.transports.ports import SerialPort, parse_port


@pytest.mark.parametrize(
    ("text", "port"),
    [
        ("serial:/dev/ttyACM0", SerialPort("/dev/ttyACM0")),
        ("serial:/dev/pts/12", SerialPort("/dev/pts/12", baud=115_200)),
        ("serial:/dev//ttyUSB0@9600", SerialPort("/dev/ttyUSB0", baud=9600)),
        ("serial:/dev/ttyUSB0@4800,dtr=off,rts=off", SerialPort("/dev/ttyUSB0", baud=4800, dtr=False, rts=False)),
        ("serial:/dev/serial/by-id/usb-A_B-if00,hupcl=off", SerialPort("/dev/serial/by-id/usb-A_B-if00", hupcl=False)),
        ("serial:/dev/x,dtr=on", SerialPort("/dev/x", dtr=True)),
    ],
)
def test_reads_every_setting(text: str, port: SerialPort) -> None:
    assert parse_port(text) == port


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
        ("serial:by=ID_SERIAL_SHORT=1", "not supported by this version"),
        ("usb:vid=1,pid=2", "not supported by this version"),
        ("pty", "not supported by this version"),
        ("replay:file", "not supported by this version"),
        ("tcp:host:1", "not supported by this version"),
    ],
)
def test_says_what_cannot_be_read(text: str, words: str) -> None:
    with pytest.raises(PortNameError) as caught:
        parse_port(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text())
def test_any_text_is_a_port_or_an_error(text: str) -> None:
    for candidate in (text, "serial:/dev/" + text):
        with contextlib.suppress(PortNameError):
            assert parse_port(candidate).path.startswith("/")
