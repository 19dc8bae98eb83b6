"""In the guest: one simulated machine at the far end of an adapter, until it is ended.

`python -m tests.vm.guest.one_machine KIND ADAPTER`
"""

import asyncio
import os
import sys
import time
from pathlib import Path

from drivers.driver import DeviceKind
from simulator.firmware.firmware_factory import firmware_for
from simulator.mechanics.table import Equipment, SimulatedTable
from simulator.mechanics.world import RandomStreams


def now_ms() -> int:
    return time.monotonic_ns() // 1_000_000


async def hold(kind: DeviceKind, far_end: Path) -> None:
    table = SimulatedTable(Equipment("group"), RandomStreams(1), now_ms, lambda kind, fact: None)
    firmware = firmware_for(table, kind)
    fd = os.open(far_end, os.O_RDWR)
    loop = asyncio.get_running_loop()

    def send(data: bytes) -> None:
        while data:
            data = data[os.write(fd, data) :]

    loop.add_reader(fd, lambda: send(firmware.receive(os.read(fd, 4096), now_ms())))
    while True:
        wake_at_ms = firmware.wake_at_ms
        await asyncio.sleep(0.05 if wake_at_ms is None else max(wake_at_ms - now_ms(), 1) / 1000)
        send(firmware.tick(now_ms()))


if __name__ == "__main__":
    asyncio.run(hold(DeviceKind(sys.argv[1]), Path("/dev/virtio-ports", sys.argv[2])))
