"""Finding the one USB device, taking its interface, and the sentence for each reason why not."""

import errno
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
import usb.core
import usb.util
from pytest_mock import MockerFixture

from drivers.errors import LinkError, PortAmbiguous, PortForbidden, PortHeld, PortMissing, PortUnusable
from drivers.transports import usb_device
from drivers.transports.port_users import Holder
from drivers.transports.usb_device import open_pipe
from simulator.wires.usb_bus import UsbBus
from simulator.wires.usb_device import UsbDevice, UsbHandle, UsbIdentity, usb_error
from tests.drivers.transports.ends.pty_end import Host, until
from tests.drivers.transports.ends.usb_end import UsbEnd, identity, port


def bus_with(*identities: UsbIdentity) -> tuple[UsbBus, list[UsbDevice]]:
    bus = UsbBus()
    return bus, [bus.plug(one, lambda _: None) for one in identities]


class Composite(UsbBus):
    """Devices whose interface 4 has the endpoints in its second setting, beside one for a keyboard."""

    def __init__(self) -> None:
        super().__init__()
        self.chosen: list[tuple[int, int]] = []

    def get_configuration_descriptor(self, dev: UsbDevice, config: int) -> SimpleNamespace:
        described = super().get_configuration_descriptor(dev, config)
        described.bNumInterfaces = 2
        return described

    def get_interface_descriptor(self, dev: UsbDevice, intf: int, alt: int, config: int) -> SimpleNamespace:
        if alt > intf:
            raise IndexError(alt)
        described = super().get_interface_descriptor(dev, 0, 0, config)
        described.bInterfaceNumber = 4 * intf
        described.bInterfaceClass = 0xFF if intf else 3
        described.bAlternateSetting = alt
        described.bNumEndpoints = 3 * alt
        return described

    def get_endpoint_descriptor(self, dev: UsbDevice, ep: int, intf: int, alt: int, config: int) -> SimpleNamespace:
        return super().get_endpoint_descriptor(dev, 2 - ep, 0, 0, config)

    def claim_interface(self, dev_handle: UsbHandle, intf: int) -> None:
        super().claim_interface(dev_handle, intf - 4)

    def set_interface_altsetting(self, dev_handle: UsbHandle, intf: int, altsetting: int) -> None:
        assert dev_handle in self.handles
        self.chosen.append((intf, altsetting))


def refused(bus: UsbBus, text: str, kind: type[LinkError]) -> str:
    with pytest.raises(kind) as caught:
        open_pipe(port(text), bus)
    assert not bus.handles
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("text", ["vid=1209,pid=0009,serial=S-2", "serial=S-2", "path=1-2", "vid=1209,pid=0009"])
def test_the_one_that_fits_is_found_among_others(text: str) -> None:
    bus, devices = bus_with(
        identity("S-1"),
        identity("S-2", product_id=9, ports=(2,)),
        identity("S-2", interface_class=3, ports=(3,)),
    )
    pipe = open_pipe(port(text), bus)
    assert [device.claimed for device in devices] == [False, True, False]
    assert len(bus.handles) == 1
    pipe.release()
    assert not bus.handles
    assert not devices[1].claimed


@pytest.mark.parametrize("told", ["S-1\0", "S-1\0\0rest", " S-1 ", "S-1\n"])
def test_a_serial_number_is_what_the_kernel_shows_of_it(told: str) -> None:
    bus, (device,) = bus_with(identity(told))
    pipe = open_pipe(port("serial=S-1"), bus)
    assert device.claimed
    pipe.release()


@pytest.mark.parametrize(("told", "shown"), [("\0", "no serial"), ("A\x1b[2J\nB", "serial A?[2J?B")])
def test_a_serial_number_steers_no_terminal(told: str, shown: str) -> None:
    bus, _ = bus_with(identity(told))
    assert f"(there is 1209:0002 {shown} at path 1-1)" in refused(bus, "serial=S-1", PortMissing)


def test_a_serial_number_that_is_no_text_is_none(mocker: MockerFixture) -> None:
    bus, _ = bus_with(identity("S-1"))
    mocker.patch.object(usb.util, "get_string", side_effect=UnicodeDecodeError("utf-16-le", b"\x00\xd8", 0, 2, "cut"))
    assert "(there is 1209:0002 no serial at path 1-1)" in refused(bus, "serial=S-1", PortMissing)


def test_a_missing_device_is_told_with_what_is_there_instead() -> None:
    bus, _ = bus_with(identity("S-1"), identity(None, ports=(4, 2)))
    sentence = refused(bus, "vid=1209,pid=0002,serial=S-3", PortMissing)
    assert sentence == (
        "there is no USB device usb:vid=1209,pid=0002,serial=S-3 "
        "(there is 1209:0002 serial S-1 at path 1-1, 1209:0002 no serial at path 1-4.2): "
        "plug it in and switch it on, or correct `port` in the configuration"
    )
    assert "device usb:serial=S-3: plug it in" in refused(UsbBus(), "serial=S-3", PortMissing)


@pytest.mark.parametrize("text", ["vid=1209,pid=0002", "serial=S-1", "vid=1209,pid=0002,serial=S-1"])
def test_f05_f06_two_candidates_are_both_named_and_neither_is_taken(text: str) -> None:
    bus, devices = bus_with(identity("S-1"), identity("S-1", ports=(4, 2)))
    sentence = refused(bus, text, PortAmbiguous)
    assert "1209:0002 serial S-1 at path 1-1 and 1209:0002 serial S-1 at path 1-4.2; add to `port`" in sentence
    assert not any(device.claimed for device in devices)
    pipe = open_pipe(port(f"{text},path=1-4.2"), bus)
    assert devices[1].claimed
    pipe.release()


def test_f38_a_configuration_that_is_set_is_not_set_again() -> None:
    bus, (device,) = bus_with(identity())
    open_pipe(port("serial=S-1"), bus).release()
    assert device.seen["configurations set"] == 0
    device.configuration = 0
    open_pipe(port("serial=S-1"), bus).release()
    assert device.seen["configurations set"] == 1


def test_f38_the_kernels_driver_gives_way_and_gets_its_interface_back() -> None:
    bus, (device,) = bus_with(identity())
    device.kernel_driver = True
    pipe = open_pipe(port("serial=S-1"), bus)
    assert not device.kernel_driver
    pipe.release()
    assert device.kernel_driver
    assert not bus.handles


def test_f38_an_opening_that_fails_half_way_gives_everything_back(mocker: MockerFixture) -> None:
    bus, (device,) = bus_with(identity())
    device.kernel_driver = True
    mocker.patch.object(UsbBus, "claim_interface", side_effect=usb_error(errno.EBUSY))
    refused(bus, "serial=S-1", PortHeld)
    assert device.kernel_driver


def test_a_device_that_goes_away_is_released_without_a_word() -> None:
    bus, (device,) = bus_with(identity())
    pipe = open_pipe(port("serial=S-1"), bus)
    bus.pull(device)
    pipe.release()
    assert not bus.handles


def test_f38_who_holds_the_device_is_named(mocker: MockerFixture) -> None:
    bus, _ = bus_with(identity())
    pipe = open_pipe(port("serial=S-1"), bus)
    mocker.patch.object(os, "stat", return_value=os.stat("/dev/null"))
    mocker.patch.object(usb_device, "other_holders", return_value=(Holder(os.getpid(), "we"), Holder(7, "fwupd")))
    with pytest.raises(PortHeld, match=r"usb:serial=S-1 is held by process 7 \(fwupd\): end it"):
        open_pipe(port("serial=S-1"), bus)
    mocker.patch.object(usb_device, "other_holders", return_value=(Holder(os.getpid(), "we"),))
    with pytest.raises(PortHeld, match=r"is held by this program itself: see that no two devices in the configuration"):
        open_pipe(port("serial=S-1"), bus)
    mocker.patch.object(usb_device, "other_holders", return_value=())
    with pytest.raises(PortHeld, match="held by a driver of the kernel, or a process that this user cannot see"):
        open_pipe(port("serial=S-1"), bus)
    assert len(bus.handles) == 1
    pipe.release()


def test_f39_a_device_without_the_endpoints_is_told_so() -> None:
    bus, _ = bus_with(identity(interface_class=3))
    assert "no vendor-class interface with bulk endpoints" in refused(bus, "vid=1209,pid=0002", PortUnusable)


def test_f39_the_interface_and_its_setting_are_found_by_what_they_are() -> None:
    """Behind another interface, in the second setting, with the endpoints in an order of its own."""
    bus = Composite()
    device = bus.plug(identity(), lambda _: None)
    pipe = open_pipe(port("serial=S-1"), bus)
    assert bus.chosen == [(4, 1)]
    device.send(b"in")
    assert pipe.inward.read() == b"in"
    assert pipe.outward.write(b"out") == 3
    pipe.release()
    assert not bus.handles


@pytest.mark.parametrize("text", ["serial=S-1", "path=1-1", "vid=1209,pid=0002"])
@pytest.mark.parametrize("call", ["get_configuration_descriptor", "get_interface_descriptor"])
def test_f39_a_stranger_that_cannot_be_read_hides_nobody(mocker: MockerFixture, call: str, text: str) -> None:
    bus, (device, stranger) = bus_with(identity("S-1"), identity("S-1", product_id=9, ports=(2,)))
    real = getattr(UsbBus, call)

    def read(self: UsbBus, dev: UsbDevice, *arguments: int) -> SimpleNamespace:
        if dev is stranger:
            raise usb_error(errno.EIO)
        described: SimpleNamespace = real(self, dev, *arguments)
        return described

    mocker.patch.object(UsbBus, call, read)
    pipe = open_pipe(port(text), bus)
    assert device.claimed
    pipe.release()


def test_a_device_that_is_listed_though_it_has_gone_is_no_second_candidate(mocker: MockerFixture) -> None:
    bus, (device, gone) = bus_with(identity("S-1"), identity("S-1"))
    gone.end(errno.ENODEV)
    pipe = open_pipe(port("vid=1209,pid=0002"), bus)
    assert device.claimed
    pipe.release()
    bus.pull(device)
    assert "went away while it was opened" in refused(bus, "vid=1209,pid=0002,serial=S-1", PortMissing)


@pytest.mark.parametrize("call", ["open_device", "get_configuration", "claim_interface"])
def test_f38_an_error_without_a_number_resets_no_device(mocker: MockerFixture, call: str) -> None:
    """libusb's LIBUSB_ERROR_OTHER; without a number pyusb also says that no configuration is set."""
    bus, (device,) = bus_with(identity())
    mocker.patch.object(UsbBus, call, side_effect=usb.core.USBError("Other error", -99, None))
    assert "cannot be used (other error): unplug it" in refused(bus, "vid=1209,pid=0002", PortUnusable)
    assert device.seen["configurations set"] == 0


@pytest.mark.parametrize("code", [errno.ENOENT, errno.ENODEV, errno.EIO])
@pytest.mark.parametrize("call", ["open_device", "get_configuration", "claim_interface"])
def test_f39_a_device_that_goes_away_while_it_is_opened_is_missing(mocker: MockerFixture, call: str, code: int) -> None:
    bus, _ = bus_with(identity())
    mocker.patch.object(UsbBus, call, side_effect=usb_error(code))
    assert "went away while it was opened" in refused(bus, "vid=1209,pid=0002", PortMissing)


def test_f40_a_missing_libusb_is_named(mocker: MockerFixture) -> None:
    mocker.patch.object(usb.core, "find", side_effect=usb.core.NoBackendError("No backend available"))
    library = mocker.patch.object(usb_device, "find_library", return_value=None)
    sentence = refused(UsbBus(), "serial=S-1", PortUnusable)
    assert "libusb, which is missing: apt-get install libusb-1.0-0" in sentence
    library.return_value = "libusb-1.0.so.0"
    assert "libusb does not start here: where the program runs in a sandbox" in refused(
        UsbBus(), "serial=S-1", PortUnusable
    )


@pytest.mark.real
def test_f40_a_missing_libusb_is_named_by_the_real_pyusb() -> None:
    """In a process of its own: pyusb remembers a library that it has loaded."""
    script = (
        "import ctypes.util; ctypes.util.find_library = lambda name: None\n"
        "from drivers.errors import PortUnusable\n"
        "from drivers.transports.usb_device import open_pipe\n"
        "from drivers.transports.ports import UsbPort\n"
        "try: open_pipe(UsbPort(serial_number='S-1'))\n"
        "except PortUnusable as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "apt-get install libusb-1.0-0" in done.stdout
    assert done.stderr == ""


@pytest.mark.real
def test_f40_who_has_no_usb_device_loads_no_usb() -> None:
    script = (
        "import sys, firmware_bridge.devices.supervisor, firmware_bridge.cli, simulator.wires.pty\n"
        "print([name for name in sys.modules if name == 'usb' or name.startswith('usb.')])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("text", ["vid=1209,pid=0002", "serial=S-1", "vid=1209,pid=0002,serial=S-1"])
def test_f03_f47_a_shut_device_names_the_udev_rule(mocker: MockerFixture, text: str) -> None:
    bus, (device,) = bus_with(identity())
    device.forbidden = True
    mocker.patch.object(os, "stat", return_value=os.stat_result((0o20664, 0, 0, 1, 0, 0, 0, 0, 0, 0)))
    sentence = refused(bus, text, PortForbidden)
    assert sentence.startswith(f"the USB device usb:{text} is shut: this user may not open /dev/bus/usb/001/")
    assert "(group root, mode 0664): install the udev rule that lets a group read and write it" in sentence


def test_a_shut_stranger_does_not_hide_the_right_device() -> None:
    bus, devices = bus_with(identity("S-1"), identity("S-2", ports=(2,)))
    devices[0].forbidden = True
    pipe = open_pipe(port("serial=S-2"), bus)
    assert devices[1].claimed
    pipe.release()


async def test_a_pulled_device_is_found_again_in_another_port(host: Host) -> None:
    end = UsbEnd()
    transport = await end.open(host, "serial=S-1")
    end.socket.pull()
    await until(lambda: bool(host.lost))
    await transport.close()
    with pytest.raises(PortMissing):
        await end.open(host, "serial=S-1")
    moved = end.bus.plug(identity(ports=(7,)), lambda _: None)
    transport = await end.open(host, "serial=S-1")
    moved.send(b"back")
    await until(lambda: host.data == b"back")
    await transport.close()
