"""A simulated device in real time: a firmware on its wire, with its timer, on the running event loop."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final

from drivers.facts import DeviceFact
from simulator.firmware.device import Firmware
from simulator.wires.wire import Wiring


class RealtimeDevice:
    """`clock`: the world's, in ms. `stirred` is called whenever something went over the wire or changed at this end."""

    def __init__(
        self, firmware: Firmware, path: Path, wiring: Wiring, clock: Callable[[], int], stirred: Callable[[], None]
    ) -> None:
        self.firmware: Final = firmware
        self.port: Final = wiring(path, self._received)
        self._clock = clock
        self._stirred = stirred
        self._timer: asyncio.TimerHandle | None = None

    def plug(self) -> None:
        """Plug the cable in."""
        self.firmware.plugged_in()
        self.port.plug()

    def pull(self) -> None:
        """Pull the cable."""
        self.port.pull()

    def happened(self, fact: DeviceFact) -> None:
        """The mechanics report a fact: it goes out, and is kept until the host has stored it."""
        self._send(self.firmware.report(fact, self._clock()))

    def pairing_mode(self) -> None:
        """A person has pressed what only a person can."""
        self.firmware.pairing.enter(self._clock())
        self._send(b"")

    def confirm_pairing(self) -> None:
        """The person finds the digits equal."""
        self._send(self.firmware.tell(self.firmware.pairing.confirm(), self._clock()))

    def take_up_commands(self) -> None:
        """Begin with the commands that wait for the mechanics."""
        self._send(self.firmware.take_up_commands(self._clock()))

    def close(self) -> None:
        """Stop its timer and let its port go."""
        if self._timer is not None:
            self._timer.cancel()
        self.port.pull()

    def _received(self, data: bytes) -> None:
        self._send(self.firmware.receive(data, self._clock()))

    def _tick(self) -> None:
        self._send(self.firmware.tick(self._clock()))

    def _send(self, data: bytes) -> None:
        self.port.write(data)
        if self._timer is not None:
            self._timer.cancel()
        wake_at_ms = self.firmware.wake_at_ms
        if wake_at_ms is not None:
            wait_s = max(wake_at_ms - self._clock(), 1) / 1000
            self._timer = asyncio.get_running_loop().call_later(wait_s, self._tick)
        self._stirred()
