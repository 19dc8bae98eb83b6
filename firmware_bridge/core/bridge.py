"""The core's door: one fact in, its events out. Asks the table, then the game, once; there is no way back.

Deterministic: the same facts give the same events, byte for byte. No clock, no input or output, no randomness.
"""

from typing import Final

import msgspec

from drivers.commands import CommandKind, Outcome
from drivers.driver import DeviceKind
from drivers.facts import Fact
from firmware_bridge.core import events, facts
from firmware_bridge.core.carried import CarriedGame, CarriedTable
from firmware_bridge.core.events import Event, FactRefused
from firmware_bridge.core.game.game import Game
from firmware_bridge.core.game.machine import Stage
from firmware_bridge.core.rules.chosen_rules import RulesRefused
from firmware_bridge.core.rules.house import House
from firmware_bridge.core.table.round_snapshot import RoundSnapshot
from firmware_bridge.core.table.table import Table
from firmware_bridge.core.table_setup import TableSetup

_WHEN_HELD: Final = {DeviceKind.SHOE: CommandKind.LOCK, DeviceKind.SHUFFLER: CommandKind.STOP}
_WHEN_LIFTED: Final = {DeviceKind.SHOE: CommandKind.UNLOCK, DeviceKind.SHUFFLER: CommandKind.RESUME}


class Carried(msgspec.Struct, frozen=True, kw_only=True):
    """What goes over into a round, whole: a snapshot, in JSON where it is stored.

    `at_ms` and `seq` are those of what came last. `commands`: how many were wanted; `unfinished`: the last of each
    machine, until it is finished.
    """

    at_ms: int
    seq: int
    commands: int
    unfinished: dict[DeviceKind, int]
    house: House
    setup: TableSetup
    table: CarriedTable
    game: CarriedGame


class Bridge:
    """Table and game behind one door. `table_key` makes the salts of the commitments."""

    def __init__(self, table_key: bytes) -> None:
        self._table_key: Final = table_key
        self._carried: Carried | None = None
        self._loaded: tuple[House, TableSetup] | None = None
        self._changed: tuple[House, TableSetup] | None = None
        self._table: Table | None = None
        self._game: Game | None = None
        self._at_ms = 0
        self._seq = 0
        self._commands = 0
        self._held = False
        self._unfinished: dict[DeviceKind, int] = {}  # the last command of each machine, until it is finished

    @classmethod
    def resumed(cls, carried: Carried, table_key: bytes) -> "Bridge":
        """A bridge that goes on with the fact that opened a round, from what was carried into that round.

        From there on its events are those of a bridge that has seen everything. Raises RulesRefused where the house
        does not offer the setup.
        """
        bridge = cls(table_key)
        bridge._carried = carried
        bridge._loaded = carried.house, carried.setup
        bridge._table = Table.resumed(carried.table, carried.house, carried.setup, table_key)
        bridge._game = Game.resumed(carried.game, carried.house, carried.setup, table_key)
        bridge._at_ms, bridge._seq, bridge._commands = carried.at_ms, carried.seq, carried.commands
        bridge._unfinished = dict(carried.unfinished)
        return bridge

    def carried(self) -> Carried | None:
        """What the round that is open, or the last one, took over; None before the first round.

        `resumed` goes the same way with it, from the fact on that opened the round.
        """
        return self._carried

    @property
    def table(self) -> Table | None:
        """None before the first `started`."""
        return self._table

    @property
    def record(self) -> RoundSnapshot | None:
        """The table's record of the round that is open, or of the last one."""
        return None if self._table is None else self._table.record

    @property
    def _standing(self) -> RoundSnapshot | None:
        return None if self._table is None else self._table.standing

    def deadline_ms(self) -> int | None:
        """When the deal will have stood still for too long: `time_passed` is wanted then. None: nothing waits."""
        return None if self._table is None else self._table.limit_ms

    def apply(self, fact: Fact) -> tuple[Event, ...]:
        """Everything that follows from the fact, in order, stamped. A fact that does not fit changes nothing."""
        if isinstance(fact, facts.UnknownFact):
            return ()
        sentence = self._refusal(fact)
        if sentence is not None:
            return self._stamped((_refused(fact, sentence),), max(self._at_ms, fact.at_ms))
        if isinstance(fact, facts.Seats | facts.Wager):
            self._carry()
        self._at_ms = fact.at_ms
        told: tuple[Event, ...] = ()
        if isinstance(fact, facts.Started):
            self._start(fact)
        elif self._table is not None and self._game is not None:
            told = self._table.apply(fact)
            told += self._game.apply(fact, told, self._table.standing)
            told += _shell_events(fact) + self._commands_wanted(fact)
        told = self._stamped(told, fact.at_ms)
        self._renew()
        return told

    def read_sensors(self) -> tuple[Event, ...]:
        """Nothing more will be told: what the sensors of the last place served show by now is its count."""
        table, game = self._table, self._game
        if table is None or game is None:
            return ()
        told = table.read_sensors(self._at_ms)
        told += game.apply(facts.TimePassed(at_ms=self._at_ms), told, table.standing)
        return self._stamped(told + self._commands_wanted(), self._at_ms)

    def _refusal(self, fact: Fact) -> str | None:
        if fact.at_ms < self._at_ms:
            return f"time runs backwards: this happened at {fact.at_ms} ms, after something at {self._at_ms} ms"
        if isinstance(fact, facts.Started):
            return self._started_refusal(fact)
        if self._table is None or self._game is None:
            return "the bridge has not been started: neither house nor table is known"
        return self._table.refusal(fact) or self._game.refusal(fact, self._table.standing)

    def _started_refusal(self, fact: facts.Started) -> str | None:
        try:
            house, setup = _read(fact)
            Game(house, setup, self._table_key)
        except (msgspec.MsgspecError, RulesRefused) as error:
            return f"house or table cannot be used: {error}"
        return None

    def _start(self, fact: facts.Started) -> None:
        """The first start brings house and table; a later one changes them from the next round on."""
        house, setup = _read(fact)
        if self._table is None:
            self._table, self._game = Table(house, setup, self._table_key), Game(house, setup, self._table_key)
            self._loaded = house, setup
        else:
            self._changed = (house, setup) if (house, setup) != self._loaded else None

    def _renew(self) -> None:
        """Let a changed house or table take effect as soon as no round is open and none waits to be settled."""
        table, game = self._table, self._game
        if self._changed is None or table is None or game is None:
            return
        if table.between_rounds and game.stage is Stage.IDLE:
            house, setup = self._changed
            table.renew(house, setup)
            self._game = game.renewed(house, setup)
            self._loaded, self._changed = self._changed, None

    def _commands_wanted(self, fact: Fact | None = None) -> tuple[Event, ...]:
        """A held round wants the shoe locked and the shuffler stopped, and both back once nothing is held.

        A machine that comes back may have been switched off and on, or may never have heard: it is told again.
        """
        record = self._standing
        held = record is not None and bool(record.holds)
        if isinstance(fact, facts.CommandOutcome) and fact.outcome is Outcome.FINISHED:
            self._unfinished = {kind: last for kind, last in self._unfinished.items() if last != fact.command_id}
        wanted = _WHEN_HELD if held else _WHEN_LIFTED
        if held == self._held:
            back = fact.claims.kind if isinstance(fact, facts.DeviceBack) and fact.claims is not None else None
            wanted = {
                kind: command
                for kind, command in wanted.items()
                if kind.value == back and (held or kind in self._unfinished)
            }
        self._held = held
        return tuple(self._want(kind, command) for kind, command in wanted.items())

    def _carry(self) -> None:
        """Where the fact opens a round: keep what goes over into it."""
        if self._table is None or self._game is None or self._loaded is None or not self._table.between_rounds:
            return
        house, setup = self._loaded
        self._carried = Carried(
            at_ms=self._at_ms,
            seq=self._seq,
            commands=self._commands,
            unfinished=dict(self._unfinished),
            house=house,
            setup=setup,
            table=self._table.carried(),
            game=self._game.carried(),
        )

    def _want(self, kind: DeviceKind, command: CommandKind) -> Event:
        self._commands += 1
        self._unfinished[kind] = self._commands
        return events.CommandWanted(device=kind.value, command_id=self._commands, command=command)

    def _stamped(self, told: tuple[Event, ...], at_ms: int) -> tuple[Event, ...]:
        record = self._standing
        number = 0 if record is None else record.number
        stamped: list[Event] = []
        for event in told:
            self._seq += 1
            stamped.append(msgspec.structs.replace(event, seq=self._seq, round=number, at_ms=at_ms))
        return tuple(stamped)


def _read(fact: facts.Started) -> tuple[House, TableSetup]:
    house = msgspec.json.decode(fact.house, type=House)
    return house, msgspec.json.decode(fact.table, type=TableSetup)


def _refused(fact: Fact, sentence: str) -> FactRefused:
    name = str(fact.__struct_config__.tag)
    return FactRefused(source=str(getattr(fact, "source", "")), fact=name, sentence=sentence)


def _shell_events(fact: Fact) -> tuple[Event, ...]:
    """What the shell told is told on as it is."""
    match fact:
        case facts.DeviceBack():
            return (events.DeviceUp(device=fact.device, claims=fact.claims, gap=fact.gap),)
        case facts.DeviceLost():
            return (events.DeviceDown(device=fact.device, reason=fact.reason),)
        case facts.CommandOutcome():
            outcome = events.CommandOutcome(
                device=fact.device, command_id=fact.command_id, outcome=fact.outcome, reason=fact.reason
            )
            return (outcome,)
        case _:
            return ()
