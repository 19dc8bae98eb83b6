"""What the daemon tells systemd: that it is ready, that it stops, how it stands, and that it is alive.

The sign of life comes from the event loop itself, and only while the loop is punctual and every part of the daemon
has moved since the last one: a thread would go on telling it for a daemon that hangs.
"""

import asyncio
import os
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Final

import structlog

from firmware_bridge.logs import LogEvent

SHORTEST_PAUSE_S: Final = 0.5
SIGNS_PER_LIMIT: Final = 5
LONGEST_STATUS: Final = 200


class Notifier:
    """Datagrams to the service manager at `address`; without one everything is silently nothing.

    `watchdog_s`: how long it waits for a sign of life before it kills; None where it does not watch. A message that
    cannot be sent is dropped: the next one says more. `now_s`: a monotonic clock.
    """

    def __init__(
        self, address: str | None, watchdog_s: float | None = None, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._address = None if address is None else "\0" + address[1:] if address.startswith("@") else address
        self.watchdog_s: Final = watchdog_s if self._address else None
        self._now_s = now_s
        self._sign_at_s = float("-inf")
        self._status_at_s = float("-inf")
        self._status = ""
        self.dropped = 0

    def ready(self) -> None:
        """Configuration and journal are up. Devices may come at any time, so nothing waits for them."""
        self._send("READY=1")

    def stopping(self) -> None:
        """The service stops by itself."""
        self._send("STOPPING=1")

    def status(self, text: str) -> None:
        """One line for `systemctl status`, without cards. Sent when it has changed, and not too often."""
        line = " ".join(text.split())[:LONGEST_STATUS]
        now_s = self._now_s()
        if line != self._status and now_s - self._status_at_s >= SHORTEST_PAUSE_S:
            self._status, self._status_at_s = line, now_s
            self._send(f"STATUS={line}")

    def alive(self) -> None:
        """A sign of life. Not sent when the last one is younger than half a second: pid 1 reads them all."""
        now_s = self._now_s()
        if now_s - self._sign_at_s >= SHORTEST_PAUSE_S:
            self._sign_at_s = now_s
            self._send("WATCHDOG=1")

    def _send(self, message: str) -> None:
        if self._address is None:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as sending:
                sending.sendto(message.encode(), self._address)
        except OSError:
            self.dropped += 1


class Watchdog:
    """Gives a sign of life every fifth of the time that systemd waits, while everything is well.

    `parts`: whatever has to `beat` between two signs. One late batch of the loop costs one sign, so it takes several in
    a row, or a part that does not move, until systemd ends the process.
    """

    def __init__(self, notifier: Notifier, parts: Iterable[str]) -> None:
        self._notifier = notifier
        self._parts = frozenset(parts)
        self._beaten: set[str] = set()
        self._log = structlog.get_logger("watchdog")
        self._complained: tuple[str, ...] | None = None  # of these parts; of the loop alone where there are none
        self.pause_s: Final = (
            None if notifier.watchdog_s is None else max(SHORTEST_PAUSE_S, notifier.watchdog_s / SIGNS_PER_LIMIT)
        )

    def beat(self, part: str) -> None:
        """`part` has done a piece of its work."""
        self._beaten.add(part)

    async def run(self, nudge: Callable[[], None]) -> None:
        """Watch until cancelled. `nudge()` makes idle parts show that they move; called once before each sign is due.

        Returns at once where nobody watches.
        """
        if self.pause_s is None:
            return
        loop = asyncio.get_running_loop()
        while True:
            due_s = loop.time() + self.pause_s
            nudge()
            await asyncio.sleep(self.pause_s)
            self._consider(loop.time() - due_s)

    def _consider(self, late_s: float) -> None:
        limit_s = self.pause_s or 0.0
        still = tuple(sorted(self._parts - self._beaten))
        if late_s < limit_s and not still:
            self._beaten.clear()
            self._complained = None
            self._notifier.alive()
        elif self._complained is None or set(still) - set(self._complained):
            self._complained = still
            why = f"{', '.join(still)} did not move" if still else f"the loop was {late_s:.1f} s late"
            self._log.warning(LogEvent.SIGN_OF_LIFE_WITHHELD, sentence=f"no sign of life is given to systemd: {why}")


def notifier_of(environment: Mapping[str, str]) -> Notifier:
    """The notifier that a service's environment describes."""
    watched = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    limit = environment.get("WATCHDOG_USEC", "")
    watchdog_s = int(limit) / 1_000_000 if watched and limit.isdecimal() and int(limit) > 0 else None
    return Notifier(environment.get("NOTIFY_SOCKET") or None, watchdog_s)
