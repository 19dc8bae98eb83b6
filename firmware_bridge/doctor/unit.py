"""The service's unit as it is installed: its file and its drop-ins."""

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


@dataclass(frozen=True, slots=True)
class Unit:
    """`path`: None where no unit is installed; then the rest is what the project's own unit says."""

    path: str | None
    user: str
    group: str
    more_groups: tuple[str, ...]
    credentials: dict[str, str]

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
    paths = [f"{folder}/{UNIT}" for folder in FOLDERS if machine.at(f"{folder}/{UNIT}").exists()]
    texts = [machine.read(paths[0]) or ""] if paths else []
    drop_ins = machine.files([f"{folder}/{UNIT}.d" for folder in FOLDERS], ".conf")
    texts += [machine.read(machine.named(path)) or "" for path in drop_ins]
    settings = _settings(texts)
    loaded = (setting.partition(":") for setting in settings.get("LoadCredential", []))
    return Unit(
        path=paths[0] if paths else None,
        user=settings.get("User", ["firmware-bridge"])[-1],
        group=settings.get("Group", settings.get("User", ["firmware-bridge"]))[-1],
        more_groups=tuple(name for setting in settings.get("SupplementaryGroups", []) for name in setting.split()),
        credentials={name: path for name, _, path in loaded},
    )


def service_groups(machine: Machine, unit: Unit) -> set[int]:
    """By number, as far as they exist."""
    named = {machine.group_id(name) for name in (unit.group, *unit.more_groups)}
    return machine.groups_of(unit.user) | {number for number in named if number is not None}


def _settings(texts: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in (line.strip() for text in texts for line in text.splitlines()):
        name, equals, value = line.partition("=")
        if equals and not line.startswith(("#", ";", "[")):
            if value.strip():
                found.setdefault(name.strip(), []).append(value.strip())
            else:
                found.pop(name.strip(), None)  # an empty setting takes back what was set before
    return found
