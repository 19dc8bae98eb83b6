"""The host's end of TDP against a model device: facts once and in order, resume, gaps, what is never a fact."""

import pytest

from drivers import facts
from drivers.driver import DeviceKind, Heard, LinkDown, LinkUp, NumberedFact, Resume
from drivers.sequence import seq_add
from drivers.tdp.codec.fact_messages import FactMessage
from drivers.tdp.codec.messages import wire_frame
from drivers.tdp.codec.session_messages import Hello
from drivers.tdp.host.driver import TdpDriver
from tests.drivers.tdp.device import ModelDevice
from tests.drivers.tdp.link import Faults, Link, group, up


def test_handshake_reports_the_claims() -> None:
    (report,) = up(Link(ModelDevice())).ups()
    assert report.boot == "b007b007b0070001"
    assert not report.gap
    assert (report.claims.kind, report.claims.vendor, report.claims.serial_number) == ("shuffler", "Model", "SN-1")
    assert report.claims.firmware_hash == bytes(range(32)).hex()
    assert report.claims.protocol == "TDP 1.0"


def test_the_device_may_be_switched_on_later() -> None:
    link = Link(ModelDevice(), faults=Faults(loss=1.0))
    link.run(4500)
    assert link.reports == []
    link.faults = Faults()
    link.run(700)
    assert len(link.ups()) == 1


def test_facts_arrive_once_in_order_with_times_on_the_table_s_clock() -> None:
    link = up(Link(ModelDevice()))
    happened: list[int] = []
    for number in range(1, 31):
        happened.append(link.now_ms)
        link.to_host(link.device.happens(group(number), link.now_ms))
        link.run(7)
    link.run(50)
    found = link.facts()
    assert [fact.number for fact in found] == [seq_add(0xFFFF_FFF0, step, 32) for step in range(30)]
    assert [fact.fact for fact in found] == [
        facts.GroupReady(at_ms=at_ms, group=number, cards=3) for number, at_ms in enumerate(happened, 1)
    ]
    assert not link.device.ring


def test_facts_made_before_the_host_came_are_told_with_their_time() -> None:
    device = ModelDevice()
    device.happens(group(1), 200)
    device.happens(group(2), 700)
    link = up(Link(device))
    assert [fact.fact.at_ms for fact in link.facts()] == [200, 700]
    assert isinstance(link.reports[0], LinkUp)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    "faults",
    [
        Faults(),
        Faults(by_byte=True),
        Faults(loss=0.2),
        Faults(double=0.5),
        Faults(flip=0.2),
        Faults(late=0.4),
        Faults(loss=0.1, double=0.2, flip=0.1, junk=0.2, late=0.2),
        Faults(loss=0.05, double=0.2, flip=0.05, junk=0.1, late=0.3, by_byte=True),
    ],
    ids=str,
)
def test_every_fact_exactly_once_on_hostile_wires(faults: Faults, seed: int) -> None:
    device = ModelDevice()
    link = Link(device, seed=seed, faults=faults)
    for number in range(1, 81):
        link.to_host(device.happens(group(number), link.now_ms))
        link.run(link.random.randrange(60))
        if link.downs() and isinstance(link.reports[-1], LinkDown):
            link.connect()
        if number % 40 == 0:
            link.connect()  # the cable is pulled, and put back at once
    link.faults = Faults()
    link.connect()
    while len(link.facts()) < len(device.made) and link.now_ms < 60_000:
        link.run(100)
        if isinstance(link.reports[-1], LinkDown):  # a hello of the connection before came late and took the session
            link.connect()
    assert [fact.number for fact in link.facts()] == [number for number, _ in device.made]
    assert [report.fact for report in link.facts()] == [
        facts.GroupReady(at_ms=report.fact.at_ms, group=index, cards=3) for index, report in enumerate(link.facts(), 1)
    ]
    assert not any(report.gap for report in link.ups())


@pytest.mark.parametrize("seed", range(6))
def test_heard_promises_hold_whatever_is_lost(seed: int) -> None:
    """After Heard(at) no fact comes with a time before it, and what had happened by then has come."""
    device = ModelDevice()
    link = up(Link(device, seed=seed))
    link.faults = Faults(loss=0.2, late=0.3)
    for number in range(1, 60):
        link.to_host(device.happens(group(number), link.now_ms))
        link.run(link.random.randrange(50))
        if number % 5 == 0:
            link.ask()
    link.faults = Faults()
    link.run(2000)
    made = [clock_ms - device.clock_ahead_ms for clock_ms in (fact.at_ms for _, fact in device.made)]
    told, last_heard_ms = 0, 0
    for report in link.reports:
        if isinstance(report, NumberedFact):
            assert report.fact.at_ms >= last_heard_ms
            told += 1
        elif isinstance(report, Heard):
            assert report.at_ms >= last_heard_ms
            last_heard_ms = report.at_ms
            if report.asked_at_ms is not None:
                assert report.at_ms >= report.asked_at_ms
                assert told >= sum(at_ms < report.asked_at_ms for at_ms in made)
    assert any(report.asked_at_ms is not None for report in link.heard())
    assert told == 59


def test_a_mapped_time_is_never_later_than_the_arrival() -> None:
    device = ModelDevice()
    link = up(Link(device))
    device.clock_ahead_ms += 40_000  # a device whose clock steps forward, against the rules
    link.to_host(device.happens(group(1), link.now_ms))
    link.run(10)
    assert link.facts()[0].fact.at_ms <= link.now_ms


def test_a_drifting_clock_is_followed() -> None:
    device = ModelDevice()
    link = up(Link(device))
    for _ in range(200):
        link.run(1000)
        device.clock_ahead_ms += 1 if link.now_ms % 10_000 < 1000 else 0  # 100 parts per million
    at_ms = link.now_ms
    link.to_host(device.happens(group(1), at_ms))
    link.run(10)
    assert abs(link.facts()[0].fact.at_ms - at_ms) <= 8


def test_resume_after_the_last_durable_fact() -> None:
    device = ModelDevice()
    link = up(Link(device))
    for number in range(1, 4):
        link.to_host(device.happens(group(number), link.now_ms))
    link.run(50)
    device.happens(group(4), link.now_ms)
    link.connect()
    link.run(100)
    assert [report.gap for report in link.ups()] == [False, False]
    assert [fact.number for fact in link.facts()] == [number for number, _ in device.made]


def test_a_ring_that_ran_over_is_a_gap() -> None:
    device = ModelDevice(ring_size=8)
    link = up(Link(device))
    link.to_host(device.happens(group(1), link.now_ms))
    link.run(50)
    for number in range(2, 30):
        device.happens(group(number), link.now_ms)
        device.window.clear()
    link.connect()
    link.run(100)
    assert [report.gap for report in link.ups()] == [False, True]
    assert [fact.number for fact in link.facts()[1:]] == [number for number, _ in device.made[-8:]]


def test_a_ring_that_runs_over_in_a_session_ends_it_and_shows_at_the_next() -> None:
    device = ModelDevice(ring_size=8)
    link = up(Link(device))
    link.to_host(device.happens(group(1), link.now_ms))
    link.run(50)
    for number in range(2, 40):
        device.happens(group(number), link.now_ms)  # what it would send now is lost
    link.run(2000)
    (down,) = link.downs()
    assert "lost" in down.reason
    assert not down.final
    link.connect()
    link.run(100)
    assert [report.gap for report in link.ups()] == [False, True]


def test_another_boot_is_a_gap_where_one_is_known() -> None:
    device = ModelDevice()
    link = up(Link(device))
    link.to_host(device.happens(group(1), link.now_ms))
    link.run(50)
    link.device = ModelDevice(boot=b"\x00" * 7 + b"\x01", next_number=1)
    link.device.happens(group(2), link.now_ms)
    link.connect()
    link.run(100)
    assert [(report.gap, report.boot) for report in link.ups()][1] == (True, "0000000000000001")
    assert [(fact.boot, fact.number) for fact in link.facts()][1] == ("0000000000000001", 1)


@pytest.mark.parametrize("resume", [Resume("another driver's", 7), Resume("", 1), Resume("b007b007b0070001", 2**40)])
def test_a_resume_point_of_no_tdp_device_is_a_gap(resume: Resume) -> None:
    device = ModelDevice()
    link = Link(device, faults=Faults(loss=1.0))
    link.resume, link.faults = resume, Faults()
    link.connect()
    link.run(100)
    assert len(link.ups()) == 1
    assert link.ups()[0].gap


def test_numbers_that_would_come_twice_end_the_session() -> None:
    device = ModelDevice(next_number=50)
    link = Link(device)
    link.resume = Resume(device.boot.hex(), 400)
    link.connect()
    link.run(100)
    assert [type(report) for report in link.reports] == [LinkDown]
    assert "boot id" in link.downs()[0].reason


def test_a_hole_in_the_numbers_ends_the_session() -> None:
    device = ModelDevice()
    link = up(Link(device))
    device.next_number = device.unsent_number = seq_add(device.next_number, 3, 32)
    link.to_host(device.happens(group(1), link.now_ms))
    link.run(50)
    assert link.facts() == []
    assert "missing" in link.downs()[0].reason


def test_f31_facts_of_an_older_session_or_boot_are_never_facts() -> None:
    device = ModelDevice()
    link = up(Link(device))
    link.run(100)
    message = FactMessage.of(device.next_number, group(9)(device.clock_ahead_ms))
    for session in (0, 1, device.session ^ 1, device.session + 1):
        link.to_host(b"\x00" + wire_frame(message, session=session, sequence=device.sequence, acknowledgement=0))
    old = device.session
    link.connect()
    link.run(1)
    link.to_host(b"\x00" + wire_frame(message, session=old, sequence=device.sequence, acknowledgement=0))
    link.run(200)
    assert link.facts() == []
    assert link.driver.counters["other_session"] >= 1
    link.to_host(device.happens(group(1), link.now_ms))
    link.run(50)
    assert len(link.facts()) == 1


def test_f31_an_answer_to_another_nonce_is_nothing() -> None:
    other = Link(ModelDevice(), seed=2)
    answer = other.device.receive(other.sent_by_host[0], 0)
    driver = TdpDriver(DeviceKind.SHUFFLER, None)
    driver.opened(nonce=b"12345678", key=None, resume=None, now_ms=0)
    assert driver.receive(answer, 5).reports == ()
    assert driver.counters["other_session"] == 1


def test_own_echo_is_dropped() -> None:
    link = up(Link(ModelDevice()))
    before = len(link.reports)
    for burst in list(link.sent_by_host):
        link.to_host(burst)
    link.run(20)
    assert len(link.reports) == before
    assert link.driver.counters["own_echo"] >= 3


def test_a_quiet_link_stays_up() -> None:
    link = up(Link(ModelDevice()))
    link.run(20_000)
    assert link.downs() == []
    assert len(link.heard()) >= 39


def test_a_fact_that_cannot_be_read_ends_the_session_in_a_sentence() -> None:
    for bad in (b"\xff\xff", b"\x01"):
        device = ModelDevice()
        link = up(Link(device))
        device.ring.append(FactMessage(number=device.next_number, clock_ms=1, code=0x09, fields=bad))
        device.next_number = seq_add(device.next_number, 1, 32)
        link.to_host(device.happens(group(1), link.now_ms))
        link.run(50)
        assert link.facts() == []
        assert "firmware is faulty" in link.downs()[0].reason


def test_a_fact_of_another_kind_of_device_ends_the_session() -> None:
    device = ModelDevice()
    link = up(Link(device))
    link.to_host(device.happens(lambda clock_ms: facts.CutCard(at_ms=clock_ms), link.now_ms))
    link.run(50)
    assert link.facts() == []
    assert "fact of a shoe" in link.downs()[0].reason


def test_unknown_facts_and_longer_messages_are_passed_over_and_counted() -> None:
    device = ModelDevice()
    link = up(Link(device))
    device.ring.append(FactMessage(number=device.next_number, clock_ms=1, code=0x3F, fields=b"new"))
    device.next_number = seq_add(device.next_number, 1, 32)
    device.ring.append(FactMessage(number=device.next_number, clock_ms=1, code=0x04, fields=b"longer"))
    device.next_number = seq_add(device.next_number, 1, 32)
    link.to_host(device.happens(group(1), link.now_ms))
    link.run(50)
    assert [type(fact.fact) for fact in link.facts()] == [facts.BoxedCard, facts.GroupReady]
    assert link.driver.counters["unknown_facts"] == 1
    assert link.driver.counters["longer_messages"] == 1


def test_f31_an_answer_to_a_hello_never_said_is_nothing() -> None:
    device = ModelDevice()
    driver = TdpDriver(DeviceKind.SHUFFLER, None)
    driver.opened(nonce=b"12345678", key=None, resume=None, now_ms=0)
    later = wire_frame(Hello(nonce=b"12345678", attempt=1), session=0, sequence=0, acknowledgement=0)
    assert driver.receive(device.receive(b"\x00" + later, 2), 4).to_send == b""
    assert driver.counters["other_session"] == 1
