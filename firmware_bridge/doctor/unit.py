"""The service's unit as it is installed: its file and its drop-ins."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firmware_bridge.doctor.machine import Machine

UNIT: Final = "firmware-bridge.service"
CREDENTIALS: Final = Path("/run/credentials") / UNIT
FOLDERS: Final = (
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
)
_CONFIG: Final = re.compile(r"--config[= ]+[\"']?([^\s\"']+)")
_OWN_FOLDERS: Final = {
    "StateDirectory": "/var/lib",
    "RuntimeDirectory": "/run",
    "LogsDirectory": "/var/log",
    "CacheDirectory": "/var/cache",
}


@dataclass(frozen=True, slots=True)
class Unit:
    """`path`: None where no unit is installed; then the rest is what the project's own unit says.

    `config`: the file that it starts the daemon with. `writable`: the only folders that it lets the service write in,
    None where it does not say. `devices`: what it opens of /dev, None for everything.
    """

    path: str | None
    user: str
    group: str
    more_groups: tuple[str, ...]
    credentials: dict[str, str]
    config: str | None = None
    writable: tuple[str, ...] | None = None
    devices: tuple[str, ...] | None = None

    def source_of(self, path: Path) -> Path | None:
        """The file that the service is handed under `path`; None where `path` is no credential of it."""
        if not path.is_relative_to(CREDENTIALS):
            return None
        name = path.name
        if name in self.credentials:
            return Path(self.credentials[name])
        whole = (handed for handed in self.credentials if name.startswith(f"{handed}_"))
        return next((Path(self.credentials[handed]) / name.removeprefix(f"{handed}_") for handed in whole), path)


def installed_unit(machine: Machine) -> Unit:
    """The service as it is installed, drop-ins included; `path` is None where it is not."""
    paths = [f"{folder}/{UNIT}" for folder in FOLDERS if os.path.exists(machine.at(f"{folder}/{UNIT}"))]
    texts = [text for path in paths if (text := machine.read(path))][:1]  # an empty one masks it: what stands below it
    drop_ins = machine.files([f"{folder}/{UNIT}.d" for folder in FOLDERS], ".conf")
    texts += [machine.read(machine.named(path)) or "" for path in drop_ins]
    settings = _settings(texts)
    loaded = (setting.partition(":") for setting in settings.get("LoadCredential", []))
    named = _CONFIG.search(settings.get("ExecStart", [""])[-1])
    confined = settings.get("ProtectSystem", [""])[-1] == "strict"
    closed = settings.get("DevicePolicy", ["auto"])[-1] != "auto" or "DeviceAllow" in settings
    return Unit(
        path=paths[0] if paths else None,
        user=settings.get("User", ["firmware-bridge"])[-1],
        group=settings.get("Group", settings.get("User", ["firmware-bridge"]))[-1],
        more_groups=_words(settings, "SupplementaryGroups"),
        credentials={name: path for name, _, path in loaded},
        config=named[1] if named else None,
        writable=_writable(settings) if confined else None,
        devices=tuple(setting.split()[0] for setting in settings.get("DeviceAllow", [])) if closed else None,
    )


def _writable(settings: dict[str, list[str]]) -> tuple[str, ...]:
    own = [f"{root}/{name}" for key, root in _OWN_FOLDERS.items() for name in _words(settings, key)]
    return (*own, *(path.lstrip("-+") for path in _words(settings, "ReadWritePaths")))


def _words(settings: dict[str, list[str]], name: str) -> tuple[str, ...]:
    return tuple(word.strip("\"'") for setting in settings.get(name, []) for word in setting.split())


def service_groups(machine: Machine, unit: Unit) -> set[int]:
    """By number, as far as they exist."""
    named = {machine.group_id(name) for name in (unit.group, *unit.more_groups)}
    return machine.groups_of(unit.user) | {number for number in named if number is not None}


def _settings(texts: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in (line.strip() for text in texts for line in text.replace("\\\n", " ").splitlines()):
        name, equals, value = line.partition("=")
        if equals and not line.startswith(("#", ";", "[")):
            if value.strip():
                found.setdefault(name.strip(), []).append(value.strip())
            else:
                found.pop(name.strip(), None)  # an empty setting takes back what was set before
    return found
