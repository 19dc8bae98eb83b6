"""What the service, as the user and within the bounds of its unit, can reach of what the configuration names.

Nothing is said here where no unit is installed, or its user is not there: the checks of the service tell that.
"""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from firmware_bridge.doctor.context import DoctorContext
from firmware_bridge.doctor.findings import Finding, Health
from firmware_bridge.doctor.unit import UNIT, service_groups

_READ: Final = 0o4
_READ_WRITE: Final = 0o6


def configuration(context: DoctorContext) -> Iterator[Finding]:
    """The file that was looked at has to be the one that the service is started with."""
    check = "configuration"
    if context.unit.path is None or context.unit.config is None or not os.path.exists(context.file):
        return
    if os.path.realpath(context.machine.at(context.unit.config)) != os.path.realpath(context.file):
        told = f"The service is started with {context.unit.config}, and {context.file} is another file"
        yield Finding(check, Health.WARNING, f"{told}: name the service's with --config to see what is wrong with it.")
        return
    there = os.stat(context.file)
    if not _may(context, there, _READ):
        told = f"{context.unit.user} may not read {context.unit.config}"
        yield Finding(check, Health.WRONG, f"{told}: run chmod 644 {context.unit.config}.")
    started_s = _started_s(context)
    if started_s is not None and int(there.st_mtime) > started_s:
        told = f"{context.file} was changed after the service was started, which goes on with what stood there before"
        what = "run systemctl restart firmware-bridge, between two rounds"
        yield Finding(check, Health.WARNING, f"{told}: {what}.")


def _started_s(context: DoctorContext) -> int | None:
    """When the process of the service was started, in seconds since 1970; None where none runs."""
    asked = ("systemctl", "show", "--timestamp=unix", "--property=ActiveState,ExecMainStartTimestamp", UNIT)
    told = dict(line.split("=", 1) for line in (context.machine.ask(asked) or "").splitlines() if "=" in line)
    started = told.get("ExecMainStartTimestamp", "").removeprefix("@")
    return int(started) if told.get("ActiveState") == "active" and re.fullmatch("[0-9]{1,12}", started) else None


def journal_files(context: DoctorContext) -> Iterator[Finding]:
    """A start by hand, as root, leaves files behind that the service cannot write."""
    if context.config is None:
        return
    file = context.config.journal_file
    for path in context.machine.files([str(file.parent)], ""):
        if path.name != file.name and not path.name.startswith((f"{file.name}-", f"{file.name}.lock")):
            continue
        there = os.stat(path)
        named = file.parent / path.name
        if not stat.S_ISREG(there.st_mode):
            told = f"{named} is no file, so that the journal cannot be kept there"
            yield Finding(
                "journal", Health.WRONG, f"{told}: correct [journal] file in {context.file}, or take it away."
            )
        elif not _may(context, there, _READ_WRITE):
            told = f"{context.unit.user} may not write {named}, as after a start by hand as another user"
            yield Finding("journal", Health.WRONG, f"{told}: run chown {context.unit.user}: {named}.")


def folders(context: DoctorContext) -> Iterator[Finding]:
    """systemd keeps all folders but a few from being written."""
    allowed = context.unit.writable
    if context.config is None or context.unit.path is None or allowed is None:
        return
    wanted = {
        context.config.journal_file.parent: "the journal",
        context.config.control_socket.parent: "the control socket",
        context.config.feed_socket.parent: "the feed socket",
    }
    wanted |= {Path(one.capture): f"recordings of the {one.name}" for one in context.config.devices if one.capture}
    for folder, what in wanted.items():
        if not any(folder.is_relative_to(one) for one in allowed):
            told = f"The unit keeps {folder} from being written, which {context.file} names for {what}"
            instead = f"name a folder in {allowed[0]}" if allowed else "name another folder"
            how = f"{instead}, or add ReadWritePaths={folder} by a drop-in (systemctl edit firmware-bridge)"
            yield Finding("folders", Health.WRONG, f"{told}: {how}.")


def keys(context: DoctorContext) -> Iterator[Finding]:
    """A key that systemd hands over is read by root; any other by the service itself."""
    if context.config is None:
        return
    named = [
        context.config.journal_key,
        *(Path(device.key) for device in context.config.devices if device.key is not None),
    ]
    told_already = {context.unit.source_of(key) for key in named}
    for source in (Path(path) for path in context.unit.credentials.values()):
        if source not in told_already and not os.path.exists(context.machine.at(source)):
            told = f"systemd hands {source} to the service, which does not start, since it is not there"
            what = "run systemd-tmpfiles --create firmware-bridge.conf, or bring it back"
            yield Finding("keys", Health.WRONG, f"{told}: {what}.")
    for key in named:
        there = context.machine.at(key)
        if context.unit.path is not None and context.unit.source_of(key) == key and not os.path.exists(there):
            handed = " and ".join(sorted(context.unit.credentials)) or "nothing"
            told = f"systemd does not hand {key} to the service, to which it hands {handed}"
            yield Finding("keys", Health.WRONG, f"{told}: correct the name of the key in {context.file}.")
        elif context.unit.source_of(key) is None and os.path.exists(there) and not _may(context, os.stat(there), _READ):
            told = f"{context.unit.user} may not read the key {key}"
            what = "name it as systemd hands it over, /run/credentials/... (udev/README.md)"
            yield Finding("keys", Health.WRONG, f"{told}: {what}.")


def _may(context: DoctorContext, there: os.stat_result, wanted: int) -> bool:
    """By owner, group and mode; yes where the service's user is not known."""
    user = context.machine.user_id(context.unit.user)
    if context.unit.path is None or user in (None, 0):
        return True
    groups = service_groups(context.machine, context.unit)
    shift = 6 if there.st_uid == user else 3 if there.st_gid in groups else 0
    return there.st_mode >> shift & wanted == wanted
