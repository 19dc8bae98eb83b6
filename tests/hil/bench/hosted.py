"""A device with its driver, as the daemon would have it: what a device of any protocol can be held to."""

import asyncio
import secrets
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from drivers.commands import Command, CommandKind, Outcome
from drivers.driver import CommandReport, Heard, LinkDown, LinkUp, NumberedFact, Report, Step
from drivers.errors import LinkError
from drivers.plugins import make_driver
from drivers.transports.opening import open_transport
from drivers.transports.transport import Transport
from tests.hil.bench.devices import Device
from tests.hil.bench.frames import FrameLog
from tests.hil.bench.reported import in_words
from tests.hil.bench.waiting import BenchFaultError, Progress, said_by_itself, unseen, until

__tracebackhide__ = said_by_itself
NONCE_BYTES: Final = 8
TICK_S: Final = 0.01
ANSWER_S: Final = 12.0
"""Longer than any driver waits for its device before it gives up by itself."""
ENDS: Final = (Outcome.FINISHED, Outcome.REFUSED, Outcome.UNKNOWN)


class NoPortError(BenchFaultError):
    """There is nothing where the device was said to be, or it cannot be opened."""


class Hosted:
    """One connection; use as an async context. `reports`: all that the driver has told, in order."""

    def __init__(self, device: Device, log: FrameLog) -> None:
        self.device: Final = device
        self.driver: Final = make_driver(device.driver, device.kind, None)
        self.reports: list[Report] = []
        self.lost: str | None = None
        self._log = log
        self._connection = 0
        self._commands = 0
        self._transport: Transport | None = None
        self._ticking: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._connection = self._log.opened(self.device.name)
        try:
            self._transport = await open_transport(self.device.port, self._arrived, self._gone)
        except LinkError as error:
            raise NoPortError(str(error)) from None
        nonce = secrets.token_bytes(NONCE_BYTES)
        self._take(self.driver.opened(nonce=nonce, key=self.device.key, resume=None, now_ms=now_ms()))
        self._ticking = asyncio.create_task(self._tick())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Let the port go. May be called again."""
        if self._ticking is not None:
            self._ticking.cancel()
            await asyncio.gather(self._ticking, return_exceptions=True)
        if self._transport is not None:
            await self._transport.close()

    async def link_up(self) -> LinkUp:
        """Raises BenchFaultError with the driver's reason where there will be none."""
        what = f"the link to the {self.device.name}"
        await until(lambda: self._link is not None or self.lost is not None, what, ANSWER_S)
        if self._link is None:
            raise BenchFaultError(str(self.lost))
        return self._link

    async def heard(self) -> None:
        """Ask for a sign of life, and wait for it: whatever happened before it has been told then."""
        asked_ms = now_ms()
        self._take(self.driver.ask(asked_ms))
        await self.wait(
            lambda: any(isinstance(one, Heard) and (one.asked_at_ms or 0) >= asked_ms for one in self.reports),
            f"the sign of life that the {self.device.name} was asked for",
        )

    async def command(self, kind: CommandKind) -> CommandReport:
        """Its last outcome."""
        self._commands += 1
        command = self._commands
        self._take(self.driver.send(Command(id=command, kind=kind), now_ms()))

        def outcomes() -> list[CommandReport]:
            return [one for one in self.reports if isinstance(one, CommandReport) and one.command_id == command]

        await self.wait(lambda: any(one.outcome in ENDS for one in outcomes()), f'the end of "{kind.value}"')
        return outcomes()[-1]

    def facts_in_words(self) -> list[str]:
        """What the device has reported, without its cards."""
        return [in_words(report.fact) for report in self.reports if isinstance(report, NumberedFact)]

    async def wait(
        self, ready: Callable[[], bool], what: str, within_s: float = ANSWER_S, progress: Progress = unseen
    ) -> None:
        """Raises BenchFaultError when the time is over, or the connection."""
        await until(lambda: ready() or self.lost is not None, what, within_s, progress)
        if self.lost is not None and not ready():
            raise BenchFaultError(f"waiting for {what}: {self.lost}")

    @property
    def _link(self) -> LinkUp | None:
        return next((report for report in self.reports if isinstance(report, LinkUp)), None)

    def _arrived(self, data: bytes) -> None:
        self._log.note(self.device.name, self._connection, data, to_host=True)
        self._take(self.driver.receive(data, now_ms()))

    def _gone(self, error: LinkError) -> None:
        self.lost = self.lost or str(error)

    def _take(self, step: Step) -> None:
        if self._transport is not None and step.to_send:
            self._log.note(self.device.name, self._connection, step.to_send, to_host=False)
            self._transport.write(step.to_send)
        for report in step.reports:
            self.reports.append(report)
            if isinstance(report, NumberedFact):
                self._take(self.driver.durable(report.number, now_ms()))
            elif isinstance(report, LinkDown):
                self.lost = self.lost or report.reason

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            if self.driver.wake_at_ms is not None and self.driver.wake_at_ms <= now_ms():
                self._take(self.driver.tick(now_ms()))


def now_ms() -> int:
    return int(time.monotonic() * 1000)
