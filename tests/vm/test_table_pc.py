"""A table PC set up by udev/: what the rules do to real uevents, and what the service is really kept from."""

import json

import pytest

from tests.vm.machine import VirtualMachine
from tests.vm.table_pc import CGROUP, UNIT, said, start, wait_until_said

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(600),
    pytest.mark.xdist_group("virtual-machine"),
    pytest.mark.usefixtures("installed"),
]

# What tools that save power do to every device on USB.
SLEEPY = 'ACTION=="add", SUBSYSTEM=="usb", ENV{DEVTYPE}=="usb_device", ATTR{power/control}="auto"'
CONFINED = ("/usr/bin/python3", "-I", "/opt/bench/tests/vm/guest/confined.py", CGROUP)


@pytest.fixture(scope="module")
def service(booted: VirtualMachine, installed: None) -> None:
    """Running, with none of its machines there, and started when the kernel had no use for their drivers yet."""
    booted.shell("modprobe -r ftdi_sio usbserial && ! grep ttyUSB /proc/devices")
    start(booted, {"shuffler": "serial:/dev/table/none", "shoe": "serial:/dev/table/neither"})


def properties(machine: VirtualMachine, node: str) -> dict[str, str]:
    """What udev knows of it."""
    lines = machine.check("udevadm", "info", "--query=property", node).splitlines()
    return dict(line.split("=", 1) for line in lines)


def confined(machine: VirtualMachine, *command: str) -> dict[str, str]:
    out: dict[str, str] = json.loads(machine.check(*CONFINED, *command))
    return out


def show(machine: VirtualMachine, name: str) -> str:
    return machine.check("systemctl", "show", "--value", "--property", name, UNIT).strip()


def test_f01_f03_f04_f21_f23_the_rules_know_a_machine(machine: VirtualMachine) -> None:
    """Its own name, its group and nobody else, no ModemManager, no sleep though others would have it, no 16 ms."""
    machine.shell(f"echo '{SLEEPY}' > /etc/udev/rules.d/60-sleepy.rules && udevadm control --reload")
    machine.plug("shoe", serial_number="TDP-0042", port=2)
    machine.wait_for("test -c /dev/table/adapter-TDP-0042-00")
    assert machine.shell("stat -L -c '%G %a' /dev/table/adapter-TDP-0042-00").split() == ["table-devices", "660"]
    found = properties(machine, "/dev/table/adapter-TDP-0042-00")
    assert (found["ID_MM_PORT_IGNORE"], found["ID_MM_DEVICE_IGNORE"]) == ("1", "1")
    assert "uaccess" not in found.get("TAGS", "")
    line, usb = machine.shell("""
        line=/sys/class/tty/$(basename $(readlink -f /dev/table/adapter-TDP-0042-00))
        cat $line/device/latency_timer
        cat $line/device/../../power/control
    """).split()
    assert (line, usb) == ("1", "on")
    machine.plug("stranger", serial_number="LOOK-HERE", port=3)
    machine.wait_for("udevadm settle && test -c /dev/serial/by-id/usb-QEMU_QEMU_USB_SERIAL_LOOK-HERE-if00-port0")
    assert machine.shell("cat /sys/bus/usb/devices/1-3/power/control").strip() == "auto"
    machine.shell("rm /etc/udev/rules.d/60-sleepy.rules && udevadm control --reload")


def test_f05_f06_a_name_for_the_machine_and_one_for_the_socket(machine: VirtualMachine) -> None:
    """The one goes with the adapter, the other stays."""
    machine.plug("shoe", serial_number="TDP-0042", port=2)
    machine.wait_for("test -c /dev/table/adapter-TDP-0042-00")
    (socket,) = machine.shell("cd /dev/table && ls -d port-*").split()
    machine.pull("shoe")
    machine.wait_for("! test -e /dev/table/adapter-TDP-0042-00")
    machine.plug("shoe", serial_number="TDP-0042", port=5)
    machine.plug("stranger", serial_number="TDP-0043", port=2)
    machine.wait_for("test -c /dev/table/adapter-TDP-0042-00 -a -c /dev/table/adapter-TDP-0043-00")
    there = f"/dev/table/{socket}"
    assert machine.shell(f"readlink -f {there}") == machine.shell("readlink -f /dev/table/adapter-TDP-0043-00")


def test_f03_a_stranger_is_left_alone_until_a_rule_is_made(machine: VirtualMachine) -> None:
    """`suggest-udev` prints the rule, and with it the adapter belongs to the table."""
    machine.plug("stranger", serial_number="LOOK-HERE", port=3)
    machine.wait_for("udevadm settle && test -c /dev/serial/by-id/usb-QEMU_QEMU_USB_SERIAL_LOOK-HERE-if00-port0")
    assert machine.shell("stat -L -c %G /dev/serial/by-id/*LOOK-HERE*").strip() != "table-devices"
    assert machine.run("/bin/sh", "-c", "ls /dev/table/*LOOK-HERE*").status != 0
    try:
        machine.shell("""
            /opt/firmware-bridge/bin/firmware-bridge suggest-udev > /etc/udev/rules.d/69-table-local.rules
            udevadm control --reload && udevadm trigger && udevadm settle
        """)
        machine.wait_for("test -c /dev/table/*LOOK-HERE*")
        assert machine.shell("stat -L -c '%G %a' /dev/table/*LOOK-HERE*").split() == ["table-devices", "660"]
    finally:
        machine.shell("rm /etc/udev/rules.d/69-table-local.rules && udevadm control --reload")


@pytest.mark.usefixtures("service")
def test_f47_the_service_reaches_its_machines_and_no_other_device(machine: VirtualMachine) -> None:
    """DeviceAllow, as the kernel enforces it on whatever runs within the service."""
    machine.plug("shoe", serial_number="TDP-0042", port=2)
    machine.wait_for("test -c /dev/table/adapter-TDP-0042-00")
    usb = machine.check("udevadm", "info", "--query=name", "--root", "/sys/bus/usb/devices/usb1").strip()
    line = machine.shell("readlink -f /dev/table/adapter-TDP-0042-00").strip()
    forbidden = ("/dev/vda", "/dev/ttyS0", "/dev/kmsg", "/dev/virtio-ports/agent", "/dev/mem")
    tried = confined(machine, "open", line, usb, "/dev/null", *forbidden)
    assert (tried[line], tried[usb], tried["/dev/null"]) == ("done", "done", "done")
    assert {tried[node] for node in forbidden} == {"EPERM"}


@pytest.mark.usefixtures("service")
def test_f48_udev_tells_the_service_of_what_comes_and_goes(machine: VirtualMachine) -> None:
    """It says so where it hears nothing; by then it has looked for its machines in vain."""
    wait_until_said(machine, "waiting for the shoe")
    assert not [line for line in said(machine) if line["event"] == "hotplug_unavailable"]


@pytest.mark.usefixtures("service")
def test_the_service_reaches_this_computer_and_no_other(machine: VirtualMachine) -> None:
    """IPAddressDeny and IPAddressAllow, as the kernel enforces them."""
    assert confined(machine, "connect", "127.0.0.1", "10.77.0.1") == {"127.0.0.1": "done", "10.77.0.1": "EPERM"}


@pytest.mark.usefixtures("service")
def test_memory_beyond_the_limit_ends_what_takes_it_and_the_service_comes_back(machine: VirtualMachine) -> None:
    assert int(machine.shell(f"cat {CGROUP}/memory.max")) == 2**30
    before = show(machine, "MainPID")
    machine.check("systemctl", "set-property", "--runtime", UNIT, "MemoryMax=192M")
    try:
        assert machine.run(*CONFINED, "allocate", "300").status == -9
        machine.wait_for(f'test "$(systemctl show --value --property MainPID {UNIT})" != {before}')
        machine.wait_for(f"systemctl is-active --quiet {UNIT}")
    finally:
        machine.check("systemctl", "revert", UNIT)


def test_the_null_the_wrong_and_the_twin_are_each_answered_with_a_sentence(machine: VirtualMachine) -> None:
    """An adapter behind which nothing answers, a shoe where the shuffler should be, two shoes with one number."""
    kinds = ("shuffler", "shoe", "layout")
    start(machine, {kind: f"serial:by=ID_SERIAL_SHORT=TDP-{kind.upper()}" for kind in kinds})
    one = ("/usr/bin/env", "-C", "/opt/bench", "/opt/firmware-bridge/bin/python", "-m", "tests.vm.guest.one_machine")
    machine.check("systemd-run", "--quiet", "--unit", "one-machine", *one, "shoe", "shuffler")
    try:
        machine.plug("layout", serial_number="TDP-LAYOUT", port=1)
        machine.plug("shuffler", serial_number="TDP-SHUFFLER", port=2)
        machine.plug("shoe", serial_number="TDP-SHOE", port=3)
        machine.plug("stranger", serial_number="TDP-SHOE", port=4)
        twin = wait_until_said(machine, "waiting for the shoe: 2 serial devices have ID_SERIAL_SHORT=TDP-SHOE")
        wrong = wait_until_said(machine, "refused the shuffler: The port leads to a shoe")
        null = wait_until_said(machine, "waiting for the layout: Silence: nothing came from the layout")
    finally:
        machine.shell("systemctl stop one-machine")
    assert "check that it is switched on, its cable" in null
    assert "where a shuffler is configured: plug the right device in" in wrong
    assert twin.count("/dev/ttyUSB") == 2
    assert "unplug all but the right one" in twin
