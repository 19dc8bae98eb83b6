"""The watchdog of one device: it asks a device that says nothing, and tells when no answer comes.

The daemon itself is watched by systemd (systemd.py).
"""

import asyncio
from collections.abc import Callable


class DeviceWatchdog:
    """Runs from `start` to `stop`. After half of `silent_s` without `heard` it calls `ask`, after all of it
    `on_silent`, once for each silence.
    """

    def __init__(self, silent_s: float, ask: Callable[[], None], on_silent: Callable[[], None]) -> None:
        self._silent_s = silent_s
        self._ask = ask
        self._on_silent = on_silent
        self._heard_s = 0.0
        self._silent = False
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """A link is up: look at it from now on."""
        self.stop()
        self.heard()
        self._look()

    def stop(self) -> None:
        """The link is down: nothing is looked at."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def heard(self) -> None:
        """The device has just said something."""
        self._heard_s = asyncio.get_running_loop().time()
        self._silent = False

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        half_s = self._silent_s / 2
        silent_for_s = loop.time() - self._heard_s
        wait_s = half_s - silent_for_s
        if silent_for_s >= self._silent_s:
            wait_s = half_s
            if not self._silent:
                self._silent = True
                self._on_silent()
        elif silent_for_s >= half_s:
            wait_s = self._silent_s - silent_for_s
        self._timer = loop.call_later(wait_s, self._look)
        if silent_for_s >= half_s:
            self._ask()
