"""All checks, from the kernel to the configuration."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from firmware_bridge.doctor import kernel, ports, record, service, settings
from firmware_bridge.doctor.findings import Finding
from firmware_bridge.doctor.site import Site


@dataclass(frozen=True, slots=True)
class Area:
    """What is looked at together, and shown under one heading."""

    heading: str
    checks: tuple[Callable[[Site], Iterator[Finding]], ...]


AREAS: Final = (
    Area("kernel and USB", (kernel.kernel_log, kernel.modem_manager, kernel.autosuspend, kernel.latency)),
    Area("ports", (ports.ports, ports.twins, ports.access, ports.holders)),
    Area("service", (service.users, service.rules, service.unit)),
    Area("record", (record.journal_folder, record.clock)),
    Area("configuration", (settings.configuration, settings.house, settings.keys)),
)


def examine(site: Site) -> Iterable[tuple[str, list[Finding]]]:
    """Each area's heading and what was found, in order."""
    for area in AREAS:
        yield area.heading, [finding for check in area.checks for finding in check(site)]
