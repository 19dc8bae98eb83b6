"""One generation of a device's link: one transport and one driver object, from the opening of the port to its end.

Nothing outlives its generation: once it has ended no report of it is told, and its port is closed before its end is.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from drivers.commands import Command, Outcome
from drivers.driver import Claims, CommandReport, Driver, LinkDown, LinkUp, NumberedFact, Report, Resume, Step
from drivers.errors import LinkError
from drivers.sequence import NUMBER_BITS, seq_distance
from drivers.transports.transport import Counting, OpenPort, Recorded, Transport
from firmware_bridge.devices.frame_history import Tap
from firmware_bridge.logs import place_of

CLOSE_TIMEOUT_S: Final = 5.0
SHORTEST_WAIT_MS: Final = 1

OnReport: TypeAlias = Callable[[Report], None]


class Connection:
    """`on_report` is told, in order: `LinkUp` first, `LinkDown` last, neither if the handshake never succeeded.

    `refusal`: why a device that claims this may not be used, a sentence, or None. `taps` are shown all bytes.
    """

    def __init__(
        self,
        driver: Driver,
        clock: Callable[[], int],
        on_report: OnReport,
        refusal: Callable[[Claims], str | None],
        taps: Sequence[Tap] = (),
    ) -> None:
        self._driver = driver
        self._clock = clock
        self._on_report = on_report
        self._refusal = refusal
        self._taps = taps
        self._transport: Transport | None = None
        self._lost_before: Counter[str] = Counter()
        self._lost_below: dict[str, int] = {}
        self._early: list[bytes] = []
        self._steps: deque[Step] = deque()
        self._draining = False
        self._timer: asyncio.TimerHandle | None = None
        self._numbers: tuple[str, int, int] | None = None  # boot, first and newest number told
        self._commands: dict[int, Command] = {}
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[LinkDown] = self._loop.create_future()
        self.link: LinkUp | None = None
        self.up_since_s: float | None = None
        self.failed = False

    @property
    def counters(self) -> dict[str, int]:
        """The driver's, and what the port's own driver counted in this generation."""
        self._look_below()
        return {**self._driver.counters, **self._lost_below}

    @property
    def up(self) -> bool:
        """The device has answered, and the connection has not ended since."""
        return self.link is not None and not self._ended.done()

    async def run(
        self, open_port: OpenPort, port: str, *, nonce: bytes, key: bytes | None, resume: Resume | None
    ) -> LinkDown:
        """Open the port, hold the session until it ends, close the port; answers why it ended.

        Raises what `open_port` raises. When cancelled it closes the port and tells nothing more.
        """
        transport = await open_port(port, self._received, self._lost)
        try:
            self._transport = transport
            if isinstance(transport, Counting):
                self._lost_before = Counter(transport.counters)
            if isinstance(transport, Recorded):
                nonce = transport.nonce
            for tap in self._taps:
                tap.opened(nonce)
            self._do(lambda now_ms: self._driver.opened(nonce=nonce, key=key, resume=resume, now_ms=now_ms))
            for data in self._early:
                self._received(data)
            down = await self._ended
        finally:
            self._look_below()
            self._ended.cancel()
            self._disarm()
            await self._close(transport)
        self._tell_end(down)
        return down

    def durable(self, boot: str, number: int) -> None:
        """Hand on that facts are committed, if this generation told of that one; else it is told again anyway.

        A commit may end after the device was switched off and on, and its numbers may have begun anew.
        """
        if self._numbers is None:
            return
        own_boot, first, newest = self._numbers
        told = seq_distance(number, first, NUMBER_BITS) <= seq_distance(newest, first, NUMBER_BITS)
        if boot == own_boot and told:
            self._do(lambda now_ms: self._driver.durable(number, now_ms))

    def ask(self) -> None:
        """Ask the device for a sign of life; nothing where it is not up."""
        if self.up:
            self._do(self._driver.ask)

    def send(self, command: Command) -> None:
        """Send it, once. It is told as `unknown` when the link ends before the device has said how it ended."""
        self._commands[command.id] = command
        self._do(lambda now_ms: self._driver.send(command, now_ms))

    def _received(self, data: bytes) -> None:
        if self._transport is None:
            self._early.append(data)
        elif not self._ended.done():
            for tap in self._taps:
                tap.passed(to_host=True, data=data)
            self._do(lambda now_ms: self._driver.receive(data, now_ms))

    def _lost(self, error: LinkError) -> None:
        self._end(LinkDown(reason=str(error)))

    def _do(self, action: Callable[[int], Step]) -> None:
        """Let the driver take a step. Whoever hears a report may ask for another one: that waits for its turn."""
        if self._ended.done():
            return
        try:
            self._steps.append(action(self._clock()))
            if not self._draining:
                self._drain()
        except Exception as error:  # noqa: BLE001  whatever failed, the device gets a fresh start
            self.failed = True
            self._end(LinkDown(reason=internal_error(error)))

    def _drain(self) -> None:
        self._draining = True
        try:
            while self._steps and not self._ended.done():
                step = self._steps.popleft()
                for report in step.reports:
                    self._tell(report)
                if step.to_send and self._transport is not None and not self._ended.cancelled():
                    for tap in self._taps:
                        tap.passed(to_host=False, data=step.to_send)
                    self._transport.write(step.to_send)
        finally:
            self._draining = False
        self._arm()

    def _tell(self, report: Report) -> None:
        if self._ended.done():
            return
        match report:
            case LinkDown():
                self._end(report)
                return
            case LinkUp(claims=claims):
                if (why := self._refusal(claims)) is not None:
                    self._end(LinkDown(why, final=True))
                    return
                self.link = report
                self.up_since_s = self._loop.time()
            case NumberedFact(boot=boot, number=number):
                first = self._numbers[1] if self._numbers is not None and self._numbers[0] == boot else number
                self._numbers = (boot, first, number)
            case CommandReport(command_id=command_id, outcome=outcome) if outcome.is_final:
                self._commands.pop(command_id, None)
        self._on_report(report)

    def _look_below(self) -> None:
        if isinstance(self._transport, Counting) and (counted := self._transport.counters):
            self._lost_below = dict(Counter(counted) - self._lost_before)

    async def _close(self, transport: Transport) -> None:
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await transport.close()
        except Exception:  # noqa: BLE001  the end is told all the same; a port that stays open is found at the next try
            self.failed = True

    def _tell_end(self, down: LinkDown) -> None:
        for command_id in self._commands:
            self._on_report(CommandReport(command_id, Outcome.UNKNOWN, down.reason))
        if self.link is not None:
            self._on_report(down)

    def _end(self, down: LinkDown) -> None:
        if not self._ended.done():
            self._ended.set_result(down)

    def _arm(self) -> None:
        self._disarm()
        wake_at_ms = self._driver.wake_at_ms
        if wake_at_ms is not None and not self._ended.done():
            wait_ms = max(wake_at_ms - self._clock(), SHORTEST_WAIT_MS)
            self._timer = self._loop.call_later(wait_ms / 1000, self._do, self._driver.tick)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def internal_error(error: Exception) -> str:
    """A sentence without the error's own text, which may quote what a device sent: a card is never logged."""
    told = f"{type(error).__name__} in {place_of(error)}"
    return f"an internal error ({told}) ended the connection: report it; it is opened anew"
