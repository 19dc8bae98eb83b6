"""A simulated table on ptys in real time, and the real daemon beside it as a process."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import msgspec

from drivers.driver import DeviceKind
from drivers.facts import DeviceFact
from firmware_bridge.core.table_setup import TableSetup
from firmware_bridge.feed.client import FeedMissing, follow
from simulator.firmware.firmware_factory import firmware_for
from simulator.firmware.realtime_device import RealtimeDevice
from simulator.mechanics.table import Equipment, SimulatedTable
from simulator.mechanics.world import RandomStreams
from simulator.people.dealer import Dealer
from simulator.people.screen import Screen
from simulator.people.script import Cable, JsonObject, Pause, Power, Script, Settled, Tell, Until
from simulator.people.script import Step as ScriptStep
from simulator.people.table_session import Catalogue
from simulator.people.truth import Truth
from simulator.proving.control import ControlClient
from simulator.proving.daemon import Daemon, write_config
from simulator.wires.pty import PtyPort
from simulator.wires.wire import Wiring

START_S: Final = 30.0
STEP_S: Final = 30.0
LOOK_AGAIN_S: Final = 0.05


class BenchStuckError(Exception):
    """Something that has to happen did not happen in time; the text says what."""


@dataclass(frozen=True, slots=True)
class BenchSession:
    """What is played: the house by its file (or built-in name) and its name, and the seed that all is drawn from.

    `own_daemon`: it is run as a child; else somebody runs it by hand on the configuration written here.
    `pairing`: devices that are there to be paired by hand first.
    """

    house_file: str
    house: str
    setup: TableSetup
    seed: int
    pace: float
    own_daemon: bool = True
    pairing: tuple[DeviceKind, ...] = ()


class Bench:
    """Use as an async context: the table is there inside it, and nothing of it is left afterwards.

    `on_event(line, event)` is told every event of the feed, in order: its JSON as it came, and decoded.
    `wiring`: what the devices' cables are; a device's path is named for its kind.
    """

    def __init__(
        self,
        session: BenchSession,
        catalogue: Catalogue,
        folder: Path,
        on_event: Callable[[bytes, JsonObject], None] = lambda line, event: None,
        wiring: Wiring = PtyPort,
    ) -> None:
        setup = session.setup
        self.streams: Final = RandomStreams(session.seed)
        self.screen: Final = Screen()
        equipment = Equipment(rig=setup.deal, seats=setup.seats, decks=setup.decks, sensors=setup.sensors)
        self.table: Final = SimulatedTable(equipment, self.streams, self._now_ms, self._reported)
        self.dealer: Final = Dealer(self.table, self.screen, catalogue.custom(session.house), catalogue.rulings)
        self._session = session
        self._folder = folder
        self._on_event = on_event
        self._began_s = time.monotonic()
        self._stir = asyncio.Event()
        patient = session.pace == 0
        self._devices = {
            kind: RealtimeDevice(
                firmware_for(self.table, kind, patient=patient),
                folder / kind.value,
                wiring,
                self._now_ms,
                self._stirred,
            )
            for kind in self.table.devices
        }
        ports = [(kind.value, device.port.path) for kind, device in self._devices.items()]
        pairing = [kind.value for kind in session.pairing]
        self.config: Final = write_config(folder, session.house_file, setup, ports, self.streams, pairing)
        self.daemon: Final = Daemon(self.config, folder / "daemon.log")
        self._control = ControlClient(folder / "control.sock", f"people-{session.seed}")
        self._reading: asyncio.Task[None] | None = None
        self._death: Exception | None = None

    @property
    def truth(self) -> Truth:
        """What truly happened, round by round."""
        return self.dealer.truth

    async def __aenter__(self) -> Self:
        try:
            if self._session.own_daemon:
                await self.daemon.start(self._died)
                await self.join(START_S)
                for kind in self._devices:
                    await self._do(Power(kind))
            else:
                for device in self._devices.values():
                    device.plug()
        except BaseException:
            await self.close()
            raise
        return self

    async def join(self, within_s: float | None) -> None:
        """Take the people's seats at the daemon's sockets. Raises BenchStuckError where it opens none in time."""
        await self._connect(within_s)
        self._reading = asyncio.create_task(self._follow())

    async def pair(self, kind: DeviceKind, say: Callable[[str], None]) -> None:
        """The device is in pairing mode until a host has paired it; somebody at it says yes to the digits it shows."""
        device = self._devices[kind]
        pairing = device.firmware.pairing
        device.pairing_mode()
        shown: str | None = None
        while pairing.until_ms is not None:
            if pairing.fingerprint is not None and shown is None:
                shown = pairing.fingerprint
                say(f"The {kind.value} shows {shown[:3]} {shown[3:]}, and somebody has said yes at it.")
                device.confirm_pairing()
            await asyncio.sleep(LOOK_AGAIN_S)
        paired = device.firmware.guard.key is not None
        how = "is paired" if paired else "has left pairing mode and is not paired: start this anew"
        say(f"The {kind.value} {how}.")

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """No process, no pty and no task is left. May be called again."""
        await self._control.close()
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        await self.daemon.stop()
        for device in self._devices.values():
            device.close()

    async def perform(self, script: Script) -> None:
        """Run one script to its end. Raises DaemonDiedError, BenchStuckError, and what the script raises."""
        answer: JsonObject = {}
        while True:
            try:
                step = script.send(answer) if answer else next(script)
            except StopIteration:
                return
            answer = await self._do(step)

    async def kill_daemon(self) -> None:
        """kill -9, and start it again on what it has written; what was told and not answered is told again."""
        await self._control.close()
        await self.daemon.kill()
        await self.daemon.start(self._died)
        await self._connect(START_S)

    async def _do(self, step: ScriptStep) -> JsonObject:
        if self._death is not None:
            raise self._death
        match step:
            case Pause(ms=ms):
                await asyncio.sleep(ms * self._session.pace / 1000)
            case Settled():
                await self._settle()
            case Until(ready=ready, what=what):
                await self._until(ready, what)
            case Cable(device=kind, plugged=plugged):
                await self._cable(kind, plugged=plugged)
            case Power(device=kind):
                await self._cable(kind, plugged=True)
            case Tell(actor=actor, fact=fact):
                return await self._ask(self._control.tell(actor, fact), f"an answer to {fact['fact']}")
        return {}

    async def _until(self, ready: Callable[[], bool], what: str) -> None:
        """Devices that take their commands up only when they are let need that here too."""
        while not ready():
            if self.screen.commands:
                await self._carry_out()
            else:
                await self._wait(lambda: ready() or bool(self.screen.commands), what)

    async def _cable(self, kind: DeviceKind, *, plugged: bool) -> None:
        device = self._devices[kind]
        if plugged:
            device.plug()
            await self._wait(lambda: kind.value in self.screen.up, f"the {kind.value} to be up")
        else:
            device.pull()
            await self._wait(lambda: kind.value not in self.screen.up, f"the loss of the {kind.value} to be told")

    async def _settle(self) -> None:
        while True:
            await self._wait(self._acknowledged, "the devices' facts to be acknowledged")
            if any(not device.port.plugged for device in self._devices.values()):
                return
            await self._caught_up()
            if not self.screen.commands:
                return
            await self._carry_out()

    async def _carry_out(self) -> None:
        """The oldest command that the daemon wants done, to its end: one at a time, so that runs are alike."""
        command, name = min(self.screen.commands.items())
        device = self._devices[DeviceKind(name)]
        await self._wait(
            lambda: bool(device.firmware.pending_commands) or command not in self.screen.commands,
            f"command {command} to reach the {name}",
        )
        device.take_up_commands()
        await self._wait(lambda: command not in self.screen.commands, f"the end of command {command} to be told")

    def _acknowledged(self) -> bool:
        plugged = [device.firmware for device in self._devices.values() if device.port.plugged]
        return all(not firmware.unacknowledged and firmware.quiet for firmware in plugged)

    async def _caught_up(self) -> None:
        """Everything received is applied, and what it caused is on the screen."""
        answer = await self._ask(self._control.ask("applied"), "everything to be applied")
        seq = int(answer["seq"])
        await self._wait(lambda: self.screen.last_seq >= seq, f"event {seq} to come over the feed")

    async def _ask(self, request: Coroutine[None, None, JsonObject], what: str) -> JsonObject:
        """An answer at the control socket, in time and from a daemon that lives."""
        asking = asyncio.create_task(request)
        asking.add_done_callback(lambda _: self._stirred())
        try:
            await self._wait(asking.done, what)
            answer = asking.result()
        finally:
            asking.cancel()
        if "error" in answer:
            msg = f"asked for {what}, the daemon answers: {answer['error']}"
            raise BenchStuckError(msg)
        return answer

    async def _wait(self, ready: Callable[[], bool], what: str) -> None:
        deadline_s = time.monotonic() + STEP_S
        while not ready():
            if self._death is not None:
                raise self._death
            if time.monotonic() > deadline_s:
                msg = f"waited {STEP_S:.0f} s in vain for {what}{self._end_of_log()}"
                raise BenchStuckError(msg)
            self._stir.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_AGAIN_S):
                    await self._stir.wait()

    async def _connect(self, within_s: float | None) -> None:
        deadline_s = None if within_s is None else time.monotonic() + within_s
        while True:
            if self._death is not None:
                raise self._death
            try:
                await self._control.connect()
            except OSError:
                if deadline_s is not None and time.monotonic() > deadline_s:
                    msg = f"The daemon did not open its control socket within {within_s:.0f} s{self._end_of_log()}"
                    raise BenchStuckError(msg) from None
                await asyncio.sleep(LOOK_AGAIN_S)
            else:
                return

    def _end_of_log(self) -> str:
        return f". The end of the daemon's log:\n{self.daemon.tail()}" if self._session.own_daemon else ""

    async def _follow(self) -> None:
        while True:
            try:
                await self._show_feed()
            except FeedMissing:
                await asyncio.sleep(LOOK_AGAIN_S)
            except Exception as error:  # noqa: BLE001  whoever waits for the feed must hear of it
                self._died(error)
                return

    async def _show_feed(self) -> None:
        async with aclosing(follow(self._folder / "feed.sock", self.screen.last_seq)) as lines:
            async for line in lines:
                event: JsonObject = msgspec.json.decode(line.line)
                self.screen.show(event)
                self._on_event(line.line, event)
                self._stirred()

    def _died(self, death: Exception) -> None:
        """Whoever waits for something is told instead why it cannot come."""
        self._death = self._death or death
        self._stirred()

    def _stirred(self) -> None:
        self._stir.set()

    def _reported(self, kind: DeviceKind, fact: DeviceFact) -> None:
        self._devices[kind].happened(fact)

    def _now_ms(self) -> int:
        return int((time.monotonic() - self._began_s) * 1000)
