"""Serial lines by what udev knows of them: a device is found wherever it is plugged in, whatever its node is called."""

from pathlib import Path
from typing import Final

from drivers.errors import PortAmbiguous, PortMissing, PortUnusable
from drivers.transports.ports import SerialByProperty
from drivers.transports.run_blocking import run_blocking, stuck

FIND_TIMEOUT_S: Final = 5.0
UDEV_DATA: Final = Path("/run/udev")
_PATH_PROPERTY: Final = "ID_PATH"


async def find_serial(port: SerialByProperty) -> str:
    """The node of the one line that has these properties now.

    Raises PortMissing where there is none, PortAmbiguous where there are several, PortUnusable where there is no udev.
    """
    silent = f"udev did not list the serial devices within {FIND_TIMEOUT_S:.0f} s: see that systemd-udevd runs"
    if stuck(port.place):
        raise PortUnusable(silent)
    try:
        nodes = await run_blocking(lambda: _nodes(port), port.place, FIND_TIMEOUT_S, lambda _: None)
    except TimeoutError:
        raise PortUnusable(silent) from None
    if not nodes:
        raise PortMissing(
            f"there is no serial device with {port.place}: plug it in and switch it on,"
            " or correct `port` in the configuration"
        )
    if len(nodes) > 1:
        named = " and ".join(f"{node} ({_PATH_PROPERTY}={path})" if path else node for node, path in nodes)
        raise PortAmbiguous(
            f"{len(nodes)} serial devices have {port.place}: {named}: unplug all but the right one,"
            f" or name it by the place where it is plugged in, with serial:by={_PATH_PROPERTY}=..."
        )
    return nodes[0][0]


def _nodes(port: SerialByProperty) -> list[tuple[str, str]]:
    """Node and place of plug of each candidate."""
    try:
        import pyudev  # here, so that who finds nothing by property needs no udev

        context = pyudev.Context()
    except (ImportError, OSError) as error:
        raise PortUnusable(f"there is no libudev ({error}): install it, or name the port by its path") from error
    if not UDEV_DATA.is_dir():
        raise PortUnusable(
            f"udev does not run here, so no port is found by {port.place}: start it, or name the port by its path"
        )
    found = context.list_devices(subsystem="tty")
    for name, value in port.properties:
        found = found.match_property(name, value)
    wanted = set(port.properties)
    return sorted(
        (device.device_node, device.properties.get(_PATH_PROPERTY, ""))
        for device in found
        if device.device_node is not None and wanted <= set(device.properties.items())
    )
