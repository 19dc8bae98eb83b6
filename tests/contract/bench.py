"""A shoe and its driver on a wire that does its worst, in virtual time: one seed, one run."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Protocol

from drivers.cards import FULL_DECK, Card
from drivers.commands import Command, CommandKind
from drivers.driver import CommandReport, Driver, Heard, LinkDown, LinkUp, NumberedFact, Report, Resume, Step
from drivers.facts import CardDrawn

RECONNECT_MS = 100


class Shoe(Protocol):
    """The device's end. All times are the table's."""

    @property
    def wake_at_ms(self) -> int | None: ...

    def draw(self, drawn: CardDrawn, now_ms: int) -> bytes: ...

    def receive(self, data: bytes, now_ms: int) -> bytes: ...

    def tick(self, now_ms: int) -> bytes: ...

    def plugged_in(self) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Harm:
    """Chances for each burst on the wire, in each direction. `flip`: of one bit. `echo`: the host hears itself."""

    loss: float = 0.0
    double: float = 0.0
    flip: float = 0.0
    late: float = 0.0
    junk: float = 0.0
    echo: bool = False
    by_byte: bool = False


class Bench:
    """Every fact is committed as it is told; a connection that ends is followed by the next."""

    def __init__(self, shoe: Shoe, new_driver: Callable[[], Driver], harm: Harm, seed: int) -> None:
        self.shoe = shoe
        self.new_driver = new_driver
        self.harm = harm
        self.chance = Random(seed)
        self.now_ms = 1_000
        self.drawn: list[Card | None] = []
        self.connections: list[list[Report]] = []
        self.recorded: list[bytes] = []
        self.drivers: list[Driver] = []
        self.resume: Resume | None = None
        self.commands = 0
        self._queue: list[tuple[int, int, bool, bytes]] = []
        self._order = 0
        self._free_ms = {True: 0, False: 0}
        self._connect_ms: int | None = None

    @property
    def driver(self) -> Driver:
        return self.drivers[-1]

    def connect(self) -> None:
        """A new cable, a new driver. What was under way is gone."""
        self._queue.clear()
        self._connect_ms = None
        self.connections.append([])
        self.drivers.append(self.new_driver())
        self._carry(self.shoe.plugged_in(), to_host=True)
        nonce = self.chance.randbytes(8)
        self._take(self.driver.opened(nonce=nonce, key=None, resume=self.resume, now_ms=self.now_ms))

    def deal(self, cards: int, every_ms: int) -> None:
        """So many draws, now and then one that cannot be read."""
        for _ in range(cards):
            card = None if self.chance.random() < 0.05 else self.chance.choice(FULL_DECK)
            self.drawn.append(card)
            drawn = CardDrawn(at_ms=self.now_ms, draw=len(self.drawn), card=card, face="down")
            self._carry(self.shoe.draw(drawn, self.now_ms), to_host=True)
            self.run(every_ms)

    def send(self, kind: CommandKind) -> None:
        self.commands += 1
        self._take(self.driver.send(Command(id=self.commands, kind=kind), self.now_ms))

    def pull(self) -> None:
        """The cable; the host's end notices."""
        self.connections[-1].append(LinkDown("the cable was pulled"))
        self._queue.clear()
        self._connect_ms = self.now_ms + RECONNECT_MS

    def hear(self, data: bytes) -> None:
        """Bytes from nowhere, at the host."""
        self._take(self.driver.receive(data, self.now_ms))

    def disturb(self, data: bytes) -> None:
        """Bytes from nowhere, at both ends."""
        self.hear(data)
        self._carry(self.shoe.receive(data, self.now_ms), to_host=True)

    def run(self, ms: int) -> None:
        end_ms = self.now_ms + ms
        while (next_ms := self._next_ms()) is not None and next_ms <= end_ms:
            self.now_ms = max(self.now_ms, next_ms)
            self._step()
        self.now_ms = end_ms

    def run_until(self, done: Callable[[], bool], limit_ms: int) -> None:
        end_ms = self.now_ms + limit_ms
        while not done() and self.now_ms < end_ms:
            self.run(50)

    @property
    def reports(self) -> list[Report]:
        return [report for connection in self.connections for report in connection]

    @property
    def facts(self) -> list[NumberedFact]:
        return [report for report in self.reports if isinstance(report, NumberedFact)]

    @property
    def cards(self) -> list[Card | None]:
        """As a journal would have them: a fact that comes again is one fact."""
        once = {(told.boot, told.number): told.fact for told in self.facts}
        return [fact.card for fact in once.values() if isinstance(fact, CardDrawn)]

    @property
    def up(self) -> bool:
        told = self.connections[-1]
        return any(isinstance(report, LinkUp) for report in told) and not isinstance(told[-1], LinkDown)

    @property
    def outcomes(self) -> list[CommandReport]:
        return [report for report in self.reports if isinstance(report, CommandReport)]

    @property
    def heard(self) -> list[Heard]:
        return [report for report in self.reports if isinstance(report, Heard)]

    def _next_ms(self) -> int | None:
        times = [at_ms for at_ms, _, _, _ in self._queue]
        if self._connect_ms is not None:
            times.append(self._connect_ms)
        else:
            times += [at_ms for at_ms in (self.driver.wake_at_ms,) if at_ms is not None]
        times += [at_ms for at_ms in (self.shoe.wake_at_ms,) if at_ms is not None]
        return min(times, default=None)

    def _step(self) -> None:
        if self._connect_ms is not None and self._connect_ms <= self.now_ms:
            self.connect()
        due = sorted(entry for entry in self._queue if entry[0] <= self.now_ms)
        self._queue = [entry for entry in self._queue if entry[0] > self.now_ms]
        for _, _, to_host, data in due:
            if to_host and self._connect_ms is None:
                self.recorded.append(data)
                self._take(self.driver.receive(data, self.now_ms))
            elif not to_host:
                self._carry(self.shoe.receive(data, self.now_ms), to_host=True)
        wake_at_ms = self.driver.wake_at_ms
        if self._connect_ms is None and wake_at_ms is not None and wake_at_ms <= self.now_ms:
            self._take(self.driver.tick(self.now_ms))
        wake_at_ms = self.shoe.wake_at_ms
        if wake_at_ms is not None and wake_at_ms <= self.now_ms:
            self._carry(self.shoe.tick(self.now_ms), to_host=True)

    def _take(self, step: Step) -> None:
        self.connections[-1] += step.reports
        self._carry(step.to_send, to_host=False)
        if self.harm.echo:
            self._carry(step.to_send, to_host=True)
        for report in step.reports:
            if isinstance(report, NumberedFact):
                self.resume = Resume(report.boot, report.number)
                self._carry(self.driver.durable(report.number, self.now_ms).to_send, to_host=False)
            elif isinstance(report, LinkDown):
                self._connect_ms = self.now_ms + RECONNECT_MS

    def _carry(self, data: bytes, *, to_host: bool) -> None:
        """Bytes keep their order on a wire, however late."""
        chance, harm = self.chance.random, self.harm
        if not data or self._connect_ms is not None or chance() < harm.loss:
            return
        for _ in range(2 if chance() < harm.double else 1):
            carried = bytearray(data)
            if chance() < harm.flip:
                carried[self.chance.randrange(len(carried))] ^= 1 << self.chance.randrange(8)
            if chance() < harm.junk:
                carried += self.chance.randbytes(self.chance.randrange(1, 40))
            delay_ms = 3 + (self.chance.randrange(120) if chance() < harm.late else 0)
            at_ms = self._free_ms[to_host] = max(self._free_ms[to_host], self.now_ms + delay_ms)
            pieces = [bytes((byte,)) for byte in carried] if harm.by_byte else [bytes(carried)]
            for piece in pieces:
                self._order += 1
                self._queue.append((at_ms, self._order, to_host, piece))
