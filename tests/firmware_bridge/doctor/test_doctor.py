"""What the doctor finds on machines with one thing wrong."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from firmware_bridge.doctor.findings import Finding, Health, exit_status
from firmware_bridge.doctor.machine import Machine, ask_system
from firmware_bridge.doctor.ports import holders
from firmware_bridge.doctor.site import Site, site_of
from firmware_bridge.doctor.unit import Unit, installed_unit
from tests.firmware_bridge.doctor.table_pc import OTHER_GROUP, SHOE, SHUFFLER, TablePc


@pytest.fixture
def pc(tmp_path: Path) -> TablePc:
    return TablePc(tmp_path)


def test_where_everything_is_well_everything_is_green(pc: TablePc) -> None:
    assert pc.bad() == []
    assert len(pc.findings()) >= 20
    assert all(finding.sentence.endswith(".") for finding in pc.findings())


# Ports


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
        site = site_of(Machine(Path("/"), lambda _: None), pc.at("/etc/firmware-bridge/table.toml"))
        told = [finding for finding in holders(site) if finding.health is Health.WRONG]
        assert [f"process {holder.pid} (" in finding.sentence for finding in told] == [True]
        mine = Machine(Path("/"), lambda _: f"{holder.pid}\n")
        site = Site(mine, site.file, site.config, "", site.unit)
        assert not [finding for finding in holders(site) if finding.health is Health.WRONG]
    finally:
        holder.kill()
        holder.wait()
        os.close(master)


# Kernel and USB

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


# The service


def test_a_user_that_is_missing(pc: TablePc) -> None:
    pc.groups("")
    (finding, *_) = pc.bad()
    assert finding.check == "users"
    assert "no group table-devices" in finding.sentence
    assert "systemd-sysusers" in finding.sentence


def test_rules_that_are_missing_or_hidden(pc: TablePc) -> None:
    pc.write("/etc/udev/rules.d/70-firmware-bridge.rules", "")
    assert "hides" in pc.only("udev rules").sentence
    pc.at("/etc/udev/rules.d/70-firmware-bridge.rules").unlink()
    pc.at("/usr/local/lib/udev/rules.d/70-firmware-bridge.rules").unlink()
    assert "not installed" in pc.only("udev rules").sentence


def test_a_unit_that_is_missing(pc: TablePc) -> None:
    pc.at("/usr/local/lib/systemd/system/firmware-bridge.service").unlink()
    told = {finding.check: finding for finding in pc.bad()}
    assert "not installed" in told["service"].sentence


@pytest.mark.parametrize(
    ("answer", "health", "words"),
    [
        ("ActiveState=failed\nUnitFileState=enabled\nResult=exit-code\nExecMainStatus=2\n", Health.WRONG, "status 2"),
        ("ActiveState=inactive\nUnitFileState=enabled\n", Health.WARNING, "is stopped"),
        ("ActiveState=activating\nUnitFileState=enabled\n", Health.WARNING, "activating"),
        ("ActiveState=active\nUnitFileState=disabled\n", Health.WARNING, "systemctl enable"),
        (None, Health.UNKNOWN, "does not tell"),
    ],
)
def test_how_the_service_stands(pc: TablePc, answer: str | None, health: Health, words: str) -> None:
    pc.answers["systemctl"] = answer
    finding = pc.only("service")
    assert finding.health is health
    assert words in finding.sentence


def test_a_drop_in_changes_what_the_service_may(pc: TablePc) -> None:
    pc.write("/etc/systemd/system/firmware-bridge.service.d/more.conf", "[Service]\nSupplementaryGroups=dialout\n")
    unit = installed_unit(Machine(pc.root, pc.ask))
    assert unit.more_groups == ("table-devices", "dialout")
    pc.write("/etc/systemd/system/firmware-bridge.service.d/z.conf", "[Service]\nSupplementaryGroups=\n")
    assert installed_unit(Machine(pc.root, pc.ask)).more_groups == ()


# The record


def test_f36_a_clock_that_nobody_sets(pc: TablePc) -> None:
    pc.answers["timedatectl"] = "no\n"
    assert pc.only("clock").health is Health.WARNING
    pc.answers["timedatectl"] = None
    assert pc.only("clock").health is Health.UNKNOWN


def test_a_folder_that_the_service_may_not_write(pc: TablePc) -> None:
    pc.at("/var/lib/firmware-bridge").chmod(0o500)
    assert pc.only("journal").health is Health.WRONG
    pc.at("/var/lib/firmware-bridge").rmdir()
    assert "There is no folder" in pc.only("journal").sentence


@pytest.mark.parametrize(("blocks", "health"), [(10, Health.WRONG), (500, Health.WARNING)])
def test_f55_a_disk_that_is_almost_full(
    pc: TablePc, blocks: int, health: Health, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = os.statvfs(pc.root)

    def little(_: Path) -> os.statvfs_result:
        return os.statvfs_result((1 << 20, 1 << 20, room.f_blocks, blocks, blocks, *tuple(room)[5:]))

    monkeypatch.setattr(os, "statvfs", little)
    finding = pc.only("disk")
    assert finding.health is health
    assert f"Only {blocks} MiB" in finding.sentence


# The configuration


def test_a_configuration_that_cannot_be_used_leaves_the_rest_to_be_looked_at(pc: TablePc) -> None:
    pc.write("/etc/firmware-bridge/table.toml", "[tabel]\n")
    told = {finding.check: finding for finding in pc.bad()}
    assert told["configuration"].health is Health.WRONG
    assert told["house"].health is Health.UNKNOWN
    assert any(finding.check == "udev rules" and finding.health is Health.OK for finding in pc.findings())


def test_a_driver_that_is_not_there(pc: TablePc) -> None:
    file = pc.at("/etc/firmware-bridge/table.toml")
    file.write_text(file.read_text().replace('driver = "tdp"', 'driver = "tpd"', 1))
    finding = pc.only("configuration")
    assert "the device shuffler" in finding.sentence


def test_a_house_that_does_not_offer_what_the_table_wants(pc: TablePc) -> None:
    file = pc.at("/etc/firmware-bridge/table.toml")
    file.write_text(file.read_text().replace('deal = "group"', 'deal = "group"\ndecks = 6'))
    assert pc.only("house").health is Health.WRONG


def test_a_key_that_is_missing_is_named_by_the_file_to_make(pc: TablePc) -> None:
    pc.at("/etc/firmware-bridge/table.key").unlink()
    finding = pc.only("keys")
    assert finding.health is Health.WRONG
    assert "is not at /etc/firmware-bridge/table.key" in finding.sentence


@pytest.mark.parametrize(
    ("text", "mode", "words"),
    [("5a" * 32, 0o640, "chmod 600 /etc/firmware-bridge/table.key"), ("5a", 0o600, "does not hold 64 hex digits")],
)
def test_a_key_that_is_open_or_damaged(pc: TablePc, text: str, mode: int, words: str) -> None:
    pc.write("/etc/firmware-bridge/table.key", text, mode)
    finding = pc.only("keys")
    assert words in finding.sentence
    assert str(pc.root) not in finding.sentence


def test_keys_of_paired_devices_are_found_in_their_folder() -> None:
    unit = Unit(None, "u", "g", (), {"device-keys": "/etc/firmware-bridge/device-keys"})
    given = Path("/run/credentials/firmware-bridge.service/device-keys_shoe.key")
    assert unit.source_of(given) == Path("/etc/firmware-bridge/device-keys/shoe.key")
    assert unit.source_of(Path("/srv/shoe.key")) is None


# In all


def test_the_worst_finding_is_the_status() -> None:
    ok, unknown, warning, wrong = (Finding("x", health, "X.") for health in Health)
    assert exit_status([]) == exit_status([ok]) == 0
    assert exit_status([ok, unknown]) == exit_status([warning, ok]) == 1
    assert exit_status([ok, warning, wrong, unknown]) == 2


def test_a_command_that_is_not_there_or_says_nothing_is_no_answer() -> None:
    assert ask_system(["/no/such/command"]) is None
    assert ask_system([sys.executable, "-c", ""]) is None
    assert ask_system([sys.executable, "-c", "print('yes')"]) == "yes\n"


@pytest.mark.real
def test_the_command_tells_the_same_as_json(pc: TablePc) -> None:
    run = "import sys; from firmware_bridge.cli import main; sys.argv[0] = 'firmware-bridge'; main()"
    command = [sys.executable, "-c", run, "doctor", "--config", str(pc.at("/nowhere.toml"))]
    words = subprocess.run(command, check=False, capture_output=True, text=True)
    as_json = subprocess.run([*command, "--json"], check=False, capture_output=True, text=True)
    assert words.returncode == as_json.returncode == 2
    assert "There is no configuration file" in words.stdout
    assert '"check":"configuration","health":"wrong"' in as_json.stdout
    assert "Traceback" not in words.stderr + as_json.stderr
