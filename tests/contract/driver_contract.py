"""What every driver promises, on wires that do their worst: inherit, give a shoe and its driver, and it is checked."""

from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drivers.cards import Card
from drivers.commands import Command, CommandKind, Outcome
from drivers.driver import Alarm, Driver, LinkDown, LinkUp, NumberedFact, Report, Step
from tests.contract.bench import Bench, Harm, Shoe

ENDS = (Outcome.FINISHED, Outcome.REFUSED, Outcome.UNKNOWN)
HARMLESS = {
    "one byte at a time": Harm(by_byte=True),
    "late": Harm(late=0.5),
    "echo": Harm(echo=True),
    "echo, late, one byte at a time": Harm(echo=True, late=0.3, by_byte=True),
}
HARMFUL = {
    "loss": Harm(loss=0.15),
    "doubling": Harm(double=0.3),
    "bit flips": Harm(flip=0.15),
    "junk": Harm(junk=0.3),
    "everything": Harm(loss=0.05, double=0.1, flip=0.05, late=0.2, junk=0.1, echo=True, by_byte=True),
}
RECONNECTED_MS = 5_000
TOO_SOON_TO_REPEAT_MS = 100
BANNER = b"\r\nBOOT 2.1 (shoe)\r\nRAM 64K OK\r\n" + bytes(range(0xA0, 0x100))
"""What a machine's loader says before its firmware runs: nothing in it ends a frame, or begins a telegram."""
HEAVIEST = 20_000
"""What one driver may hold, in bytes and items, whatever it was fed."""


@dataclass(frozen=True, slots=True)
class Quirks:
    """`repairs`: what is lost on the wire comes again. `sessions`: bytes of an earlier session are known as such.

    `remembers`: facts outlive a connection, so that a pulled cable is no gap. `locks`: what the driver answers of a
    lock that the machine has heard.
    """

    repairs: bool = True
    sessions: bool = True
    remembers: bool = True
    locks: Outcome = Outcome.FINISHED


class DriverContract(ABC):
    quirks = Quirks()

    @abstractmethod
    def new_shoe(self) -> Shoe:
        """A shoe that was just switched on."""

    @abstractmethod
    def new_driver(self) -> Driver: ...

    def bench(self, harm: Harm = Harm(), seed: int = 1) -> Bench:  # noqa: B008  frozen
        return Bench(self.new_shoe(), self.new_driver, harm, seed)

    def session(self, harm: Harm = Harm(), seed: int = 1) -> Bench:  # noqa: B008  frozen
        bench = self.bench(harm, seed)
        bench.connect()
        bench.run_until(lambda: bench.up, 60_000)
        assert bench.up
        return bench

    @pytest.mark.parametrize("harm", HARMLESS.values(), ids=HARMLESS)
    def test_a_wire_that_loses_nothing_costs_nothing(self, harm: Harm) -> None:
        bench = self.session(harm)
        bench.deal(40, every_ms=150)
        bench.run(2_000)
        assert bench.cards == bench.drawn
        assert len(bench.connections) == 1
        in_order(bench)

    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("harm", HARMFUL.values(), ids=HARMFUL)
    def test_no_wire_invents_doubles_or_swaps_a_fact(self, harm: Harm, seed: int) -> None:
        bench = self.session(harm, seed)
        for _ in range(4):
            bench.deal(10, every_ms=100)
            bench.send(CommandKind.LOCK)
        bench.run_until(lambda: bench.cards == bench.drawn, 60_000)
        in_order(bench)
        assert is_subsequence(bench.cards, bench.drawn)
        if self.quirks.repairs:
            assert bench.cards == bench.drawn
            assert not any(report.gap for report in bench.reports if isinstance(report, LinkUp))

    @pytest.mark.parametrize("seed", range(3))
    def test_every_command_ends_once(self, seed: int) -> None:
        harm = Harm(loss=0.1, double=0.1, flip=0.05, late=0.2)
        bench = self.session(harm, seed)
        for number in range(8):
            bench.send(CommandKind.LOCK if number % 2 else CommandKind.UNLOCK)
            bench.run(700)
        bench.pull()
        ended = Counter(report.command_id for report in bench.outcomes if report.outcome in ENDS)
        unended = set(range(1, 9)) - set(ended)
        assert set(ended.values()) <= {1}
        assert len(unended) <= 8 - len(ended)  # whoever pulls the cable tells the outcome of these

    def test_f18_junk_before_the_first_frame_hides_nothing(self) -> None:
        bench = self.bench()
        bench.connect()
        for size in (1, 7, 600, 5_000):
            bench.hear(bench.chance.randbytes(size))
        bench.run_until(lambda: bench.up, 60_000)
        bench.deal(5, every_ms=100)
        bench.run(1_000)
        assert bench.cards == bench.drawn

    @pytest.mark.parametrize("times", [1, 30])
    def test_f18_the_first_frame_after_a_boot_message_counts(self, times: int) -> None:
        """In both directions: nothing has to be said twice."""
        bench = self.bench()
        bench.connect()
        bench.disturb(BANNER * times)
        bench.run(TOO_SOON_TO_REPEAT_MS)
        assert bench.up
        bench.send(CommandKind.LOCK)
        bench.run(1_000)
        assert [report.outcome for report in bench.outcomes][-1:] == [self.quirks.locks]

    def test_f19_the_hosts_own_echo_alone_is_no_device(self) -> None:
        driver = self.new_driver()
        step = driver.opened(nonce=b"12345678", key=None, resume=None, now_ms=0)
        told = [*step.reports, *echoed(driver, step, 0)]
        assert [type(report) for report in told] == [LinkDown]

    def test_f19_the_hosts_own_echo_keeps_no_dead_device_alive(self) -> None:
        bench = self.session()
        told = echoed(bench.driver, bench.driver.ask(bench.now_ms), bench.now_ms)
        assert [type(report) for report in told if not isinstance(report, Alarm)] == [LinkDown]

    def test_f31_bytes_of_an_earlier_session_are_no_facts(self) -> None:
        bench = self.session()
        bench.deal(10, every_ms=100)
        bench.run(1_000)
        earlier = b"".join(bench.recorded)
        bench.pull()
        bench.run(RECONNECTED_MS)
        told = len(bench.cards)
        assert told == len(bench.drawn)
        if not self.quirks.sessions:
            pytest.skip("telegrams of this protocol bear no session")
        bench.hear(earlier)
        bench.hear(earlier)
        assert len(bench.cards) == told
        bench.deal(3, every_ms=100)
        bench.run(1_000)
        assert bench.cards == bench.drawn

    def test_f31_bytes_of_an_earlier_session_before_this_one_begins_are_no_facts(self) -> None:
        bench = self.session()
        bench.deal(10, every_ms=100)
        bench.run(1_000)
        told = len(bench.cards)
        earlier = b"".join(piece for piece in bench.recorded if not self.opens_a_session(piece))
        bench.pull()
        bench.connect()
        bench.hear(earlier)
        assert len(bench.cards) == told
        assert not bench.up

    def test_a_pulled_cable_is_a_gap_only_for_a_shoe_that_forgets(self) -> None:
        bench = self.session()
        bench.deal(5, every_ms=100)
        for _ in range(3):
            bench.pull()
            bench.deal(3, every_ms=1)
            bench.run_until(lambda: bench.up, 30_000)
            bench.deal(5, every_ms=100)
            bench.run(1_000)
        gaps = [report.gap for report in bench.reports if isinstance(report, LinkUp)][1:]
        assert gaps == [not self.quirks.remembers] * 3
        assert is_subsequence(bench.cards, bench.drawn)
        if self.quirks.remembers:
            assert bench.cards == bench.drawn
        in_order(bench)

    def test_a_silent_device_is_given_up_before_and_in_a_session(self) -> None:
        driver = self.new_driver()
        assert given_up(driver, driver.opened(nonce=b"12345678", key=None, resume=None, now_ms=0).reports) <= 15_000
        bench = self.session()
        assert given_up(bench.driver, ()) - bench.now_ms <= 15_000

    def test_a_question_is_answered_with_a_sign_of_life(self) -> None:
        bench = self.session()
        bench.run(3_000)
        bench.deal(1, every_ms=0)
        asked_ms = bench.now_ms
        bench._take(bench.driver.ask(asked_ms))
        bench.run(2_000)
        assert any(word.asked_at_ms == asked_ms for word in bench.heard)
        assert all(word.at_ms <= bench.now_ms for word in bench.heard)

    def test_fed_with_anything_it_never_grows(self) -> None:
        bench = self.session()
        bench.deal(20, every_ms=20)
        stream = b"".join(bench.recorded)
        for turn in range(60):
            for _ in range(20):
                start = bench.chance.randrange(len(stream))
                bench.hear(stream[start : start + bench.chance.randrange(200)])
                bench.hear(bench.chance.randbytes(bench.chance.randrange(300)))
                bench.hear(bytes((bench.chance.randrange(256),)) * 100)
            bench.run(turn)
            assert weight(bench.driver) <= HEAVIEST

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.differing_executors])
    @given(data=st.data())
    def test_any_calls_in_any_order(self, data: st.DataObject) -> None:
        bench = self.session(seed=data.draw(st.integers(0, 3)))
        bench.deal(4, every_ms=50)
        stream = b"".join(bench.recorded)
        driver = self.new_driver() if data.draw(st.booleans()) else bench.driver
        told = [] if driver is not bench.driver else list(bench.connections[-1])
        now_ms = bench.now_ms
        for _ in range(data.draw(st.integers(0, 30))):
            match data.draw(st.sampled_from(["bytes", "stream", "tick", "ask", "send", "durable", "opened"])):
                case "bytes":
                    step = driver.receive(data.draw(st.binary(max_size=60)), now_ms)
                case "stream":
                    start = data.draw(st.integers(0, len(stream)))
                    step = driver.receive(stream[start : start + data.draw(st.integers(0, 80))], now_ms)
                case "tick":
                    now_ms += data.draw(st.integers(0, 4_000))
                    step = driver.tick(now_ms)
                case "ask":
                    step = driver.ask(now_ms)
                case "send":
                    kind = data.draw(st.sampled_from(CommandKind))
                    step = driver.send(Command(id=data.draw(st.integers(0, 50)), kind=kind), now_ms)
                case "durable":
                    step = driver.durable(data.draw(st.integers(0, 2**32 - 1)), now_ms)
                case _ if told or driver is bench.driver:
                    continue
                case _:
                    step = driver.opened(nonce=b"12345678", key=None, resume=bench.resume, now_ms=now_ms)
            told += step.reports
        well_formed(told)
        assert all(isinstance(count, int) and count >= 0 for count in driver.counters.values())

    def opens_a_session(self, piece: bytes) -> bool:
        """Would these bytes open a session with any host? By chance alone they are heard at the wrong moment."""
        return False


def echoed(driver: Driver, step: Step, now_ms: int) -> list[Report]:
    """What it tells while all that comes back is what it sends, until it gives up: within 15 s."""
    end_ms = now_ms + 15_000
    told: list[Report] = []
    while driver.wake_at_ms is not None:
        assert now_ms <= end_ms
        if step.to_send:
            now_ms += 1
            step = driver.receive(step.to_send, now_ms)
        else:
            now_ms = max(now_ms, driver.wake_at_ms)
            step = driver.tick(now_ms)
        told += step.reports
    return told


def given_up(driver: Driver, reports: tuple[object, ...]) -> int:
    """When, if nothing is heard any more."""
    now_ms = 0
    while not any(isinstance(report, LinkDown) for report in reports):
        assert driver.wake_at_ms is not None
        now_ms = driver.wake_at_ms
        reports = driver.tick(now_ms).reports
    assert driver.wake_at_ms is None
    assert driver.tick(now_ms + 100_000).reports == ()
    return now_ms


def in_order(bench: Bench) -> None:
    """Each connection tells LinkUp first and LinkDown last, its numbers without holes, its times never backwards."""
    for told in bench.connections:
        well_formed(told)
        facts = [report for report in told if isinstance(report, NumberedFact)]
        assert all((b.number - a.number) % 2**32 == 1 for a, b in pairwise(facts))
        times = [report.fact.at_ms for report in facts]
        assert times == sorted(times)
        assert all(0 <= at_ms <= bench.now_ms for at_ms in times)


def well_formed(told: Sequence[object]) -> None:
    ups = [place for place, report in enumerate(told) if isinstance(report, LinkUp)]
    downs = [place for place, report in enumerate(told) if isinstance(report, LinkDown)]
    facts = [place for place, report in enumerate(told) if isinstance(report, NumberedFact)]
    assert len(ups) <= 1
    assert len(downs) <= 1
    if facts:
        assert ups
        assert ups[0] < facts[0]
        assert not downs or facts[-1] < downs[0]


def is_subsequence(told: list[Card | None], drawn: list[Card | None]) -> bool:
    left = iter(drawn)
    return all(any(card is one for one in left) for card in told)


def weight(thing: object) -> int:
    """Bytes and items that an object holds, all the way down."""
    seen: set[int] = set()

    def parts(of: object) -> Iterator[object]:
        if isinstance(of, dict):
            yield from of.values()
        elif isinstance(of, (list, tuple, set, frozenset, deque)):
            yield from of
        elif type(of).__module__.startswith("drivers.") and not isinstance(of, type):
            yield from vars(of).values() if hasattr(of, "__dict__") else ()
            for slot in getattr(type(of), "__slots__", ()):
                yield getattr(of, slot, None)

    def own(of: object) -> int:
        if id(of) in seen:
            return 0
        seen.add(id(of))
        held = len(of) if isinstance(of, (bytes, bytearray, dict, list, tuple, set, frozenset, deque)) else 0
        return held + sum(own(part) for part in parts(of))

    return own(thing)
