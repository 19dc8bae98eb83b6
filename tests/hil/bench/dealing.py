"""A written round at the devices of a bench, through the real daemon: hands move cards, and the devices' facts follow.

The simulator's dealer plays the round at a table of its own, which has no wires. Whatever a sensor of that table sees
is what the device on the bench has to report: somebody is asked to do it, and the daemon has to be told of it by the
device itself before the round goes on. So nothing is dealt here that was not really reported.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from pathlib import Path
from types import TracebackType
from typing import Final, Self, cast

import msgspec

from drivers.cards import Card
from drivers.driver import DeviceKind
from drivers.facts import CardDrawn, DeviceFact, GroupTaken, Place
from firmware_bridge.feed.client import FeedMissing, FeedRefused, follow
from simulator.mechanics.table import Equipment, SimulatedTable
from simulator.mechanics.world import RandomStreams
from simulator.people.dealer import Dealer
from simulator.people.incidents import WrongSeat
from simulator.people.screen import Screen
from simulator.people.script import Cable, JsonObject, Pause, Power, Script, Settled, Step, Tell, Until
from simulator.proving.control import ControlClient
from simulator.proving.daemon import Daemon
from simulator.proving.written import catalogue_of, mistakes
from simulator.scenarios.loader import Scenario
from tests.hil.bench.bench import Bench
from tests.hil.bench.daemon_files import write_daemon_files
from tests.hil.bench.instructions import instruction, kinds_of
from tests.hil.bench.reported import Reported, in_words, place_in_words, told_lines
from tests.hil.bench.waiting import BenchFaultError, said_by_itself, until

__tracebackhide__ = said_by_itself
START_S: Final = 60.0
DAEMON_S: Final = 30.0
BLIND_PACE: Final = 0.5
"""How fast simulated hands are while a cable is out, as a part of a brisk dealer's pace."""


class Dealing:
    """Use as an async context: the daemon runs and knows the devices inside it."""

    def __init__(self, bench: Bench, scenario: Scenario, folder: Path) -> None:
        self._bench = bench
        self._scenario = scenario
        self._folder = folder
        self.kinds: Final = kinds_of(scenario)
        self.screen: Final = Screen()
        self._began_s = time.monotonic()
        equipment = Equipment(scenario.rig, scenario.places, scenario.decks, scenario.sensors)
        self._table = SimulatedTable(equipment, RandomStreams(scenario.seed), self._now_ms, self._sensed)
        catalogue = catalogue_of(scenario)
        self._dealer = Dealer(self._table, self.screen, catalogue.custom(scenario.house), catalogue.rulings)
        self._awaited: list[tuple[DeviceKind, DeviceFact]] = []
        self._owed: list[tuple[DeviceKind, DeviceFact]] = []
        self._unplugged: set[DeviceKind] = set()
        self._commands: dict[int, str] = {}
        self.reported: Final = {kind: Reported(kind, folder / "recordings" / kind.value) for kind in self.kinds}
        self._daemon: Daemon | None = None
        self._control = ControlClient(folder / "control.sock", "bench")
        self._reading: asyncio.Task[None] | None = None
        self._death: Exception | None = None
        self._dealing = False

    async def __aenter__(self) -> Self:
        devices = [self._bench.devices[kind] for kind in self.kinds]
        config = write_daemon_files(self._folder, self._scenario, devices)
        self._daemon = Daemon(config, self._folder / "daemon.log")
        try:
            await self._daemon.start(self._died)
            await self._connect()
            self._reading = asyncio.create_task(self._follow())
            known = " and the ".join(kind.value for kind in self.kinds)
            all_up = f"the daemon to know the {known}: its log says why it does not"
            await self._until(lambda: len(self.screen.up) == len(self.kinds), all_up, START_S)
            self._dealing = True
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    async def play(self) -> list[str]:
        """All rounds of the scenario; what was told otherwise than is written, each in a sentence."""
        for written in self._scenario.played():
            await self._perform(self._dealer.play(written))
        await self._caught_up()
        untold = [
            f"the {kind.value} reported {in_words(fact)}, which nobody has done"
            for kind, reported in self.reported.items()
            for fact in reported.left()
        ]
        refused = [
            f"{told['fact']} was refused: {sentence}"
            for real in self._dealer.truth.rounds
            for told, sentence in real.refusals
        ]
        return [*mistakes(self._judged(), self.screen.events), *refused, *untold]

    def _judged(self) -> Scenario:
        """The scenario as far as it can be judged: real cards come out as they fall, and money follows the cards."""
        if self._cards_are_written:
            return self._scenario
        rounds = tuple(
            msgspec.structs.replace(
                written,
                expect=msgspec.structs.replace(
                    written.expect, payments={}, net={}, qualifies=None, player_dealer_net=None
                ),
            )
            for written in self._scenario.round
        )
        return msgspec.structs.replace(self._scenario, round=rounds)

    @property
    def _cards_are_written(self) -> bool:
        return self._bench.devices[DeviceKind.SHOE].simulated

    async def _perform(self, script: Script) -> None:
        answer: JsonObject = {}
        while True:
            try:
                step = script.send(answer) if answer else next(script)
            except StopIteration:
                return
            await self._carry_out()
            answer = await self._do(step)

    async def _do(self, step: Step) -> JsonObject:
        match step:
            case Pause(ms=ms):
                if self._unplugged:
                    await asyncio.sleep(ms * BLIND_PACE / 1000)
            case Settled():
                if not self._unplugged:
                    await self._settle()
            case Until(ready=ready, what=what):
                await self._until(ready, what, DAEMON_S)
            case Cable(device=kind, plugged=plugged):
                await (self._plug(kind) if plugged else self._pull(kind))
            case Power(device=kind):
                await self._until(lambda: kind.value in self.screen.up, f"the {kind.value} to be up", START_S)
            case Tell(actor=actor, fact=fact):
                return await self._ask(
                    self._control.tell(actor, await self._really(fact)), f"{fact['fact']} to be taken"
                )
        return {}

    async def _carry_out(self) -> None:
        """What the sensors of the written table have seen is done on the bench, one thing after the other."""
        while self._awaited:
            kind, fact = self._awaited.pop(0)
            hands = self._bench.hands(kind)
            if kind not in self._unplugged and hands.grace_s and await self._comes_by_itself(kind, fact, hands.grace_s):
                continue
            text = instruction(fact, self._place(fact), self._scenario.rig)
            seen = kind not in self._unplugged
            await hands.do(kind, text, (fact,), seen=seen)
            if seen:
                await self._reports(kind, fact)
            else:
                self._owed.append((kind, fact))

    async def _comes_by_itself(self, kind: DeviceKind, fact: DeviceFact, within_s: float) -> bool:
        deadline_s = time.monotonic() + within_s
        while time.monotonic() < deadline_s:
            if self.reported[kind].met(fact):
                return True
            await asyncio.sleep(0.05)
        return False

    async def _reports(self, kind: DeviceKind, fact: DeviceFact) -> None:
        hands = self._bench.hands(kind)
        what = f"the {kind.value} to report {in_words(fact)}"
        await until(lambda: self._alive() and self.reported[kind].met(fact), what, hands.patience_s, hands.progress)

    def _place(self, fact: DeviceFact) -> Place | None:
        """Where the card or the group is to be put down: where its turn is, or where the round says by mistake."""
        truth = self._dealer.truth.rounds[-1]
        match fact:
            case GroupTaken(group=group):
                place = truth.order[min(group, len(truth.order)) - 1]
            case CardDrawn():
                turns = self._dealer.meant_for(truth)
                place = turns[min(max(truth.drawn, 1), len(turns)) - 1]
            case _:
                return None
        wrong = next(
            (incident for incident in truth.incidents if isinstance(incident, WrongSeat) and incident.place == place),
            None,
        )
        first = not truth.hands.get(place)
        return wrong.instead if wrong is not None and first else place

    async def _settle(self) -> None:
        """All that was reported and said is applied and told, and every command that came of it has ended."""
        while True:
            await self._caught_up()
            if not self.screen.commands:
                return
            await self._until(lambda: not self.screen.commands, "the devices to end their commands", DAEMON_S)

    async def _caught_up(self) -> None:
        answer = await self._ask(self._control.ask("applied"), "everything to be applied")
        seq = int(answer["seq"])
        await self._until(lambda: self.screen.last_seq >= seq, f"event {seq} to come over the feed", DAEMON_S)

    async def _pull(self, kind: DeviceKind) -> None:
        hands = self._bench.hands(kind)
        self._unplugged.add(kind)
        await hands.pull(kind)
        lost = f"the daemon to tell the loss of the {kind.value}"
        await self._until(lambda: kind.value not in self.screen.up, lost, hands.patience_s)

    async def _plug(self, kind: DeviceKind) -> None:
        hands = self._bench.hands(kind)
        await hands.plug(kind)
        await self._until(lambda: kind.value in self.screen.up, f"the {kind.value} to be up again", hands.patience_s)
        self._unplugged.discard(kind)
        owed, self._owed = self._owed, []
        for owing, fact in owed:
            await self._reports(owing, fact)

    async def _really(self, fact: JsonObject) -> JsonObject:
        """What a person says of a card is what lies there, and not what is written."""
        if self._cards_are_written or "card" not in fact:
            return fact
        if fact["fact"] != "card_identified":
            return {**fact, "card": None}
        where = f"card {fact['index']} at {place_in_words(fact['seat'])}"
        card = await self._bench.hands(DeviceKind.SHOE).read_card(where, Card(fact["card"]))
        return {**fact, "card": str(card)}

    async def _ask(self, request: Coroutine[None, None, JsonObject], what: str) -> JsonObject:
        asking = asyncio.create_task(request)
        try:
            await self._until(asking.done, what, DAEMON_S)
            return asking.result()
        finally:
            asking.cancel()

    async def _until(self, ready: Callable[[], bool], what: str, within_s: float) -> None:
        await until(lambda: self._alive() and ready(), what, within_s)

    def _alive(self) -> bool:
        if self._death is not None:
            raise self._death
        return True

    async def _connect(self) -> None:
        deadline_s = time.monotonic() + START_S
        while self._alive():
            try:
                await self._control.connect()
            except OSError:
                if time.monotonic() > deadline_s:
                    raise BenchFaultError("the daemon did not open its control socket") from None
                await asyncio.sleep(0.02)
            else:
                return

    async def _follow(self) -> None:
        while True:
            try:
                async with aclosing(follow(self._folder / "feed.sock", self.screen.last_seq)) as lines:
                    async for line in lines:
                        self._show(cast(JsonObject, msgspec.json.decode(line.line)))
            except FeedMissing:
                await asyncio.sleep(0.02)
            except (FeedRefused, OSError) as error:
                self._died(error)
                return

    def _show(self, event: JsonObject) -> None:
        """On the screen; and what the devices were made to do is so at the written table too."""
        if event["event"] == "command_wanted":
            self._commands[event["command_id"]] = event["command"]
        if event["event"] == "command_outcome" and event["outcome"] == "finished":
            match self._commands.get(event["command_id"]):
                case "lock" | "unlock" as command:
                    self._table.shoe.locked = command == "lock"
                case "stop" | "resume" as command:
                    self._table.shuffler.stopped = command == "stop"
        if event["event"] == "device_up":
            self._bench.talked.add(DeviceKind(event["claims"]["kind"]))
        if self._dealing and (fault := self._fault(event)) is not None:
            self._died(BenchFaultError(fault))
        self.screen.show(event)

    def _fault(self, event: JsonObject) -> str | None:
        """What no device does in a round of its own accord; there is nothing to be waited for after it."""
        match event:
            case {"event": "device_down", "device": device} if DeviceKind(device) not in self._unplugged:
                return f"the {device} was lost though nobody pulled its cable: {event['reason']}"
            case {"event": "fact_refused", "source": source, "fact": fact, "sentence": sentence}:
                if source in [kind.value for kind in self.kinds]:
                    return f"the daemon refused {fact} of the {source}: {sentence}"
        return None

    def _died(self, death: Exception) -> None:
        self._death = self._death or death

    def _sensed(self, kind: DeviceKind, fact: DeviceFact) -> None:
        self._awaited.append((kind, fact))

    def _now_ms(self) -> int:
        return int((time.monotonic() - self._began_s) * 1000)

    def notes(self) -> dict[str, list[str]]:
        """For the report: what the daemon told last, without cards, and the end of its log."""
        tail = [] if self._daemon is None else self._daemon.tail().splitlines()
        return {"What the daemon told": told_lines(self.screen.events), "The end of the daemon's log": tail}

    async def _close(self) -> None:
        await self._control.close()
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        if self._daemon is not None:
            await self._daemon.stop()
