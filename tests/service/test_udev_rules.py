"""The rules as udev itself applies them, to devices made of files."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from drivers.usb_ids import ADAPTER_PRODUCT, ADAPTER_SERIAL_NUMBER, PRODUCTS, VENDOR
from firmware_bridge.doctor.suggestions import Adapter, suggest
from tests.parts.required import missing

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "udev/70-firmware-bridge.rules"
PORT = "devices/pci0000:00/0000:00:14.0/usb1/1-2"
GROUP = "table-devices"

real = pytest.mark.real


@dataclass(frozen=True)
class Applied:
    """`properties` of each device, `nodes` and `links` below /dev, what was written below `sys`, udev's own text."""

    properties: dict[str, dict[str, str]]
    nodes: dict[str, tuple[str, str]]
    links: dict[str, str]
    sys: Path
    text: str

    def written(self, attribute: str) -> str:
        """Udev writes over what stands there, without cutting off the rest."""
        return (self.sys / PORT / attribute).read_text().strip("\n")


class Bench:
    """One USB device with one serial line, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.sys = folder / "sys"
        self.rules = folder / "rules"
        self.rules.mkdir()
        shutil.copy(RULES, self.rules)

    def plug(self, tty: str, numbers: str, **attributes: str) -> None:
        usb, line = self.sys / PORT, self.sys / PORT / f"1-2:1.0/{tty}/tty/{tty}"
        (usb / "power").mkdir(parents=True)
        line.mkdir(parents=True)
        for name, value in {
            "busnum": "1",
            "devnum": "2",
            "bDeviceClass": "00",
            "bcdDevice": "0100",
            **attributes,
        }.items():
            (usb / name).write_text(value + "\n")
        (usb / "power/control").write_text("au\n")
        (usb / "uevent").write_text("DEVTYPE=usb_device\nMAJOR=189\nMINOR=1\nDEVNAME=bus/usb/001/002\n")
        (usb / "1-2:1.0/uevent").write_text("DEVTYPE=usb_interface\n")
        for name, value in {"bInterfaceNumber": "00", "bInterfaceClass": "ff"}.items():
            (usb / "1-2:1.0" / name).write_text(value + "\n")
        (line.parents[1] / "uevent").write_text("")
        (line.parents[1] / "latency_timer").write_text("9\n")
        major, _, minor = numbers.partition(":")
        (line / "uevent").write_text(f"MAJOR={major}\nMINOR={minor}\nDEVNAME={tty}\n")
        (line / "dev").write_text(numbers + "\n")
        (line / "device").symlink_to(f"../../../{tty}")
        parents = ((usb.parents[1], "pci"), (usb.parent, "usb"), (usb, "usb"), (usb / "1-2:1.0", "usb"))
        for folder, bus in (*parents, (line.parents[1], "usb-serial")):
            self._subsystem(folder, f"bus/{bus}")
        (usb.parents[1] / "uevent").write_text("")
        (usb.parent / "uevent").write_text("")
        self._subsystem(line, "class/tty")
        (self.sys / "class/tty" / tty).symlink_to(line)
        (self.sys / "dev/char").mkdir(parents=True)
        (self.sys / "dev/char" / numbers).symlink_to(line)
        (self.sys / "dev/char/189:1").symlink_to(usb)

    def _subsystem(self, folder: Path, of: str) -> None:
        (self.sys / of).mkdir(parents=True, exist_ok=True)
        up = "../" * len(folder.relative_to(self.sys).parts)
        (folder / "subsystem").symlink_to(f"{up}{of}")

    def apply(self, tty: str) -> Applied:
        devices = [f"/sys/{PORT}", f"/sys/{PORT}/1-2:1.0/{tty}/tty/{tty}"]
        entered = ["/usr/bin/unshare", "--mount", "--propagation", "private"]
        script = [str(Path(__file__).with_name("fake_sys.sh")), str(self.sys), str(self.rules), *devices]
        done = subprocess.run([*entered, *script], check=False, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        *told, rest = re.split(r"^--- \S+\n", done.stdout, flags=re.MULTILINE)
        nodes, links = {}, {}
        for line in rest.splitlines():
            name, *about = line.split(" ")
            if len(about) == 2:
                nodes[name] = (about[0], about[1])
            else:
                links[name] = about[0]
        properties = [dict(re.findall(r"^([.A-Z_0-9]+)=(.*)$", text, re.MULTILINE)) for text in told]
        return Applied(dict(zip(("usb", "tty"), properties, strict=True)), nodes, links, self.sys, done.stdout)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    if os.geteuid() != 0:
        missing("nspawn", "udev is tried as root alone")
    if shutil.which("udevadm") is None:
        missing("nspawn", "udevadm is not there: run tests/parts/nspawn.sh as root")
    return Bench(tmp_path)


OURS = {"idVendor": f"{VENDOR:04x}", "product": "Shoe", "manufacturer": "Bench"}
FTDI = {"idVendor": "0403", "idProduct": "6001", "product": "FT232R USB UART", "manufacturer": "FTDI"}


@real
@pytest.mark.parametrize("kind", list(PRODUCTS))
def test_a_device_of_the_projects_numbers_gets_its_group_and_its_names(bench: Bench, kind: object) -> None:
    device = next(one for one in PRODUCTS if one is kind)
    bench.plug("ttyACM0", "166:0", **OURS, idProduct=f"{PRODUCTS[device]:04x}", serial="0123")
    applied = bench.apply("ttyACM0")
    assert applied.nodes["/dev/ttyACM0"] == (GROUP, "660")
    assert applied.nodes["/dev/bus/usb/001/002"] == (GROUP, "660")
    assert applied.links[f"/dev/table/{device.value}-0123-00"] == "../ttyACM0"
    assert applied.properties["tty"]["TABLE_DEVICE"] == device.value


@real
@pytest.mark.parametrize(
    "told",
    [{**FTDI, "serial": f"{ADAPTER_SERIAL_NUMBER}7"}, {**FTDI, "product": f"{ADAPTER_PRODUCT}line", "serial": "7"}],
)
def test_f01_f21_f23_an_adapter_that_says_so_is_treated_as_a_machine(bench: Bench, told: dict[str, str]) -> None:
    bench.plug("ttyUSB0", "188:0", **told)
    applied = bench.apply("ttyUSB0")
    assert applied.properties["usb"]["ID_MM_DEVICE_IGNORE"] == "1"
    assert applied.properties["tty"]["ID_MM_PORT_IGNORE"] == "1"
    assert applied.written("power/control").startswith("on")
    assert applied.written("1-2:1.0/ttyUSB0/latency_timer").startswith("1")
    assert f"/dev/table/adapter-{told['serial']}-00" in applied.links


@real
def test_a_kind_may_stand_in_the_memory_of_any_adapter(bench: Bench) -> None:
    bench.plug("ttyUSB0", "188:0", **{**FTDI, "product": "TDP shuffler"}, serial="9")
    assert "/dev/table/shuffler-9-00" in bench.apply("ttyUSB0").links


@real
def test_f03_everything_else_is_left_alone(bench: Bench) -> None:
    bench.plug("ttyUSB0", "188:0", **FTDI, serial="A10K")
    applied = bench.apply("ttyUSB0")
    assert applied.links == {}
    assert "TABLE_DEVICE" not in applied.properties["tty"]
    assert "ID_MM_PORT_IGNORE" not in applied.properties["tty"]
    assert applied.written("power/control") == "au"
    assert GROUP not in str(applied.nodes)


@real
def test_f04_the_names_do_not_depend_on_the_rules_of_the_distribution(bench: Bench) -> None:
    """Here there are none; and with some that set half of what ours would read, nothing changes."""
    bench.plug("ttyUSB0", "188:0", **FTDI, serial="TDP-7")
    half = bench.rules / "60-serial.rules"
    assert "/dev/table/adapter-TDP-7-00" in bench.apply("ttyUSB0").links
    half.write_text('SUBSYSTEM=="tty", ENV{ID_BUS}="usb"\nSUBSYSTEM=="tty", ENV{ID_SERIAL_SHORT}="wrong"\n')
    assert "/dev/table/adapter-TDP-7-00" in bench.apply("ttyUSB0").links


@real
def test_f05_f06_a_device_without_a_serial_number_has_the_name_of_its_socket(bench: Bench) -> None:
    bench.plug("ttyACM0", "166:0", **OURS, idProduct="0002")
    links = bench.apply("ttyACM0").links
    assert [name.startswith("/dev/table/port-pci-0000:00:14.0-usb-0:2:1.0-00") for name in links] == [True]


@real
def test_what_a_device_says_cannot_lead_out_of_the_folder(bench: Bench) -> None:
    bench.plug("ttyUSB0", "188:0", **FTDI, serial="TDP-/../../sda x/../../../y")
    applied = bench.apply("ttyUSB0")
    assert applied.links
    assert all(re.fullmatch(r"/dev/table/[^/]+", name) for name in applied.links)
    assert not any(name.endswith(("/sda", "/y")) for name in applied.nodes)


@real
def test_what_is_suggested_makes_a_machine_of_a_stranger(bench: Bench) -> None:
    bench.plug("ttyUSB0", "188:0", **FTDI, serial="A10K")
    adapter = Adapter("/dev/ttyUSB0", "0403", "6001", "FT232R", "A10K", "1-2", "00", known=False)
    (bench.rules / "69-table-local.rules").write_text("\n".join(suggest([adapter])) + "\n")
    applied = bench.apply("ttyUSB0")
    assert "/dev/table/adapter-A10K-00" in applied.links
    assert applied.nodes["/dev/ttyUSB0"] == (GROUP, "660")


@real
@pytest.mark.parametrize("serial_number", ["Ä日7", "  7 7", '7"$*[a]|\\'])
def test_what_is_suggested_fits_whatever_letters_there_are(bench: Bench, serial_number: str) -> None:
    bench.plug("ttyUSB0", "188:0", **FTDI, serial=serial_number)
    adapter = Adapter("/dev/ttyUSB0", "0403", "6001", "FT232R", serial_number, "1-2", "00", known=False)
    (bench.rules / "69-table-local.rules").write_text("\n".join(suggest([adapter])) + "\n")
    assert bench.apply("ttyUSB0").nodes["/dev/ttyUSB0"] == (GROUP, "660")


@real
def test_udev_finds_nothing_to_say_about_the_rules(bench: Bench) -> None:
    bench.plug("ttyUSB0", "188:0", **FTDI, serial="TDP-7")
    text = bench.apply("ttyUSB0").text
    complaints = [
        line for line in text.splitlines() if re.search(r"rules:\d+ (?:Invalid|Unknown|Failed|.*ignoring)", line)
    ]
    assert complaints == []
    assert "70-firmware-bridge.rules" in text


def test_f03_the_rules_come_before_those_of_seats_and_open_nothing_to_everybody() -> None:
    assert int(RULES.name.partition("-")[0]) < 73
    rules = [line for line in RULES.read_text().splitlines() if not line.startswith("#")]
    assert not any("uaccess" in line or re.search(r'MODE.?="0?..[1-7]"', line) for line in rules)


def test_the_rules_know_the_numbers_of_the_code() -> None:
    text = RULES.read_text()
    for kind, product in PRODUCTS.items():
        keys = f'ATTRS{{idVendor}}=="{VENDOR:04x}", ATTRS{{idProduct}}=="{product:04x}"'
        assert f'{keys}, ENV{{TABLE_DEVICE}}="{kind.value}"' in text
    assert f'ATTRS{{product}}=="{ADAPTER_PRODUCT}*"' in text
    assert f'ATTRS{{serial}}=="{ADAPTER_SERIAL_NUMBER}*"' in text
