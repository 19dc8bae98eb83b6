"""All checks, from the kernel to the configuration."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from firmware_bridge.doctor import kernel, ports, reach, record, service, settings
from firmware_bridge.doctor.context import DoctorContext
from firmware_bridge.doctor.findings import Finding, Health
from firmware_bridge.logs import place_of


@dataclass(frozen=True, slots=True)
class Area:
    """What is looked at together, and shown under one heading."""

    heading: str
    checks: tuple[Callable[[DoctorContext], Iterator[Finding]], ...]


AREAS: Final = (
    Area("kernel and USB", (kernel.kernel_log, kernel.modem_manager, kernel.autosuspend, kernel.latency)),
    Area("ports", (ports.ports, ports.twins, ports.access, ports.holders)),
    Area("service", (service.users, service.udev_runs, service.rules, service.copies, service.unit)),
    Area("record", (record.journal_folder, reach.journal_files, reach.folders, record.clock)),
    Area("configuration", (settings.configuration, reach.configuration, settings.house, settings.keys, reach.keys)),
)


def examine(context: DoctorContext) -> Iterable[tuple[str, list[Finding]]]:
    """Each area's heading and what was found, in order."""
    for area in AREAS:
        yield area.heading, [finding for check in area.checks for finding in _looked_at(check, context)]


def _looked_at(check: Callable[[DoctorContext], Iterator[Finding]], context: DoctorContext) -> Iterator[Finding]:
    """What a check finds. One that fails, on a machine that goes while it is looked at, say, spoils no other."""
    name = check.__name__.replace("_", " ")
    try:
        yield from check(context)
    except Exception as error:  # noqa: BLE001  the doctor's word is wanted where nothing is as it should be
        told = f"Not everything could be looked at ({type(error).__name__} in {place_of(error)})"
        yield Finding(name, Health.UNKNOWN, f"{told}: run this again; if it says so again, report it.")
