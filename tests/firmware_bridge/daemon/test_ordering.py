from drivers.driver import Heard, LinkDown, LinkUp
from drivers.facts import Fact, Jammed, SeatCount
from firmware_bridge.core.facts import DeviceBack, DeviceLost, NoMoreBets
from firmware_bridge.daemon.intake import Acknowledge, Answer, Publish
from firmware_bridge.daemon.ordering import GRACE_MS, PATIENCE_MS
from firmware_bridge.journal.rows import Apply, Receive
from tests.firmware_bridge.daemon.intake_world import (
    DEVICES,
    UP,
    IntakeRun,
    device_fact,
)
from tests.firmware_bridge.devices.ends.claims import CLAIMS


def test_a_fact_waits_for_the_word_of_every_other_device() -> None:
    run = IntakeRun()
    run.tell("shoe", 1, 1010, 1012)
    batch = run.advance(1012)
    assert batch.ask == ("shuffler", "layout")
    assert [type(write) for write in batch.writes] == [Receive]
    assert batch.after == (Acknowledge("shoe", 1, "b"),)
    run.intake.report("shuffler", Heard(at_ms=1011), 1015)
    assert run.advance(1015).writes == ()
    run.intake.report("layout", Heard(at_ms=1010), 1016)
    batch = run.advance(1016)
    assert [type(write) for write in batch.writes] == [Apply]
    assert [type(one) for one in batch.after] == [Publish]
    assert run.applied == [device_fact("shoe", 1010, 1)]


def test_an_answer_to_a_later_question_is_enough_whatever_the_clock_says() -> None:
    run = IntakeRun()
    run.tell("shoe", 1, 1010, 1012)
    run.advance(1012)
    run.intake.report("shuffler", Heard(at_ms=1001, asked_at_ms=1012), 1015)
    run.intake.report("layout", Heard(at_ms=1001, asked_at_ms=1012), 1015)
    run.advance(1015)
    assert len(run.applied) == 1


def test_an_answer_to_an_earlier_question_is_not() -> None:
    run = IntakeRun()
    run.tell("shoe", 1, 1012, 1012)
    run.advance(1012)
    run.intake.report("shuffler", Heard(at_ms=1001, asked_at_ms=1011), 1015)
    run.intake.report("layout", Heard(at_ms=1012, asked_at_ms=1012), 1015)
    run.advance(1015)
    assert run.applied == []


def test_the_wait_has_an_end_while_all_are_connected() -> None:
    run = IntakeRun()
    run.tell("shoe", 1, 1010, 1012)
    run.advance(1012)
    assert run.intake.wake_at_ms(1012) == 1012 + PATIENCE_MS
    run.advance(1012 + PATIENCE_MS - 1)
    assert run.applied == []
    run.advance(1012 + PATIENCE_MS)
    assert len(run.applied) == 1
    assert run.intake.wake_at_ms(1100) is None


def test_a_later_fact_that_came_earlier_is_applied_later() -> None:
    run = IntakeRun()
    run.tell("shuffler", 1, 1020, 1021)
    run.advance(1021)
    run.tell("shoe", 1, 1010, 1025)
    run.advance(1025)
    for device in DEVICES:
        run.intake.report(device, Heard(at_ms=1030), 1031)
    run.advance(1031)
    assert [fact.at_ms for fact in run.applied] == [1010, 1020]


def test_at_equal_times_the_cause_comes_first_whoever_was_quicker() -> None:
    run = IntakeRun()
    facts: list[tuple[str, Fact]] = [
        ("layout", SeatCount(at_ms=1010, seat=1, cards=1)),
        ("shuffler", Jammed(at_ms=1010)),
    ]
    for device, fact in facts:
        run.tell(device, 1, 1010, 1012, fact)
    for device in DEVICES:
        run.intake.report(device, Heard(at_ms=1020), 1021)
    run.advance(1021)
    assert run.applied[:2] == [Jammed(at_ms=1010), SeatCount(at_ms=1010, seat=1, cards=1)]


def test_while_a_device_is_lost_the_others_wait_and_people_do_not() -> None:
    run = IntakeRun()
    run.intake.report("layout", LinkDown(reason="unplugged"), 1010)
    run.tell("shoe", 1, 1020, 1021)
    run.intake.report("shuffler", Heard(at_ms=1030), 1030)
    batch = run.advance(5000)
    assert Acknowledge("shoe", 1, "b") in batch.after
    assert run.applied == [DeviceLost(at_ms=1010, device="layout", reason="unplugged")]
    assert run.intake.wake_at_ms(5000) is None
    run.intake.request("r", "floor", NoMoreBets(at_ms=0), 5001)
    batch = run.advance(5001)
    assert [one.request for one in batch.after if isinstance(one, Answer)] == ["r"]
    run.intake.report("layout", LinkUp(claims=CLAIMS, boot="b2", gap=True), 6000)
    run.advance(7000)
    assert len(run.applied) == 3, "connected, but it has not said how far it is"
    run.intake.report("layout", Heard(at_ms=6990, asked_at_ms=6980), 7001)
    run.advance(7001)
    assert [type(fact) for fact in run.applied] == [DeviceLost, NoMoreBets, DeviceBack, SeatCount]
    assert run.applied[-1].at_ms == 6000, "time never runs backwards for the core"


def test_people_wait_a_moment_for_a_device_that_comes_back() -> None:
    run = IntakeRun()
    run.intake.report("layout", LinkDown(reason="unplugged"), 1010)
    run.tell("shoe", 1, 1020, 1021)
    run.intake.request("r", "floor", NoMoreBets(at_ms=0), 1030)
    run.advance(1030)
    assert run.intake.wake_at_ms(1030) == 1010 + GRACE_MS
    run.intake.report("layout", UP, 1500)
    run.tell("layout", 1, 1015, 1505)
    for device in DEVICES:
        run.intake.report(device, Heard(at_ms=1510, asked_at_ms=1510), 1511)
    run.advance(1511)
    told = [fact for fact in run.applied if isinstance(fact, SeatCount | NoMoreBets)]
    assert told[:2] == [device_fact("layout", 1500, 1), device_fact("shoe", 1500, 1)]
    assert isinstance(told[2], NoMoreBets)


def test_what_the_lost_device_has_passed_does_not_wait_for_it() -> None:
    run = IntakeRun()
    run.intake.report("layout", Heard(at_ms=1015), 1016)
    run.intake.report("layout", LinkDown(reason="unplugged"), 1017)
    run.intake.report("shuffler", Heard(at_ms=1015), 1018)
    run.tell("shoe", 1, 1012, 1018)
    run.advance(1018)
    assert len(run.applied) == 2
