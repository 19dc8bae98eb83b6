"""Look up the ports of the command line one after another, and print node or error of each; for test_discovery."""

import asyncio
import sys
from pathlib import Path

from drivers.errors import LinkError
from drivers.transports import discovery
from drivers.transports.ports import SerialByProperty, parse_port


async def find(texts: list[str]) -> None:
    for text in texts:
        port = parse_port(text)
        assert isinstance(port, SerialByProperty)
        try:
            print(await discovery.find_serial(port))
        except LinkError as error:
            print(f"{type(error).__name__}: {error}")


discovery.UDEV_DATA = Path("/")  # type: ignore[misc]  # the devices of the test come without a udev daemon
asyncio.run(find(sys.argv[1:]))
