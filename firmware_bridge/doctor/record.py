"""What the record needs: a folder, room on its disk, and a clock that is right."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from firmware_bridge.doctor.context import DoctorContext
from firmware_bridge.doctor.findings import Finding, Health
from firmware_bridge.doctor.machine import Machine
from firmware_bridge.doctor.unit import service_groups

MEBI: Final = 1 << 20
LITTLE: Final = 1024 * MEBI
TOO_LITTLE: Final = 100 * MEBI
_WRITE_ENTER: Final = 0o3
SYNCHRONISED: Final = "/run/systemd/timesync/synchronized"


def journal_folder(context: DoctorContext) -> Iterator[Finding]:
    """Whether the service may write the journal where it is to lie, and has room for it."""
    check = "journal"
    if context.config is None:
        yield Finding(check, Health.UNKNOWN, "The journal is named in a configuration that cannot be used.")
        return
    folder = context.config.journal_file.parent
    try:
        there = context.machine.at(folder).stat()
    except PermissionError:
        yield Finding(check, Health.UNKNOWN, f"{folder} can be looked at by root alone: run this as root.")
        return
    except OSError:
        yield Finding(
            check, Health.WRONG, f"There is no folder {folder} for the journal: run systemd-tmpfiles --create."
        )
        return
    if not stat.S_ISDIR(there.st_mode):
        yield Finding(check, Health.WRONG, f"{folder} is no folder: correct [journal] file in {context.file}.")
        return
    user = context.machine.user_id(context.unit.user)
    if user is not None and not _may_write(there, user, service_groups(context.machine, context.unit)):
        told = f"{context.unit.user} may not write in {folder} (mode {stat.S_IMODE(there.st_mode):04o})"
        yield Finding(check, Health.WRONG, f"{told}: run chown {context.unit.user} {folder}.")
    else:
        yield Finding(check, Health.OK, f"The journal lies in {folder}.")
    yield _room(context.machine, folder)


def clock(context: DoctorContext) -> Iterator[Finding]:
    """The record counts by a clock of its own; this one gives its rows the time of day."""
    told = (context.machine.ask(("timedatectl", "show", "--property=NTPSynchronized", "--value")) or "").strip()
    if told == "yes" or context.machine.at(SYNCHRONISED).exists():
        yield Finding("clock", Health.OK, "The time of day is synchronised.")
    elif told == "no":
        what = "switch on systemd-timesyncd or chrony, and let it reach a time server"
        yield Finding("clock", Health.WARNING, f"The time of day is not synchronised: {what}.")
    else:
        yield Finding("clock", Health.UNKNOWN, "Whether the time of day is synchronised cannot be seen.")


def _may_write(folder: os.stat_result, user: int, groups: set[int]) -> bool:
    shift = 6 if folder.st_uid == user else 3 if folder.st_gid in groups else 0
    return folder.st_mode >> shift & _WRITE_ENTER == _WRITE_ENTER


def _room(machine: Machine, folder: Path) -> Finding:
    try:
        disk = os.statvfs(machine.at(folder))
    except OSError as error:
        return Finding("disk", Health.UNKNOWN, f"The disk of {folder} does not tell its room ({error.strerror}).")
    free = disk.f_bavail * disk.f_frsize
    told = f"{free // MEBI} MiB are free for the journal in {folder}"
    if disk.f_flag & os.ST_RDONLY:
        return Finding("disk", Health.WRONG, f"The disk of {folder} cannot be written: see dmesg, and mount it anew.")
    if free < TOO_LITTLE:
        return Finding("disk", Health.WRONG, f"Only {told}: make room now, dealing is held when it is full.")
    if free < LITTLE:
        return Finding("disk", Health.WARNING, f"Only {told}: make room.")
    return Finding("disk", Health.OK, f"{told}.")
