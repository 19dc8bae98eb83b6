"""The real drivers, intake and core at a simulated table in virtual time: thousands of rounds, no port, no process."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

import msgspec

from drivers.driver import DeviceKind, LinkDown, LinkUp, Resume, Step
from drivers.facts import DeviceFact
from drivers.tdp.host.driver import TdpDriver
from firmware_bridge.core import events
from firmware_bridge.core.bridge import Bridge
from firmware_bridge.core.events import Event, FactRefused
from firmware_bridge.core.facts import Started, read_fact
from firmware_bridge.core.rules.house import House
from firmware_bridge.core.table_setup import TableSetup
from firmware_bridge.daemon.intake import Acknowledge, After, Answer, BarrierReached, Intake, Publish, SendCommand
from firmware_bridge.journal.rows import Receive, Write
from simulator.firmware.device import Firmware
from simulator.firmware.firmware_factory import firmware_for
from simulator.mechanics.table import Equipment, SimulatedTable
from simulator.mechanics.world import RandomStreams, World
from simulator.people.dealer import Dealer, PlayedRound
from simulator.people.screen import Screen
from simulator.people.script import Cable, JsonObject, Pause, Power, Script, Settled, Tell, Until
from simulator.people.script import Step as ScriptStep
from simulator.people.table_session import Catalogue
from simulator.people.truth import Truth
from simulator.wires.virtual import Fault, VirtualWire, unharmed

VERSION: Final = "virtual"
LATENCY_MS: Final = 1
RECONNECT_MS: Final = 100
STEP_LIMIT_MS: Final = 60_000


class StuckWorldError(Exception):
    """A script waits for something that does not happen; the text says what."""


class _Link:
    """One device: its firmware, its cable, and the driver of the connection that stands now."""

    def __init__(self, world: World, kind: DeviceKind, firmware: Firmware, host: "VirtualTable", fault: Fault) -> None:
        self.kind: Final = kind
        self.firmware: Final = firmware
        self.driver: TdpDriver | None = None
        self.up = False
        self.wake_at_ms: int | None = None
        self.to_host: Final = VirtualWire(world, lambda data: host.heard(self, data), LATENCY_MS, fault)
        self.to_device: Final = VirtualWire(world, lambda data: host.told(self, data), LATENCY_MS, fault)

    def set_timers(self) -> None:
        """After either end was given something: when one of them wants to be called next."""
        device = self.firmware.wake_at_ms
        driver = None if self.driver is None else self.driver.wake_at_ms
        self.wake_at_ms = device if driver is None else driver if device is None else min(device, driver)


class VirtualTable:
    """A table and its daemon, without the daemon's shell: commits are appended to `journal`, events to `feed`."""

    def __init__(
        self,
        house: House,
        setup: TableSetup,
        catalogue: Catalogue,
        seed: int,
        *,
        pace: float = 1,
        fault: Fault = unharmed,
    ) -> None:
        self.world: Final = World(start_ms=1_000)
        self.streams: Final = RandomStreams(seed)
        equipment = Equipment(rig=setup.deal, seats=setup.seats, decks=setup.decks, sensors=setup.sensors)
        self.table: Final = SimulatedTable(equipment, self.streams, lambda: self.world.now_ms, self._reported)
        self.screen: Final = Screen()
        self.journal: Final[list[Write]] = []
        self.feed: Final[list[Event]] = []
        self.table_key: Final = self.streams.token("table key", 32)
        self.core: Final = Bridge(self.table_key)
        self._pace = pace
        self._links = {
            kind: _Link(
                self.world,
                kind,
                firmware_for(self.table, kind),
                self,
                fault,
            )
            for kind in self.table.devices
        }
        self._intake = Intake(self.core, {kind.value: kind for kind in self._links}, run="run-1")
        self._dealer = Dealer(self.table, self.screen, catalogue.custom(house.name), catalogue.rulings)
        self._requests = 0
        self._answers: dict[str, JsonObject] = {}
        self._intake.start(
            Started(
                at_ms=0,
                version=VERSION,
                house=msgspec.Raw(msgspec.json.encode(house)),
                table=msgspec.Raw(msgspec.json.encode(setup)),
            ),
            self.world.now_ms,
        )
        self._advance()

    @property
    def truth(self) -> Truth:
        """What truly happened, round by round."""
        return self._dealer.truth

    @property
    def counters(self) -> Mapping[str, int]:
        """What the drivers that are connected threw away, by reason, all devices together."""
        total: dict[str, int] = {}
        for link in self._links.values():
            for reason, count in ({} if link.driver is None else link.driver.counters).items():
                total[reason] = total.get(reason, 0) + count
        return total

    def play(self, rounds: Iterable[PlayedRound]) -> None:
        """Switch everything on, and play. Raises StuckWorldError, StuckRoundError."""
        self.perform(self._switch_on())
        for written in rounds:
            self.perform(self._dealer.play(written))

    def perform(self, script: Script) -> None:
        """Run one script to its end, and the world with it."""
        answer: JsonObject = {}
        while True:
            try:
                step = script.send(answer) if answer else next(script)
            except StopIteration:
                return
            answer = self._do(step)

    def _do(self, step: ScriptStep) -> JsonObject:
        match step:
            case Pause(ms=ms):
                self._wait_ms(round(ms * self._pace))
            case Settled():
                self._wait(self._settled, "everything to be acknowledged and applied")
            case Until(ready=ready, what=what):
                self._wait(ready, what)
            case Cable(device=device, plugged=plugged):
                self._cable(self._links[device], plugged=plugged)
            case Power(device=device):
                self._cable(self._links[device], plugged=True)
                self._wait(lambda: device.value in self.screen.up, f"the {device.value} to be up")
            case Tell(actor=actor, fact=fact):
                return self._tell(actor, fact)
        return {}

    def _switch_on(self) -> Script:
        for kind in self._links:
            if kind.value not in self.screen.up:
                yield Power(kind)

    def _tell(self, actor: str, fact: JsonObject) -> JsonObject:
        self._requests += 1
        request = f"request-{self._requests}"
        told = {"source": "operator", "at_ms": self.world.now_ms, **fact}
        self._intake.request(request, actor, read_fact(msgspec.json.encode(told)), self.world.now_ms)
        self._advance()
        self._wait(lambda: request in self._answers, f"an answer to {fact['fact']}")
        return self._answers.pop(request)

    def _settled(self) -> bool:
        plugged = [link for link in self._links.values() if link.to_host.plugged]
        if any(link.firmware.unacknowledged or not link.firmware.quiet or not link.up for link in plugged):
            return False
        return len(plugged) < len(self._links) or not self._intake.waiting

    def _wait_ms(self, ms: int) -> None:
        until_ms = self.world.now_ms + ms
        self.world.at(until_ms, lambda: None)
        self._wait(lambda: self.world.now_ms >= until_ms, "time to pass")

    def _wait(self, ready: Callable[[], bool], what: str) -> None:
        limit_ms = self.world.now_ms + STEP_LIMIT_MS
        while not ready():
            self._wake_at_next()
            due = self.world.next_ms
            if due is None or due > limit_ms:
                msg = f"waited {STEP_LIMIT_MS} ms in vain for {what}"
                raise StuckWorldError(msg)
            self.world.step()

    def _wake_at_next(self) -> None:
        """Whoever wants to be called next is called before anything that is due later."""
        first: _Link | None = None
        at_ms = self._intake.wake_at_ms(self.world.now_ms)
        for link in self._links.values():
            if link.wake_at_ms is not None and (at_ms is None or link.wake_at_ms < at_ms):
                first, at_ms = link, link.wake_at_ms
        due = self.world.next_ms
        if at_ms is not None and (due is None or at_ms < due):
            self.world.at(at_ms, self._advance if first is None else lambda: self._tick(first))

    def _tick(self, link: _Link) -> None:
        self._tick_device(link)
        self._tick_driver(link)

    def _tick_device(self, link: _Link) -> None:
        link.to_host.send(link.firmware.tick(self.world.now_ms))
        link.set_timers()

    def _tick_driver(self, link: _Link) -> None:
        if link.driver is not None:
            self._take(link, link.driver.tick(self.world.now_ms))
            self._advance()

    def _cable(self, link: _Link, *, plugged: bool) -> None:
        if plugged:
            link.to_host.plug()
            link.to_device.plug()
            link.firmware.plugged_in()
            self._connect(link)
        else:
            link.to_host.pull()
            link.to_device.pull()
            self._lost(link, "its cable was pulled out")

    def _connect(self, link: _Link) -> None:
        if not link.to_host.plugged or link.driver is not None:
            return
        link.driver = TdpDriver(link.kind, link.firmware.identity.serial_number)
        resume = self._resume_point(link.kind.value)
        nonce = self.streams.token(f"{link.kind.value} nonce", 8)
        self._take(link, link.driver.opened(nonce=nonce, key=None, resume=resume, now_ms=self.world.now_ms))
        self._advance()

    def _resume_point(self, device: str) -> Resume | None:
        for write in reversed(self.journal):
            if isinstance(write, Receive) and write.origin.device == device:
                return Resume(write.origin.boot, write.origin.number)
        return None

    def _lost(self, link: _Link, reason: str) -> None:
        if link.driver is not None:
            link.driver, link.up = None, False
            link.set_timers()
            self._intake.report(link.kind.value, LinkDown(reason=reason), self.world.now_ms)
            self._advance()
            self.world.after(RECONNECT_MS, lambda: self._connect(link))

    def _reported(self, kind: DeviceKind, fact: DeviceFact) -> None:
        link = self._links[kind]
        link.to_host.send(link.firmware.report(fact, self.world.now_ms))
        link.set_timers()

    def told(self, link: _Link, data: bytes) -> None:
        """Bytes reach a device."""
        link.to_host.send(link.firmware.receive(data, self.world.now_ms))
        link.set_timers()

    def heard(self, link: _Link, data: bytes) -> None:
        """Bytes reach the host."""
        if link.driver is not None:
            self._take(link, link.driver.receive(data, self.world.now_ms))
            self._advance()

    def _take(self, link: _Link, step: Step) -> None:
        link.to_device.send(step.to_send)
        for report in step.reports:
            if isinstance(report, LinkDown):
                self._lost(link, report.reason)
                return
            link.up = link.up or isinstance(report, LinkUp)
            self._intake.report(link.kind.value, report, self.world.now_ms)
        link.set_timers()

    def _advance(self) -> None:
        """What the daemon's core task does after it was handed something: ask, commit, and only then tell."""
        batch = self._intake.advance(self.world.now_ms)
        for device in batch.ask:
            self._drive(device, lambda driver: driver.ask(self.world.now_ms))
        self.journal.extend(batch.writes)
        for after in batch.after:
            self._after(after)

    def _after(self, after: After) -> None:
        match after:
            case Acknowledge(device=device, number=number):
                self._drive(device, lambda driver: driver.durable(number, self.world.now_ms))
            case SendCommand(device=device, command=command):
                self._drive(device, lambda driver: driver.send(command, self.world.now_ms))
            case Publish(events=published):
                events = [one.event for one in published]
                self.feed.extend(events)
                for event in events:
                    self.screen.show(as_told(event))
            case Answer(request=request, events=caused):
                refusals = [one.event.sentence for one in caused if isinstance(one.event, FactRefused)]
                self._answers[request] = {"accepted": not refusals, "sentence": refusals[0] if refusals else None}
            case BarrierReached():
                pass

    def _drive(self, device: str, act: Callable[[TdpDriver], Step]) -> None:
        link = self._links[DeviceKind(device)]
        if link.driver is not None:
            self._take(link, act(link.driver))


def as_told(event: events.Event) -> JsonObject:
    """The event as it stands on the feed."""
    told: JsonObject = msgspec.json.decode(msgspec.json.encode(event))
    return told
