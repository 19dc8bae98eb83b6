"""The owner of every link: keeps each device connected, tells its reports and passes on what the daemon has for it.

The way of a fault: timeouts and damaged frames are the driver's; a lost port or session ends the generation here and
the next begins after a pause; only the process as a whole is restarted from outside.
"""

import asyncio
import random
import secrets
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final, TypeAlias

from drivers.commands import Command
from drivers.driver import Driver, Report, Resume
from drivers.errors import PortNameError
from drivers.plugins import make_driver
from drivers.transports.opening import new_opener
from drivers.transports.ports import parse_port
from drivers.transports.transport import OpenPort
from firmware_bridge.config import ApprovedFirmware, DeviceConfig
from firmware_bridge.devices.device_keys import device_key
from firmware_bridge.devices.firmware_allowlist import firmware_refusal
from firmware_bridge.devices.hotplug import watch_ports
from firmware_bridge.devices.link import BackoffPolicy, DeviceState, Link, LinkContext

NONCE_BYTES: Final = 8

WatchPorts: TypeAlias = Callable[[Callable[[], None]], Coroutine[Any, Any, None]]
"""Calls its argument whenever a device may have come or gone, until cancelled."""


def _random_nonce() -> bytes:
    return secrets.token_bytes(NONCE_BYTES)


class Supervisor:
    """Holds the links of `devices`.

    `clock`: ms on the table's clock. `on_report(device, report)` is called on the event loop and must not wait; of each
    generation it is told `LinkUp` first and `LinkDown` last, and no `LinkDown` of one that never was up.
    `resume_point(device)`: the last fact that the journal holds. `nonce`: 8 random bytes for each connection.
    `approved`: the only firmware that is talked to; empty for any.

    Raises PortNameError where a port cannot be read or two devices share one, DriverNameError for a driver that is not
    there, KeyFileError for a device's key that cannot be used.
    """

    def __init__(
        self,
        devices: Sequence[DeviceConfig],
        clock: Callable[[], int],
        on_report: Callable[[str, Report], None],
        resume_point: Callable[[str], Resume | None],
        *,
        nonce: Callable[[], bytes] = _random_nonce,
        open_port: OpenPort | None = None,
        new_driver: Callable[[DeviceConfig], Driver] | None = None,
        jitter: Callable[[], float] = random.random,
        backoff: BackoffPolicy = BackoffPolicy(),  # noqa: B008  frozen
        approved: Sequence[ApprovedFirmware] = (),
        watch: WatchPorts = watch_ports,
    ) -> None:
        make = new_driver or _registered_driver
        keys = {device.name: device_key(device) for device in devices}
        context = LinkContext(
            clock=clock,
            on_report=on_report,
            resume_point=resume_point,
            nonce=nonce,
            keys=keys,
            open_port=open_port or new_opener(),
            new_driver=make,
            jitter=jitter,
            backoff=backoff,
            refusal=lambda claims: firmware_refusal(claims, approved),
        )
        self._watch = watch
        self._links: dict[str, Link] = {}
        ports: dict[str, str] = {}
        for device in devices:
            path = parse_port(device.port).place
            if path in ports:
                raise PortNameError(
                    f'the devices "{ports[path]}" and "{device.name}" both have the port {path}: give each its own'
                )
            ports[path] = device.name
            make(device)
            self._links[device.name] = Link(device, context)

    async def run(self) -> None:
        """Keep all links until cancelled; then close every port, within seconds, and tell nothing more."""
        async with asyncio.TaskGroup() as group:
            for name, link in self._links.items():
                group.create_task(link.keep(), name=f"link {name}")
            group.create_task(self._watch(self._hint), name="hotplug")

    def durable(self, device: str, number: int, boot: str) -> None:
        """Every fact of `device` up to `number` of its boot id `boot` is committed."""
        self._links[device].durable(boot, number)

    def ask(self, device: str) -> None:
        """Ask for a sign of life at once; nothing happens while the device is not connected."""
        self._links[device].ask()

    def send(self, device: str, command: Command) -> None:
        """Send a command, once and never again. Without a connection, or when it ends too early: outcome unknown."""
        self._links[device].send(command)

    def retry(self, device: str) -> None:
        """Try at once instead of after the pause, for instance because a port has just appeared."""
        self._links[device].retry()

    def _hint(self) -> None:
        for link in self._links.values():
            link.retry()

    def state(self) -> dict[str, DeviceState]:
        """Each device's link, by the device's name."""
        return {name: link.state for name, link in self._links.items()}


def _registered_driver(device: DeviceConfig) -> Driver:
    return make_driver(device.driver, device.kind, device.serial_number)
