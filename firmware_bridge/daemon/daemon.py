"""The daemon: one task owns intake and core, everything else hands it facts and waits for what it says is durable.

A run of that task from one rebuilding of the core to the next is a run. When the journal cannot be written the
run ends: ports are closed, so that the devices keep their facts, and the next one begins, as after a restart,
when the journal takes writes again.
"""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import structlog

from drivers.driver import Driver, Report, Resume
from drivers.facts import Fact
from drivers.transports.transport import OpenPort
from firmware_bridge.config import Config, DeviceConfig
from firmware_bridge.core.bridge import Bridge
from firmware_bridge.core.facts import Started
from firmware_bridge.core.rules.house import House
from firmware_bridge.daemon.clock import TableClock
from firmware_bridge.daemon.control_socket import ControlSocket, NotNow, Told
from firmware_bridge.daemon.inbox import Barrier, Handed, Inbox, Reported, Requested
from firmware_bridge.daemon.intake import (
    Acknowledge,
    After,
    Answer,
    BarrierReached,
    Batch,
    Intake,
    Publish,
    SendCommand,
)
from firmware_bridge.daemon.liveness import Liveness
from firmware_bridge.daemon.pending_requests import PendingRequests
from firmware_bridge.daemon.replay import rebuild
from firmware_bridge.daemon.status import Status, in_one_line, round_status
from firmware_bridge.daemon.systemd import Notifier
from firmware_bridge.devices.supervisor import Supervisor
from firmware_bridge.feed.server import Feed
from firmware_bridge.journal.errors import JournalConflict, JournalDamaged, JournalError
from firmware_bridge.journal.keys import Keys
from firmware_bridge.journal.rows import EncodedEvent
from firmware_bridge.journal.store import Store
from firmware_bridge.journal.writer import Writer
from firmware_bridge.logs import LogEvent

FIRST_RETRY_S: Final = 0.5
LONGEST_RETRY_S: Final = 10.0
NOBODY_WATCHES: Final = Notifier(None)
STOP_DEADLINE_S: Final = 10.0

# Events that stand in the log at level info; all others at debug. Never more of them than names and numbers.
_TOLD: Final = frozenset(
    {"round_opened", "irregularity", "hold_raised", "hold_lifted", "round_void", "round_settled", "alarm_raised"}
)


@dataclass(frozen=True, slots=True)
class DaemonContext:
    """What the daemon stands on: read and checked before anything is opened for the world."""

    config: Config
    house: House
    keys: Keys
    store: Store
    version: str


class Daemon:
    """`run` serves until `stop` is called. Raises what cannot be gone on from: ReplayDiffers, JournalDamaged,
    SocketTaken, PortNameError, DriverNameError, RulesRefused.
    """

    def __init__(
        self,
        context: DaemonContext,
        *,
        notifier: Notifier = NOBODY_WATCHES,
        open_port: OpenPort | None = None,
        new_driver: Callable[[DeviceConfig], Driver] | None = None,
    ) -> None:
        self._context = context
        self._config = context.config
        self._store = context.store
        self._clock = TableClock(context.store.clock_state())
        self._log = structlog.get_logger("daemon")
        self._supervisor = Supervisor(
            self._config.devices,
            self._clock,
            self._reported,
            self._resume_point,
            open_port=open_port,
            new_driver=new_driver,
            approved=self._config.approved,
        )
        self._feed = Feed(self._config.feed_socket, context.store)
        self._control = ControlSocket(self._config.control_socket, self)
        self._inbox = Inbox()
        self._stopping = asyncio.Event()
        self._ready = False
        self._open = PendingRequests(context.store)
        self._trouble: str | None = None
        self._bridge, self._intake = self._rebuilt()
        self._writer = Writer(context.store)
        self._links: asyncio.Task[None] | None = None
        self._liveness = Liveness(
            notifier,
            wake=self._inbox.wake,
            commit=lambda: self._writer.commit(()),
            standing={
                "links": lambda: self._links is None or not self._links.done(),
                "control": lambda: self._control.serving,
                "feed": lambda: self._feed.serving,
            },
            summary=lambda: in_one_line(self.status()),
        )

    async def run(self) -> None:
        """Serve the table until `stop`. Raises what waiting cannot mend, such as a damaged journal."""
        async with self._sockets(), self._liveness.watched():
            why = "the daemon was started anew"
            while not self._stopping.is_set():
                if await self._begin(why):
                    error = await self._serve()
                    if error is None:
                        break
                    why = "the journal could not be written"
                    await self._hold(error)

    def stop(self) -> None:
        """End `run` after what was handed in is durable. May be called more than once."""
        self._trouble = "the daemon is stopping"
        self._liveness.stopping()
        self._stopping.set()
        self._inbox.wake()

    # What the control socket speaks for

    def tell(self, request: str, actor: str, fact: Fact) -> asyncio.Future[Told]:
        """Done with the answer once the fact is applied; a request known already gets the answer that it had."""
        known = self._open.known(request, fact)
        if known is not None:
            return known
        if self._trouble is not None:
            return _not_now(f"Nothing can be told now: {self._trouble}. Tell it again later.")
        self._inbox.put(Requested(request, actor, fact, self._clock()))
        return self._open.add_fact(request, fact)

    def caught_up(self) -> asyncio.Future[BarrierReached]:
        """Done when every fact received before now is applied. Fails with a sentence while nothing can be applied."""
        if self._trouble is not None:
            return _not_now(f"Nothing is applied now: {self._trouble}. Try again later.")
        token, caught = self._open.add_barrier()
        self._inbox.put(Barrier(token))
        return caught

    def status(self) -> Status:
        """What `status` shows, as of now."""
        record = self._bridge.record
        return Status(
            table=self._config.table_name,
            house=self._context.house.name,
            version=self._context.version,
            at_ms=self._clock(),
            trouble=self._trouble,
            applied=self._intake.applied,
            waiting=self._intake.waiting,
            lost=self._intake.lost,
            round=None if record is None else round_status(record),
            devices=self._supervisor.state(),
        )

    # A run

    async def _begin(self, why: str) -> bool:
        """Commit the start of a run, as often as it takes. False: stopped meanwhile."""
        batch = self._start(why)
        retry_s = FIRST_RETRY_S
        while True:
            try:
                await self._writer.commit(batch.writes)
            except JournalDamaged:
                raise
            except JournalError as error:
                self._say_trouble(error)
                if await self._stopped_within(retry_s):
                    return False
                retry_s = min(2 * retry_s, LONGEST_RETRY_S)
                self._writer.recovered()
                if isinstance(error, JournalConflict):
                    self._bridge, self._intake = self._rebuilt()
                    batch = self._start(why)
            else:
                break
        self._do(batch.after)
        if not self._stopping.is_set():
            self._trouble = None
        self._say_ready()
        return True

    def _start(self, why: str) -> Batch:
        house, table = (msgspec.Raw(msgspec.json.encode(of)) for of in (self._context.house, self._config.setup))
        started = Started(at_ms=0, version=self._context.version, house=house, table=table)
        now_ms = self._clock()
        self._intake.start(started, now_ms, why)
        return self._intake.advance(now_ms)

    async def _serve(self) -> JournalError | None:
        """Serve until stopped, None, or until the journal refuses a write."""
        links = asyncio.create_task(self._supervisor.run(), name="links")
        owner = asyncio.create_task(self._own(), name="owner")
        stopping = asyncio.create_task(self._stopping.wait(), name="stopping")
        tasks = (links, owner, stopping)
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if links.done():
                links.result()
            if not owner.done():
                await asyncio.wait((owner,), timeout=STOP_DEADLINE_S)
            if not owner.done():
                self._log.warning(
                    LogEvent.FACTS_NOT_TAKEN,
                    sentence="the journal does not take what was handed in last: the devices will send it again",
                )
            return owner.result() if owner.done() else None
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _own(self) -> JournalError | None:
        while True:
            self._liveness.turned()
            stopping = self._stopping.is_set()
            for handed in self._inbox.taken_out():
                self._take_in(handed)
            batch = self._intake.advance(self._clock())
            for device in batch.ask:
                self._supervisor.ask(device)
            error = await self._commit(batch)
            if error is not None:
                return error
            if stopping:
                return None
            await self._wait_for_news()

    def _take_in(self, handed: Handed) -> None:
        match handed:
            case Reported(device=device, report=report, at_ms=at_ms):
                self._intake.report(device, report, at_ms)
            case Requested(request=request, actor=actor, fact=fact, at_ms=at_ms):
                self._intake.request(request, actor, fact, at_ms)
            case Barrier(token=token):
                self._intake.barrier(token)

    async def _commit(self, batch: Batch) -> JournalError | None:
        """Make the batch durable, then do what waits for that."""
        if batch.writes:
            try:
                known = await self._writer.commit(batch.writes)
            except JournalDamaged:
                raise
            except JournalError as error:
                return error
            if known:
                return JournalError(
                    "a fact was received that the journal holds already: the core is built anew from it"
                )
        self._do(batch.after)
        return None

    async def _wait_for_news(self) -> None:
        if not self._stopping.is_set():
            now_ms = self._clock()
            wake_at_ms = self._intake.wake_at_ms(now_ms)
            await self._inbox.wait(None if wake_at_ms is None else max(0, wake_at_ms - now_ms) / 1000)

    async def _hold(self, error: JournalError) -> None:
        """Forget what the journal does not hold, and stand where it stands."""
        self._say_trouble(error)
        self._writer.recovered()
        self._bridge, self._intake = self._rebuilt()

    async def _stopped_within(self, wait_s: float) -> bool:
        """Wait, and show signs of life meanwhile: who waits for the journal is alive, and must not be killed."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                while not self._stopping.is_set():
                    self._liveness.turned()
                    await self._inbox.woken()
        return self._stopping.is_set()

    # The ends of the daemon

    @contextlib.asynccontextmanager
    async def _sockets(self) -> AsyncIterator[None]:
        try:
            await self._feed.start()
            await self._control.start()
            yield
        finally:
            self._trouble = "the daemon is stopping"
            self._open.give_up("The daemon is stopping: what was not answered may be told again after the next start.")
            try:
                async with asyncio.timeout(STOP_DEADLINE_S):
                    await self._control.close()
                    await self._feed.close()
                    await self._writer.close()
            except TimeoutError:
                self._log.warning(
                    LogEvent.STOP_TOOK_LONG,
                    sentence="stopping took too long: what could not be closed is left to the system",
                )
            self._log.info(LogEvent.STOPPED)

    def _rebuilt(self) -> tuple[Bridge, Intake]:
        bridge = Bridge(self._context.keys.table_key)
        kinds = {device.name: device.kind for device in self._config.devices}
        run = secrets.token_hex(8)
        intake = rebuild(bridge, kinds, run, self._store.applied(), self._store.pending(), self._clock())
        return bridge, intake

    def _reported(self, device: str, report: Report) -> None:
        self._inbox.put(Reported(device, report, self._clock()))

    def _resume_point(self, device: str) -> Resume | None:
        return self._store.last(device)

    def _do(self, after: tuple[After, ...]) -> None:
        for one in after:
            match one:
                case Acknowledge(device=device, number=number, boot=boot):
                    self._supervisor.durable(device, number, boot)
                case Publish(events=events):
                    self._publish(events)
                case SendCommand(device=device, command=command):
                    self._supervisor.send(device, command)
                case Answer():
                    self._open.answered(one)
                case BarrierReached():
                    self._open.caught(one)

    def _publish(self, events: tuple[EncodedEvent, ...]) -> None:
        self._feed.publish([(one.event.seq, one.body) for one in events])
        for event in (one.event for one in events):
            name = str(event.__struct_config__.tag)
            say = self._log.info if name in _TOLD else self._log.debug
            say(LogEvent.EVENT_PUBLISHED, name=name, round=event.round, seq=event.seq)

    # What is said where things do not go on

    def _say_ready(self) -> None:
        if self._ready:
            self._log.info(LogEvent.DEALING_RESUMED, sentence="the journal takes writes again: dealing goes on")
            return
        self._ready = True
        self._liveness.ready()
        self._log.info(
            LogEvent.READY,
            table=self._config.table_name,
            house=self._context.house.name,
            control=str(self._config.control_socket),
            feed=str(self._config.feed_socket),
        )

    def _say_trouble(self, error: JournalError) -> None:
        """Tell whoever waits, and the log once, that nothing can be kept at present."""
        sentence = str(error)
        if sentence != self._trouble and not self._stopping.is_set():
            self._trouble = sentence
            self._log.error(LogEvent.DEALING_HELD, sentence="dealing is held: " + sentence)
        self._inbox.clear()
        self._open.give_up(f"Nothing was changed: {sentence}. Tell it again later.")


def _not_now(sentence: str) -> asyncio.Future[Any]:
    refused: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    refused.set_exception(NotNow(sentence))
    return refused
