"""Which port is opened by which part, and that nothing is loaded that is not needed."""

import subprocess
import sys

import pytest

from drivers.errors import LinkError, PortMissing, PortNameError
from drivers.transports.opening import new_opener, open_transport
from drivers.transports.transport import Recorded
from tests.drivers.transports.conftest import FIRST, SECOND
from tests.drivers.transports.ends.pty_end import Host, PtyEnd


async def test_a_serial_port_is_opened_by_its_path(pty: PtyEnd, host: Host) -> None:
    transport = await open_transport(pty.port, host.on_data, host.on_lost)
    transport.write(b"hello")
    await pty.read_until(b"hello")
    await transport.close()


@pytest.mark.parametrize("port", ["", "usb", "serial:", "carrier pigeon:/dev/ttyS0"])
async def test_a_text_that_is_no_port_is_a_sentence(port: str, host: Host) -> None:
    with pytest.raises(PortNameError):
        await open_transport(port, host.on_data, host.on_lost)


@pytest.mark.parametrize("port", ["serial:/dev/no-such-line", "tcp:127.0.0.1:1"])
async def test_what_is_not_there_is_missing(port: str, host: Host) -> None:
    with pytest.raises(PortMissing) as missing:
        await open_transport(port, host.on_data, host.on_lost)
    assert isinstance(missing.value, LinkError)


async def test_a_recording_goes_on_within_a_run_and_begins_anew_outside(recording: str, host: Host) -> None:
    nonces = []
    opener = new_opener()
    for open_port in (opener, opener, open_transport, open_transport):
        transport = await open_port(recording, host.on_data, host.on_lost)
        assert isinstance(transport, Recorded)
        nonces.append(transport.nonce)
        await transport.close()
    assert nonces == [FIRST, SECOND, FIRST, FIRST]


def test_who_opens_nothing_loads_neither_pyserial_nor_libusb() -> None:
    code = (
        "import sys; import drivers.transports.opening; "
        "print([name for name in ('serial', 'usb', 'pyudev') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
