"""What keeps one device connected: generation after generation, with pauses, and one log line for each new reason."""

import asyncio
import contextlib
import enum
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median_high
from typing import Final

import msgspec
import structlog

from drivers.commands import Command, Outcome
from drivers.driver import Alarm, Claims, CommandReport, Driver, Heard, LinkDown, LinkUp, NumberedFact, Report, Resume
from drivers.errors import LinkError, PortMissing
from drivers.plugins import frame_namer
from drivers.transports.transport import OpenPort
from firmware_bridge.config import DeviceConfig
from firmware_bridge.devices.capture import Capture
from firmware_bridge.devices.connection import Connection, internal_error
from firmware_bridge.devices.device_watchdog import DeviceWatchdog
from firmware_bridge.devices.frame_history import FrameHistory, Tap
from firmware_bridge.logs import LogEvent

HOUR_MS: Final = 3_600_000
LOSSES_REMEMBERED: Final = 10_000
ANSWERS_REMEMBERED: Final = 100
_MOST_DOUBLINGS: Final = 16


@dataclass(frozen=True, slots=True)
class BackoffPolicy:
    """Pauses between tries, in seconds: doubling from `first_s` to a cap, each shortened by chance by up to a half.

    A missing port costs one look at a folder, so its cap is low. A refused device waits for a person.
    The doubling begins anew after a connection of `healthy_s`. A device without a sign of life for `silent_s` is
    unknown.
    """

    first_s: float = 0.25
    cap_s: float = 5.0
    missing_cap_s: float = 1.0
    refused_s: float = 10.0
    healthy_s: float = 30.0
    silent_s: float = 5.0


class BackOff:
    """How long to wait before the next try. `jitter` answers from 0 up to 1."""

    def __init__(self, backoff: BackoffPolicy, jitter: Callable[[], float]) -> None:
        self._backoff = backoff
        self._jitter = jitter
        self._doublings = 0

    def next_s(self, cap_s: float) -> float:
        """How long to wait before the next try: twice as long each time, up to `cap_s`."""
        pause_s = min(cap_s, self._backoff.first_s * float(2**self._doublings))
        self._doublings = min(self._doublings + 1, _MOST_DOUBLINGS)
        return pause_s * (1 - self._jitter() / 2)

    def ended_after(self, up_s: float) -> None:
        """A connection was up for so long."""
        if up_s >= self._backoff.healthy_s:
            self._doublings = 0


class LinkState(enum.Enum):
    """REFUSED: the device is there, but a person has to do something first; `sentence` says what.

    UNKNOWN: the session stands, but the device gives no sign of life: what it does now nobody knows.
    """

    CONNECTING = "connecting"
    WAITING = "waiting"
    REFUSED = "refused"
    UP = "up"
    UNKNOWN = "unknown"


_HELD: Final = (LinkState.UP, LinkState.UNKNOWN)


class DeviceState(msgspec.Struct, frozen=True, kw_only=True):
    """A device's link as it stands. `tries` since it was last up; `losses` and `faults` in this run.

    `sentence`: why it is not up. `alarm`: what a person should look into, the latest of this run. `heard_at_ms`: its
    last sign of life, on the table's clock. `answers_ms`: how long the last 100 answers of this connection were waited
    for, the middle one and the slowest. `counters`: what its drivers threw away or repeated in this run, by reason.
    """

    kind: str
    driver: str
    port: str
    link: LinkState
    sentence: str | None
    alarm: str | None
    generation: int
    tries: int
    losses: int
    losses_last_hour: int
    faults: int
    heard_at_ms: int | None
    answers_ms: tuple[int, int] | None
    claims: Claims | None
    boot: str | None
    counters: dict[str, int]


@dataclass(frozen=True, slots=True)
class LinkContext:
    """What every link is given: time, chance, each device's key, ports and drivers, and whom to tell."""

    clock: Callable[[], int]
    on_report: Callable[[str, Report], None]
    resume_point: Callable[[str], Resume | None]
    nonce: Callable[[], bytes]
    keys: Mapping[str, bytes | None]
    open_port: OpenPort
    new_driver: Callable[[DeviceConfig], Driver]
    jitter: Callable[[], float]
    backoff: BackoffPolicy
    refusal: Callable[[Claims], str | None]


class Link:
    """One configured device. `keep` never returns; nothing that goes wrong with a device ends it."""

    def __init__(self, device: DeviceConfig, context: LinkContext) -> None:
        self._device = device
        self._context = context
        kind = device.kind.value
        self._called = f"the {kind}" if device.name == kind else f"the {kind} {device.name}"
        self._log = structlog.get_logger("link").bind(device=device.name, port=device.port)
        self._connection: Connection | None = None
        self._back_off = BackOff(context.backoff, context.jitter)
        self._now = asyncio.Event()
        self._state = LinkState.CONNECTING
        self._sentence: str | None = None
        self._alarm: str | None = None
        self._generation = 0
        self._tries = 0
        self._losses: deque[int] = deque(maxlen=LOSSES_REMEMBERED)
        self._lost = 0
        self._heard_at_ms: int | None = None
        self._answered_ms: deque[int] = deque(maxlen=ANSWERS_REMEMBERED)
        self._faults = 0
        self._counted: Counter[str] = Counter()
        self._frame_history = FrameHistory(context.clock)
        self._capture = Capture(device.name, device.port, Path(device.capture)) if device.capture else None
        self._watchdog = DeviceWatchdog(context.backoff.silent_s, self.ask, self._gone_silent)

    async def keep(self) -> None:
        """Connect, and again whenever the connection ends, until cancelled."""
        try:
            while True:
                pause_s = await self._connect_once()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(pause_s):
                        await self._now.wait()
                self._now.clear()
        finally:
            if self._capture is not None:
                self._capture.close()

    def retry(self) -> None:
        """Something may have changed: if the device is not connected, try again at once."""
        if self._state not in _HELD:
            self._now.set()

    def durable(self, boot: str, number: int) -> None:
        """Every fact of that start of the device up to `number` is stored: its driver may acknowledge it."""
        if self._connection is not None:
            self._connection.durable(boot, number)

    def ask(self) -> None:
        """Ask the device for a sign of life; nothing where there is no connection."""
        if self._connection is not None:
            self._connection.ask()

    def send(self, command: Command) -> None:
        """Send the command, or report that it was refused because there is no connection."""
        if self._connection is not None and self._connection.up:
            self._log.info(LogEvent.COMMAND_SENT, command=command.kind.value, id=command.id)
            self._connection.send(command)
        else:
            reason = f"{self._called} is not connected: the command was not sent"
            told = CommandReport(command.id, Outcome.UNKNOWN, reason)
            asyncio.get_running_loop().call_soon(self._context.on_report, self._device.name, told)

    @property
    def state(self) -> DeviceState:
        """What `status` shows of the device."""
        link = self._connection.link if self._connection is not None and self._state in _HELD else None
        counters = self._counted + Counter(self._connection.counters if self._connection is not None else {})
        return DeviceState(
            kind=self._device.kind.value,
            driver=self._device.driver,
            port=self._device.port,
            link=self._state,
            sentence=self._sentence,
            alarm=self._alarm,
            generation=self._generation,
            tries=self._tries,
            losses=self._lost,
            losses_last_hour=sum(self._context.clock() - at_ms < HOUR_MS for at_ms in self._losses),
            faults=self._faults,
            heard_at_ms=self._heard_at_ms,
            answers_ms=self._answers_ms() if link is not None else None,
            claims=link.claims if link is not None else None,
            boot=link.boot if link is not None else None,
            counters=dict(counters),
        )

    async def _connect_once(self) -> float:
        """One generation from open to close; answers how many seconds to wait before the next."""
        self._generation += 1
        self._tries += 1
        cap_s = self._context.backoff.cap_s
        try:
            down = await self._connect()
        except PortMissing as error:
            cap_s = self._context.backoff.missing_cap_s
            self._wait_for(LinkState.WAITING, str(error))
        except LinkError as error:
            self._wait_for(LinkState.WAITING, str(error))
        except Exception as error:  # noqa: BLE001  the link is tried for ever, whatever goes wrong
            self._faults += 1
            self._wait_for(LinkState.WAITING, internal_error(error))
        else:
            if down.final:
                self._wait_for(LinkState.REFUSED, down.reason)
                return self._context.backoff.refused_s
            self._wait_for(LinkState.WAITING, down.reason, self._last_frames())
        return self._back_off.next_s(cap_s)

    async def _connect(self) -> LinkDown:
        context = self._context
        taps: list[Tap] = [self._frame_history] if self._capture is None else [self._frame_history, self._capture]
        connection = Connection(context.new_driver(self._device), context.clock, self._tell, context.refusal, taps)
        self._connection = connection
        resume = context.resume_point(self._device.name)
        try:
            return await connection.run(
                context.open_port,
                self._device.port,
                nonce=context.nonce(),
                key=context.keys[self._device.name],
                resume=resume,
            )
        finally:
            self._connection = None
            self._watchdog.stop()
            self._counted += Counter(connection.counters)
            self._faults += connection.failed
            if connection.up_since_s is not None:
                self._lost += 1
                self._losses.append(context.clock())
                self._back_off.ended_after(asyncio.get_running_loop().time() - connection.up_since_s)

    def _wait_for(self, state: LinkState, sentence: str, frames: Sequence[str] = ()) -> None:
        if (state, sentence) != (self._state, self._sentence):
            refused = state is LinkState.REFUSED
            doing, key = ("refused", LogEvent.DEVICE_REFUSED) if refused else ("waiting for", LogEvent.DEVICE_WAITING)
            shown: dict[str, object] = {}
            if frames:
                shown |= {"frames": list(frames), "losses": self._lost, "counters": dict(self._counted)}
                shown["answers_ms"] = self._answers_ms()
            self._log.warning(key, sentence=f"{doing} {self._called}: {sentence}", **shown)
        self._state = state
        self._sentence = sentence

    def _last_frames(self) -> list[str]:
        try:
            return self._frame_history.last_names(frame_namer(self._device.driver))
        except Exception as error:  # noqa: BLE001  a line in a log must not cost the link
            self._faults += 1
            return [internal_error(error)]

    def _answers_ms(self) -> tuple[int, int] | None:
        return (median_high(self._answered_ms), max(self._answered_ms)) if self._answered_ms else None

    def _gone_silent(self) -> None:
        self._state = LinkState.UNKNOWN
        self._sentence = (
            f"{self._called} has given no sign of life for {self._context.backoff.silent_s:g} s,"
            " so what it does now is unknown: look at it; if it runs, switch it off and on"
        )
        self._log.warning(LogEvent.DEVICE_SILENT, sentence=self._sentence)

    def _hear(self) -> None:
        self._heard_at_ms = self._context.clock()
        self._watchdog.heard()
        if self._state is LinkState.UNKNOWN:
            self._state, self._sentence = LinkState.UP, None
            self._log.info(LogEvent.DEVICE_HEARD_AGAIN, sentence=f"{self._called} gives signs of life again")

    def _tell(self, report: Report) -> None:
        if not isinstance(report, LinkDown):
            self._hear()
        match report:
            case LinkUp(claims=claims, boot=boot, gap=gap):
                self._state = LinkState.UP
                self._sentence = None
                self._tries = 0
                self._answered_ms.clear()
                self._now.clear()
                self._watchdog.start()
                self._log.info(
                    LogEvent.DEVICE_CONNECTED,
                    sentence=f"{self._called} is connected",
                    model=claims.model,
                    serial_number=claims.serial_number,
                    firmware=claims.firmware_version,
                    boot=boot,
                    gap=gap,
                )
            case Heard(asked_at_ms=int(asked_at_ms)):
                self._answered_ms.append(self._context.clock() - asked_at_ms)
            case NumberedFact(number=number, fact=fact):
                self._log.debug(LogEvent.DEVICE_FACT, fact=fact.__struct_config__.tag, number=number)
            case Alarm(sentence=sentence):
                self._alarm = sentence
                self._log.warning(LogEvent.DEVICE_ALARM, sentence=sentence)
            case CommandReport(command_id=command_id, outcome=outcome):
                self._log.info(LogEvent.COMMAND_OUTCOME, id=command_id, outcome=outcome.value)
        self._context.on_report(self._device.name, report)
