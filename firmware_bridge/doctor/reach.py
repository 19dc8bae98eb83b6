"""What the service, as the user and within the bounds of its unit, can reach of what the configuration names.

Nothing is said here where no unit is installed, or its user is not there: the checks of the service tell that.
"""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from firmware_bridge.doctor.context import Site
from firmware_bridge.doctor.findings import Finding, Health
from firmware_bridge.doctor.unit import UNIT, service_groups

_READ: Final = 0o4
_READ_WRITE: Final = 0o6


def configuration(site: Site) -> Iterator[Finding]:
    """The file that was looked at has to be the one that the service is started with."""
    check = "configuration"
    if site.unit.path is None or site.unit.config is None or not os.path.exists(site.file):
        return
    if os.path.realpath(site.machine.at(site.unit.config)) != os.path.realpath(site.file):
        told = f"The service is started with {site.unit.config}, and {site.file} is another file"
        yield Finding(check, Health.WARNING, f"{told}: name the service's with --config to see what is wrong with it.")
        return
    there = os.stat(site.file)
    if not _may(site, there, _READ):
        told = f"{site.unit.user} may not read {site.unit.config}"
        yield Finding(check, Health.WRONG, f"{told}: run chmod 644 {site.unit.config}.")
    started_s = _started_s(site)
    if started_s is not None and int(there.st_mtime) > started_s:
        told = f"{site.file} was changed after the service was started, which goes on with what stood there before"
        what = "run systemctl restart firmware-bridge, between two rounds"
        yield Finding(check, Health.WARNING, f"{told}: {what}.")


def _started_s(site: Site) -> int | None:
    """When the process of the service was started, in seconds since 1970; None where none runs."""
    asked = ("systemctl", "show", "--timestamp=unix", "--property=ActiveState,ExecMainStartTimestamp", UNIT)
    told = dict(line.split("=", 1) for line in (site.machine.ask(asked) or "").splitlines() if "=" in line)
    started = told.get("ExecMainStartTimestamp", "").removeprefix("@")
    return int(started) if told.get("ActiveState") == "active" and re.fullmatch("[0-9]{1,12}", started) else None


def journal_files(site: Site) -> Iterator[Finding]:
    """A start by hand, as root, leaves files behind that the service cannot write."""
    if site.config is None:
        return
    file = site.config.journal_file
    for path in site.machine.files([str(file.parent)], ""):
        if path.name != file.name and not path.name.startswith((f"{file.name}-", f"{file.name}.lock")):
            continue
        there = os.stat(path)
        named = file.parent / path.name
        if not stat.S_ISREG(there.st_mode):
            told = f"{named} is no file, so that the journal cannot be kept there"
            yield Finding("journal", Health.WRONG, f"{told}: correct [journal] file in {site.file}, or take it away.")
        elif not _may(site, there, _READ_WRITE):
            told = f"{site.unit.user} may not write {named}, as after a start by hand as another user"
            yield Finding("journal", Health.WRONG, f"{told}: run chown {site.unit.user}: {named}.")


def folders(site: Site) -> Iterator[Finding]:
    """systemd keeps all folders but a few from being written."""
    allowed = site.unit.writable
    if site.config is None or site.unit.path is None or allowed is None:
        return
    wanted = {
        site.config.journal_file.parent: "the journal",
        site.config.control_socket.parent: "the control socket",
        site.config.feed_socket.parent: "the feed socket",
    }
    wanted |= {Path(one.capture): f"recordings of the {one.name}" for one in site.config.devices if one.capture}
    for folder, what in wanted.items():
        if not any(folder.is_relative_to(one) for one in allowed):
            told = f"The unit keeps {folder} from being written, which {site.file} names for {what}"
            instead = f"name a folder in {allowed[0]}" if allowed else "name another folder"
            how = f"{instead}, or add ReadWritePaths={folder} by a drop-in (systemctl edit firmware-bridge)"
            yield Finding("folders", Health.WRONG, f"{told}: {how}.")


def keys(site: Site) -> Iterator[Finding]:
    """A key that systemd hands over is read by root; any other by the service itself."""
    if site.config is None:
        return
    named = [site.config.journal_key, *(Path(device.key) for device in site.config.devices if device.key is not None)]
    told_already = {site.unit.source_of(key) for key in named}
    for source in (Path(path) for path in site.unit.credentials.values()):
        if source not in told_already and not os.path.exists(site.machine.at(source)):
            told = f"systemd hands {source} to the service, which does not start, since it is not there"
            what = "run systemd-tmpfiles --create firmware-bridge.conf, or bring it back"
            yield Finding("keys", Health.WRONG, f"{told}: {what}.")
    for key in named:
        there = site.machine.at(key)
        if site.unit.path is not None and site.unit.source_of(key) == key and not os.path.exists(there):
            handed = " and ".join(sorted(site.unit.credentials)) or "nothing"
            told = f"systemd does not hand {key} to the service, to which it hands {handed}"
            yield Finding("keys", Health.WRONG, f"{told}: correct the name of the key in {site.file}.")
        elif site.unit.source_of(key) is None and os.path.exists(there) and not _may(site, os.stat(there), _READ):
            told = f"{site.unit.user} may not read the key {key}"
            what = "name it as systemd hands it over, /run/credentials/... (udev/README.md)"
            yield Finding("keys", Health.WRONG, f"{told}: {what}.")


def _may(site: Site, there: os.stat_result, wanted: int) -> bool:
    """By owner, group and mode; yes where the service's user is not known."""
    user = site.machine.user_id(site.unit.user)
    if site.unit.path is None or user in (None, 0):
        return True
    groups = service_groups(site.machine, site.unit)
    shift = 6 if there.st_uid == user else 3 if there.st_gid in groups else 0
    return there.st_mode >> shift & wanted == wanted
