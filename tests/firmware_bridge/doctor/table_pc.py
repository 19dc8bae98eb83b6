"""A table PC made of files, as the project's own installation leaves it; each test breaks one thing."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from firmware_bridge.doctor.context import context_of
from firmware_bridge.doctor.examination import examine
from firmware_bridge.doctor.findings import Finding, Health
from firmware_bridge.doctor.machine import Machine

ROOT = Path(__file__).resolve().parents[3]
CONFIG = """\
[table]
name = "table-1"
deal = "group"
[house]
file = "licensed"
[journal]
file = "{folder}/table.journal"
key = "/run/credentials/firmware-bridge.service/table.key"
[sockets]
control = "/run/firmware-bridge/control.sock"
feed = "/run/firmware-bridge/feed.sock"
[[device]]
name = "shuffler"
kind = "shuffler"
driver = "tdp"
port = "serial:{shuffler}"
[[device]]
name = "shoe"
kind = "shoe"
driver = "tdp"
port = "serial:{shoe}"
"""
SHUFFLER = "/dev/table/shuffler-S1-00"
SHOE = "/dev/table/adapter-TDP-7-00"
OTHER_GROUP = 4321


class TablePc:
    """Everything is well until something of it is changed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.answers: dict[str, str | None] = {
            "timedatectl": "yes\n",
            "journalctl": "usb 1-1: new full-speed USB device\n",
            "systemctl": "ActiveState=active\nUnitFileState=enabled\nResult=success\nExecMainStatus=0\n",
        }
        own = f"firmware-bridge:x:{os.getuid()}:{os.getgid()}:bridge:/var/lib/firmware-bridge:/usr/sbin/nologin\n"
        self.write("/etc/passwd", "root:x:0:0:root:/root:/bin/bash\n" + own)
        self.groups(f"table-devices:x:{os.getgid()}:\n")
        self.install("70-firmware-bridge.rules", "udev/rules.d/70-firmware-bridge.rules")
        self.install("firmware-bridge.service", "systemd/system/firmware-bridge.service")
        self.write("/etc/firmware-bridge/table.key", "5a" * 32, 0o600)
        self.at("/etc/firmware-bridge/device-keys").mkdir()
        self.process(1, "systemd")
        self.process(2, "systemd-udevd")
        self.at("/var/lib/firmware-bridge").mkdir(parents=True)
        self.config(SHUFFLER, SHOE)
        self.plug("1-1", "ttyACM0", SHUFFLER, idVendor="1209", idProduct="0001", product="Shuffler", serial="S1")
        self.plug("1-2", "ttyUSB0", SHOE, idVendor="0403", idProduct="6001", product="FT232R", serial="TDP-7")
        self.write("/sys/class/tty/ttyUSB0/device/latency_timer", "1\n")

    def at(self, path: str) -> Path:
        return self.root / path.lstrip("/")

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        file = self.at(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)

    def groups(self, more: str) -> None:
        self.write("/etc/group", f"root:x:0:\nfirmware-bridge:x:{os.getgid()}:\ndialout:x:{OTHER_GROUP}:\n{more}")

    def install(self, name: str, where: str) -> None:
        target = self.at(f"/usr/local/lib/{where}")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "udev" / name, target)

    def service_owns_nothing(self) -> None:
        """It is another user, who reaches things by groups alone."""
        self.write("/etc/passwd", "firmware-bridge:x:54321:54321::/:/bin/false\n")
        self.at("/var/lib/firmware-bridge").chmod(0o770)

    def config(self, shuffler: str, shoe: str) -> None:
        text = CONFIG.format(folder="/var/lib/firmware-bridge", shuffler=shuffler, shoe=shoe)
        self.write("/etc/firmware-bridge/table.toml", text)

    def change(self, old: str, new: str) -> None:
        file = self.at("/etc/firmware-bridge/table.toml")
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    def plug(self, place: str, tty: str, link: str, **attributes: str) -> None:
        """A USB device with one serial line, treated by the project's rules."""
        usb = f"/sys/devices/usb1/{place}"
        for name, value in attributes.items():
            self.write(f"{usb}/{name}", value + "\n")
        self.write(f"{usb}/power/control", "on\n")
        line = self.at(f"{usb}/{place}:1.0/tty/{tty}")
        line.mkdir(parents=True)
        (line / "device").symlink_to("../..")
        number = f"188:{len(list(self.at('/dev').glob('tty*')))}"
        (line / "dev").write_text(number + "\n")
        for folder, name, target in (("bus/usb/devices", place, self.at(usb)), ("class/tty", tty, line)):
            at = self.at(f"/sys/{folder}")
            at.mkdir(parents=True, exist_ok=True)
            (at / name).symlink_to(target)
        self.write(f"/dev/{tty}", "", 0o660)
        self.udev(number, TABLE_DEVICE="adapter", ID_MM_PORT_IGNORE="1", ID_SERIAL_SHORT=attributes.get("serial", ""))
        self.link(link, tty)

    def udev(self, number: str, **properties: str) -> None:
        self.write(f"/run/udev/data/c{number}", "".join(f"E:{name}={value}\n" for name, value in properties.items()))

    def link(self, link: str, tty: str) -> None:
        self.at(link).parent.mkdir(parents=True, exist_ok=True)
        self.at(link).symlink_to(f"../{tty}")

    def process(self, pid: int, name: str) -> None:
        self.write(f"/proc/{pid}/comm", name + "\n")

    def ask(self, command: Sequence[str]) -> str | None:
        return self.answers.get(command[0])

    def findings(self, config: Path | None = None) -> list[Finding]:
        machine = Machine(self.root, self.ask)
        context = context_of(machine, config or self.at("/etc/firmware-bridge/table.toml"))
        return [finding for _, found in examine(context) for finding in found]

    def bad(self) -> list[Finding]:
        """What is not well, except what root alone can see."""
        found = [finding for finding in self.findings() if finding.health is not Health.OK]
        return [finding for finding in found if finding.check != "holders"]

    def only(self, check: str) -> Finding:
        """The one thing that is not well. Nothing else may be told with it."""
        (finding,) = self.bad()
        assert finding.check == check, finding
        assert finding.sentence.endswith(".")
        return finding
