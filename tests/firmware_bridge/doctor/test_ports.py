"""What the doctor finds at the ports of machines with one thing wrong."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from firmware_bridge.doctor.context import DoctorContext, context_of
from firmware_bridge.doctor.findings import Health
from firmware_bridge.doctor.machine import Machine
from firmware_bridge.doctor.ports import holders
from tests.firmware_bridge.doctor.table_pc import OTHER_GROUP, SHOE, SHUFFLER, TablePc


def test_a_machine_that_is_not_plugged_in(pc: TablePc) -> None:
    pc.at(SHOE).unlink()
    finding = pc.only("ports")
    assert finding.health is Health.WRONG
    assert f"There is no device at serial:{SHOE} for the shoe" in finding.sentence
    assert SHUFFLER in finding.sentence  # what is plugged in instead


def test_f03_a_port_of_a_group_that_the_service_is_not_in(pc: TablePc) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root gives a file to another group")
    os.chown(pc.at("/dev/ttyUSB0"), -1, OTHER_GROUP)
    pc.service_owns_nothing()
    finding = pc.only("access")
    assert finding.health is Health.WRONG
    assert "firmware-bridge is not in the group dialout" in finding.sentence


def test_f03_a_port_without_a_rule(pc: TablePc) -> None:
    pc.at("/dev/ttyUSB0").chmod(0o400)
    pc.service_owns_nothing()
    finding = pc.only("access")
    assert finding.health is Health.WRONG
    assert "no rule of udev gave it to a group" in finding.sentence
    assert "suggest-udev" in finding.sentence


def test_f03_a_port_open_to_everybody(pc: TablePc) -> None:
    pc.at("/dev/ttyACM0").chmod(0o666)
    finding = pc.only("access")
    assert finding.health is Health.WARNING
    assert "open to everybody" in finding.sentence


def test_f03_a_rule_that_opens_devices_to_everybody(pc: TablePc) -> None:
    rule = 'SUBSYSTEM=="tty", ATTRS{idVendor}=="0403", MODE="0666"'
    pc.write("/etc/udev/rules.d/99-mine.rules", f"# MODE 0660 is better\n{rule}\n")
    assert pc.only("udev rules").health is Health.WARNING
    pc.write("/etc/udev/rules.d/99-mine.rules", f"# {rule}\n")
    assert pc.bad() == []


def test_f06_twins_are_told(pc: TablePc) -> None:
    pc.plug("1-3", "ttyUSB1", "/dev/table/port-x-00", idVendor="0403", idProduct="6001", product="FT", serial="TDP-7")
    finding = pc.only("twins")
    assert finding.health is Health.WRONG
    assert "one of 2 devices" in finding.sentence
    assert "1-2" in finding.sentence


def test_f06_twins_told_apart_by_their_sockets_are_well(pc: TablePc) -> None:
    pc.plug("1-3", "ttyUSB1", "/dev/table/port-b-00", idVendor="0403", idProduct="6001", product="FT", serial="TDP-7")
    pc.link("/dev/table/port-a-00", "ttyUSB0")
    pc.config(SHUFFLER, "/dev/table/port-a-00")
    assert pc.bad() == []


def test_f06_an_adapter_without_a_serial_number(pc: TablePc) -> None:
    pc.at("/sys/devices/usb1/1-2/serial").unlink()
    finding = pc.only("twins")
    assert finding.health is Health.WARNING
    assert "has no serial number" in finding.sentence


def test_a_property_that_fits_two_lines(pc: TablePc) -> None:
    pc.plug("1-3", "ttyUSB1", "/dev/table/port-x-00", idVendor="0403", idProduct="6001", product="FT", serial="TDP-7")
    pc.config(SHUFFLER, "by=ID_SERIAL_SHORT=TDP-7")
    told = [finding for finding in pc.bad() if finding.check == "ports"]
    assert [finding.health for finding in told] == [Health.WRONG]
    assert "fits 2 devices (/dev/ttyUSB0, /dev/ttyUSB1)" in told[0].sentence


@pytest.mark.real
def test_f07_f01_whoever_holds_a_port_is_named(tmp_path: Path) -> None:
    master, slave = os.openpty()
    node = os.ttyname(slave)
    holder = subprocess.Popen([shutil.which("sleep") or "sleep", "60"], stdin=slave)
    try:
        os.close(slave)
        pc = TablePc(tmp_path)
        pc.config(SHUFFLER, node)
        context = context_of(Machine(Path("/"), lambda _: None), pc.at("/etc/firmware-bridge/table.toml"))
        told = [finding for finding in holders(context) if finding.health is Health.WRONG]
        assert [f"process {holder.pid} (" in finding.sentence for finding in told] == [True]
        mine = Machine(Path("/"), lambda _: f"{holder.pid}\n")
        context = DoctorContext(mine, context.file, context.config, "", context.unit)
        assert not [finding for finding in holders(context) if finding.health is Health.WRONG]
    finally:
        holder.kill()
        holder.wait()
        os.close(master)


@pytest.mark.parametrize("what", ["folder", "file", "pipe"])
def test_a_port_that_leads_to_no_serial_line(pc: TablePc, what: str) -> None:
    port = pc.at(SHOE)
    port.unlink()
    match what:
        case "folder":
            port.mkdir(0o770)
        case "file":
            port.touch(0o660)
        case _:
            os.mkfifo(port, 0o660)
    finding = pc.only("ports")
    assert finding.health is Health.WRONG
    assert f"{SHOE} of the shoe leads to, is no serial line" in finding.sentence


def test_two_names_of_one_line(pc: TablePc) -> None:
    pc.link("/dev/table/port-x-00", "ttyUSB0")
    pc.config("/dev/table/port-x-00", SHOE)
    finding = pc.only("ports")
    assert finding.health is Health.WRONG
    assert "is /dev/ttyUSB0, which is the port of the shuffler too" in finding.sentence


def test_a_port_that_leads_in_a_circle(pc: TablePc) -> None:
    pc.at(SHOE).unlink()
    pc.at(SHOE).symlink_to(pc.at(SHOE))
    assert "There is no device at" in pc.only("ports").sentence


def test_a_port_by_a_number_that_the_kernel_gives_anew(pc: TablePc) -> None:
    pc.config(SHUFFLER, "/dev/ttyUSB0")
    finding = pc.only("twins")
    assert finding.health is Health.WARNING
    assert f"name its port {SHOE}" in finding.sentence


def test_a_line_that_the_unit_keeps_closed(pc: TablePc) -> None:
    pc.at("/sys/class/tty/ttyS0").mkdir()
    pc.write("/dev/ttyS0", "", 0o660)
    pc.config(SHUFFLER, "/dev/ttyS0")
    finding = pc.only("access")
    assert finding.health is Health.WRONG
    assert "DeviceAllow=char-ttyS rw" in finding.sentence
    pc.write("/etc/systemd/system/firmware-bridge.service.d/more.conf", "[Service]\nDeviceAllow=char-ttyS rw\n")
    assert pc.bad() == []


def test_a_line_that_is_not_on_usb_is_found_by_its_property(pc: TablePc) -> None:
    pc.write("/sys/class/tty/ttyS4/dev", "4:68\n")
    pc.udev("4:68", ID_PATH="pci-0000:00:16.3")
    pc.write("/dev/ttyS4", "", 0o660)
    pc.config(SHUFFLER, "by=ID_PATH=pci-0000:00:16.3")
    assert pc.only("access").sentence.startswith("The unit of the service keeps /dev/ttyS4")


@pytest.mark.parametrize(("name", "text"), [("idVendor", "zz"), ("busnum", "x"), ("devnum", "")])
def test_absurd_numbers_of_a_usb_device_are_survived(pc: TablePc, name: str, text: str) -> None:
    pc.change(f"serial:{SHOE}", "usb:vid=0403,pid=6001")
    pc.write(f"/sys/devices/usb1/1-2/{name}", text)
    assert {finding.check for finding in pc.bad()} <= {"ports"}
