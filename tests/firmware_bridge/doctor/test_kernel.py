"""What the doctor finds in the kernel and at USB."""

import pytest

from firmware_bridge.doctor.findings import Health
from tests.firmware_bridge.doctor.table_pc import TablePc

BRLTTY = "[9.1] usb 1-4: usbfs: interface 0 claimed by ch341 while 'brltty' sets config #1\n"


def test_f02_brltty_that_takes_an_adapter_is_recognised(pc: TablePc) -> None:
    pc.answers["journalctl"] = BRLTTY
    finding = pc.only("brltty")
    assert finding.health is Health.WRONG
    assert "brltty took an adapter away from its driver ch341" in finding.sentence


def test_f02_the_kernels_own_log_does_where_there_is_no_journal(pc: TablePc) -> None:
    pc.answers |= {"journalctl": None, "dmesg": BRLTTY}
    assert pc.only("brltty").health is Health.WRONG
    pc.answers["dmesg"] = None
    assert pc.only("brltty").health is Health.UNKNOWN


def test_f22_interference_is_counted(pc: TablePc) -> None:
    pc.answers["journalctl"] = "usb 1-1: port 1 disabled by hub (EMI?), re-enabling...\nftdi: urb stopped: -32\n"
    finding = pc.only("interference")
    assert finding.health is Health.WARNING
    assert "2 times" in finding.sentence


def test_f01_modem_manager_without_the_rule(pc: TablePc) -> None:
    pc.process(812, "ModemManager")
    assert pc.bad() == []
    pc.udev("188:1", ID_SERIAL_SHORT="TDP-7")
    finding = pc.only("ModemManager")
    assert finding.health is Health.WRONG
    assert "process 812" in finding.sentence
    assert "/dev/ttyUSB0 of the shoe" in finding.sentence


@pytest.mark.parametrize("place", ["1-1", "1-2"])
def test_f21_a_machine_that_may_be_put_to_sleep(pc: TablePc, place: str) -> None:
    pc.write(f"/sys/devices/usb1/{place}/power/control", "auto\n")
    finding = pc.only("autosuspend")
    assert finding.health is Health.WRONG
    assert place in finding.sentence


def test_f23_an_adapter_that_keeps_bytes_back(pc: TablePc) -> None:
    pc.write("/sys/class/tty/ttyUSB0/device/latency_timer", "16\n")
    finding = pc.only("latency")
    assert finding.health is Health.WARNING
    assert "16 ms" in finding.sentence
