"""Lines found by udev properties: real libudev and pyudev, on devices that umockdev makes up."""

import asyncio
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from drivers.errors import PortMissing, PortUnusable
from drivers.transports import discovery
from tests.drivers.transports.ends.pty_end import Host, opened

DEVICE = """\
P: /devices/pci0000:00/usb1/1-{place}/1-{place}:1.{interface}/tty/{node}
N: {node}
E: DEVNAME=/dev/{node}
E: SUBSYSTEM=tty
E: ID_SERIAL_SHORT={serial}
E: ID_PATH=pci-0000:00:14.0-usb-0:{place}:1.{interface}
E: ID_USB_INTERFACE_NUM=0{interface}
A: dev=166:{minor}

"""

made_up = [
    pytest.mark.real,
    pytest.mark.skipif(shutil.which("umockdev-run") is None, reason="umockdev is not installed"),
]


def devices(*nodes: tuple[str, str, str, int]) -> str:
    """Each (node, serial number, place, interface)."""
    return "".join(
        DEVICE.format(node=node, serial=serial, place=place, interface=interface, minor=minor)
        for minor, (node, serial, place, interface) in enumerate(nodes)
    )


def found(tmp_path: Path, world: str, *ports: str) -> list[str]:
    description = tmp_path / "world.umockdev"
    description.write_text(world)
    command = ["umockdev-run", "--device", str(description), "--"]
    program = [sys.executable, str(Path(__file__).with_name("ends") / "find_serial.py"), *ports]
    done = subprocess.run([*command, *program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


class TestMadeUpDevices:
    pytestmark = made_up

    def test_f04_f08_a_device_is_found_wherever_it_is_plugged_in(self, tmp_path: Path) -> None:
        before = devices(("ttyACM0", "SHOE-1", "1.2", 0), ("ttyACM1", "SHUFFLER-1", "1.3", 0))
        after = devices(("ttyACM1", "SHUFFLER-1", "1.3", 0), ("ttyACM7", "SHOE-1", "4", 0))
        port = "serial:by=ID_SERIAL_SHORT=SHOE-1"
        assert found(tmp_path, before, port) == ["/dev/ttyACM0"]
        assert found(tmp_path, after, port) == ["/dev/ttyACM7"]

    def test_f05_two_candidates_are_both_named_and_neither_is_taken(self, tmp_path: Path) -> None:
        twins = devices(("ttyUSB0", "0001", "1.2", 0), ("ttyUSB1", "0001", "1.3", 0))
        (told,) = found(tmp_path, twins, "serial:by=ID_SERIAL_SHORT=0001")
        assert told.startswith("PortAmbiguous: 2 serial devices have ID_SERIAL_SHORT=0001: /dev/ttyUSB0 (ID_PATH=pci-")
        assert "and /dev/ttyUSB1 (ID_PATH=pci-0000:00:14.0-usb-0:1.3:1.0)" in told
        assert "unplug all but the right one" in told

    def test_f06_twins_without_serial_numbers_are_told_apart_by_their_place_or_interface(self, tmp_path: Path) -> None:
        twins = devices(("ttyUSB0", "0001", "1.2", 0), ("ttyUSB1", "0001", "1.3", 0), ("ttyUSB2", "0001", "1.3", 1))
        ports = [
            "serial:by=ID_PATH=pci-0000:00:14.0-usb-0:1.2:1.0",
            "serial:by=ID_SERIAL_SHORT=0001,by=ID_USB_INTERFACE_NUM=01",
        ]
        assert found(tmp_path, twins, *ports) == ["/dev/ttyUSB0", "/dev/ttyUSB2"]

    def test_a_device_that_is_not_there_is_missing(self, tmp_path: Path) -> None:
        (told,) = found(tmp_path, devices(("ttyUSB0", "0001", "1.2", 0)), "serial:by=ID_SERIAL_SHORT=0002")
        assert told.startswith("PortMissing: there is no serial device with ID_SERIAL_SHORT=0002: plug it in")


async def test_without_udev_it_is_said(host: Host, mocker: MockerFixture, tmp_path: Path) -> None:
    mocker.patch.object(discovery, "UDEV_DATA", tmp_path / "none")
    with pytest.raises(PortUnusable, match="udev does not run here, so no port is found by ID_X=1"):
        await opened("serial:by=ID_X=1", host)
    mocker.patch.dict(sys.modules, {"pyudev": None})
    with pytest.raises(PortUnusable, match="there is no libudev"):
        await opened("serial:by=ID_X=1", host)


async def test_a_port_by_path_needs_no_udev(host: Host, mocker: MockerFixture) -> None:
    mocker.patch.dict(sys.modules, {"pyudev": None})
    with pytest.raises(PortMissing):
        await opened("serial:/dev/no-such-line", host)


async def test_a_list_that_does_not_come_is_given_up(host: Host, mocker: MockerFixture) -> None:
    async def never(*_: object) -> None:
        raise TimeoutError

    mocker.patch.object(discovery, "run_blocking", never)
    with pytest.raises(PortUnusable, match="udev did not list the serial devices within 5 s"):
        await opened("serial:by=ID_X=1", host)


async def test_a_list_that_hangs_costs_one_thread(host: Host, mocker: MockerFixture) -> None:
    mocker.patch.object(discovery, "FIND_TIMEOUT_S", 0.01)
    over = threading.Event()
    mocker.patch.object(discovery, "_nodes", side_effect=lambda _: over.wait(20) and [])
    before = set(threading.enumerate())
    try:
        for _ in range(3):
            with pytest.raises(PortUnusable, match="udev did not list"):
                await opened("serial:by=ID_X=1", host)
        assert len(set(threading.enumerate()) - before) == 1
    finally:
        over.set()


async def test_f08_every_opening_looks_anew(host: Host, mocker: MockerFixture, tmp_path: Path) -> None:
    nodes = iter([tmp_path / "ttyACM0", tmp_path / "ttyACM1"])

    async def find(*_: object) -> str:
        await asyncio.sleep(0)
        return str(next(nodes))

    mocker.patch.object(discovery, "find_serial", find)
    for name in ("ttyACM0", "ttyACM1"):
        with pytest.raises(PortMissing, match=f"no device at {tmp_path / name}"):
            await opened("serial:by=ID_X=1", host)
