import asyncio
import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from pytest_mock import MockerFixture
from structlog.testing import capture_logs

from drivers.commands import Command, CommandKind, Outcome
from drivers.driver import CommandReport, DeviceKind, Heard, LinkDown, LinkUp, NumberedFact, Resume
from drivers.errors import DriverNameError, PortHeld, PortNameError
from drivers.transports.null_modem import NullModemEnd
from firmware_bridge.config import DeviceConfig
from firmware_bridge.devices.connection import Connection
from firmware_bridge.devices.link import BackOff, BackoffPolicy, LinkState
from firmware_bridge.devices.supervisor import Supervisor
from tests.drivers.transports.ends.pty_end import until
from tests.firmware_bridge.devices.ends.claims import CLAIMS
from tests.firmware_bridge.devices.ends.line_driver import Hall, LineDriver, missing

UP = LinkUp(claims=CLAIMS, boot="A", gap=False)
LOCK = Command(id=5, kind=CommandKind.LOCK)


async def connect(hall: Hall, boot: str = "A", generation: int = 1) -> None:
    await until(lambda: len(hall.ports.far) == generation)
    hall.far.say(f"up {boot}")
    await until(lambda: hall.state.link is LinkState.UP)


def shoe(**changes: str) -> DeviceConfig:
    fields = {"name": "shoe", "driver": "tdp", "port": "serial:/dev/ttyACM0"} | changes
    return DeviceConfig(kind=DeviceKind.SHOE, **fields)


def test_two_devices_on_one_port_are_refused() -> None:
    with pytest.raises(PortNameError, match='devices "shoe" and "other" both have the port /dev/ttyACM0: give each'):
        Supervisor(
            [shoe(), shoe(name="other", port="serial:/dev/./ttyACM0@9600")], lambda: 0, lambda *_: None, lambda _: None
        )


def test_a_port_or_driver_that_cannot_be_read_is_refused_at_once() -> None:
    with pytest.raises(PortNameError, match="/dev/ttyACM0"):
        Supervisor([shoe(port="/dev/ttyACM0")], lambda: 0, lambda *_: None, lambda _: None)
    with pytest.raises(DriverNameError, match='no driver "tpd"'):
        Supervisor([shoe(driver="tpd")], lambda: 0, lambda *_: None, lambda _: None)


async def test_reports_come_in_order_and_go_back() -> None:
    hall = Hall()
    hall.resume = Resume("A", 6)
    async with hall:
        await connect(hall)
        hall.far.say("fact 7", "fact 8", "junk", "heard")
        await until(lambda: len(hall.told) == 4)
        hall.supervisor.durable("shoe", 8, "A")
        hall.supervisor.ask("shoe")
        hall.supervisor.send("shoe", LOCK)
        await until(lambda: hall.far.heard.endswith(b"lock\n"))
        assert hall.far.heard == b"hello 3132333435363738 A/6\ndurable 8\nask\ncommand 5 lock\n"
        assert hall.told[0] == UP
        assert [report.number for report in hall.told if isinstance(report, NumberedFact)] == [7, 8]
        assert isinstance(hall.told[3], Heard)
        assert hall.state.counters == {"junk": 1}
        assert (hall.state.claims, hall.state.boot, hall.state.generation) == (CLAIMS, "A", 1)


async def test_what_is_asked_in_the_middle_of_a_report_waits_for_its_turn() -> None:
    hall = Hall()

    def acknowledge(_: str, report: object) -> None:
        hall.told.append(report)
        if isinstance(report, NumberedFact):
            hall.supervisor.durable("shoe", report.number, report.boot)

    hall.on_report = acknowledge
    async with hall:
        await until(lambda: len(hall.ports.far) == 1)
        hall.far.say("up A", "fact 1", "fact 2", "heard")
        await until(lambda: hall.far.heard.endswith(b"durable 2\n"))
        assert hall.far.heard.splitlines()[1:] == [b"durable 1", b"durable 2"]
        assert [type(report) for report in hall.told] == [LinkUp, NumberedFact, NumberedFact, Heard]


async def test_f11_a_hang_up_ends_the_generation_after_its_port_is_closed() -> None:
    hall = Hall()
    closed_when_told: list[int] = []

    def hear(_: str, report: object) -> None:
        hall.told.append(report)
        if isinstance(report, LinkDown):
            closed_when_told.append(hall.ports.open_now)

    hall.on_report = hear
    async with hall:
        await connect(hall)
        hall.far.end.hang_up()
        await connect(hall, "B", generation=2)
        assert [type(report) for report in hall.told] == [LinkUp, LinkDown, LinkUp]
        assert closed_when_told == [0]
        assert hall.ports.open_now == 1
        assert hall.drivers[-1] is not hall.drivers[-2]
        assert hall.state.losses == 1


async def test_f13_nothing_of_an_ended_generation_is_told() -> None:
    hall = Hall()
    async with hall:
        await connect(hall)
        old = hall.far
        old.say("fact 1", "down", "fact 2")
        await connect(hall, "B", generation=2)
        old.say("fact 3")
        hall.far.say("fact 1")
        await until(lambda: len(hall.told) == 5)
        assert hall.told[:2] == [UP, NumberedFact("A", 1, hall.told[1].fact)]  # type: ignore[attr-defined]
        assert hall.told[2] == LinkDown("the shoe said goodbye")
        assert isinstance(hall.told[4], NumberedFact)
        assert hall.told[4].boot == "B"
        assert old.heard.endswith(b"goodbye\n")


async def test_f20_half_a_line_of_the_link_before_does_not_begin_the_next() -> None:
    hall = Hall()
    async with hall:
        await connect(hall)
        hall.far.say("heard")
        hall.far.end.write(b"fact ")
        await until(lambda: len(hall.told) == 2)
        hall.far.end.hang_up()
        await until(lambda: len(hall.ports.far) == 2)
        hall.far.say("7")
        await connect(hall, "B", generation=2)
        assert [type(report) for report in hall.told] == [LinkUp, Heard, LinkDown, LinkUp]
        assert hall.state.counters == {"junk": 1}


async def test_a_commit_of_an_older_boot_is_not_acknowledged_to_the_next() -> None:
    hall = Hall()
    async with hall:
        await connect(hall)
        hall.far.say("fact 3")
        await until(lambda: len(hall.told) == 2)
        hall.far.end.hang_up()
        await connect(hall, "B", generation=2)
        hall.supervisor.durable("shoe", 3, "A")  # nothing was told yet
        hall.far.say("fact 1", "fact 2", "fact 3", "fact 4")
        await until(lambda: len(hall.told) == 8)
        hall.supervisor.durable("shoe", 3, "A")
        hall.supervisor.durable("shoe", 5, "B")
        hall.supervisor.durable("shoe", 2, "B")
        hall.supervisor.durable("shoe", 4, "B")
        await until(lambda: hall.far.heard.endswith(b"durable 4\n"))
        assert hall.far.heard.splitlines()[1:] == [b"durable 2", b"durable 4"]


async def test_numbers_that_wrap_are_acknowledged() -> None:
    hall = Hall()
    async with hall:
        await connect(hall)
        hall.far.say(f"fact {2**32 - 1}", "fact 0")
        await until(lambda: len(hall.told) == 3)
        hall.supervisor.durable("shoe", 2**32 - 2, "A")
        hall.supervisor.durable("shoe", 0, "A")
        await until(lambda: hall.far.heard.endswith(b"durable 0\n"))
        assert b"4294967294" not in hall.far.heard


@pytest.mark.parametrize("way", ["hang up", "down", "raise"])
async def test_a_command_under_way_when_the_link_ends_is_unknown_and_never_sent_again(way: str) -> None:
    hall = Hall()
    async with hall:
        await connect(hall)
        hall.supervisor.send("shoe", LOCK)
        hall.supervisor.send("shoe", Command(id=6, kind=CommandKind.UNLOCK))
        hall.far.say("outcome 5 accepted", "outcome 6 accepted", "outcome 6 finished")
        await until(lambda: len(hall.told) == 4)
        if way == "hang up":
            hall.far.end.hang_up()
        else:
            hall.far.say(way)
        await connect(hall, "A", generation=2)
        unknown, down = hall.told[4], hall.told[5]
        assert isinstance(unknown, CommandReport)
        assert isinstance(down, LinkDown)
        assert unknown == CommandReport(5, Outcome.UNKNOWN, down.reason)
        assert [type(report) for report in hall.told[6:]] == [LinkUp]
        hall.far.say("heard")
        await until(lambda: len(hall.told) == 8)
        assert b"command" not in hall.far.heard


@pytest.mark.parametrize("connected", [False, True])
async def test_a_command_without_a_finished_handshake_is_not_sent(connected: bool) -> None:  # noqa: FBT001
    hall = Hall()
    hall.ports.errors = [] if connected else [missing() for _ in range(1000)]
    async with hall:
        await until(lambda: bool(hall.ports.far) if connected else hall.state.link is LinkState.WAITING)
        hall.supervisor.send("shoe", LOCK)
        assert hall.told == []
        await until(lambda: bool(hall.told))
        assert hall.told == [CommandReport(5, Outcome.UNKNOWN, "the shoe is not connected: the command was not sent")]
        assert connected is False or b"command" not in hall.far.heard


async def test_a_driver_is_woken_when_it_wants_and_no_more() -> None:
    hall = Hall()
    async with hall:
        await connect(hall)
        hall.far.say("wake 5")
        await until(lambda: hall.far.heard.endswith(b"tick\n"))
        hall.far.say("heard")
        await until(lambda: len(hall.told) == 2)
        ticks = hall.drivers[-1].ticks
        await asyncio.sleep(0.02)
        assert hall.drivers[-1].ticks == ticks <= 5


async def test_a_missing_port_is_one_line_until_it_changes_or_comes() -> None:
    hall = Hall()
    hall.ports.errors = [
        *(missing() for _ in range(20)),
        *(PortHeld("/dev/words is held by process 1 (x): end it"),) * 5,
    ]
    with capture_logs() as lines:
        async with hall:
            await connect(hall)
            assert len(hall.ports.opened) == 26
            assert hall.state.sentence is None
            hall.far.end.hang_up()
            await until(lambda: len(hall.ports.far) == 2)
    assert [line["sentence"] for line in lines] == [
        "waiting for the shoe: there is no device at /dev/words: plug it in",
        "waiting for the shoe: /dev/words is held by process 1 (x): end it",
        "the shoe is connected",
        "waiting for the shoe: the null modem ended (hung up): open it again",
    ]
    assert [type(report) for report in hall.told] == [LinkUp, LinkDown]


async def test_a_refused_device_stays_refused_with_its_sentence_until_another_one_is_there() -> None:
    hall = Hall()
    with capture_logs() as lines:
        async with hall:
            for generation in range(1, 4):
                await until(lambda: len(hall.ports.far) == generation)  # noqa: B023
                hall.far.say("final")
                await until(lambda: hall.ports.open_now == 0)
                assert hall.state.link is LinkState.REFUSED
                assert hall.state.sentence == "this is a shuffler, not a shoe: correct the cabling"
            await connect(hall, generation=4)
    assert [line["sentence"] for line in lines] == [
        "refused the shoe: this is a shuffler, not a shoe: correct the cabling",
        "the shoe is connected",
    ]
    assert hall.told == [UP]


async def test_a_retry_that_is_asked_for_does_not_wait() -> None:
    hall = Hall(BackoffPolicy(first_s=3600, cap_s=3600, missing_cap_s=3600))
    hall.ports.errors = [missing()]
    async with hall:
        await until(lambda: hall.state.link is LinkState.WAITING)
        hall.supervisor.retry("shoe")
        await connect(hall)


def test_f14_pauses_double_to_a_cap_and_begin_anew_after_a_healthy_time() -> None:
    chance = iter([0.0, 0.0, 0.0, 0.0, 0.5, 0.999, 0.0, 0.0, 0.0])
    back_off = BackOff(BackoffPolicy(first_s=1, healthy_s=30), lambda: next(chance))
    assert [back_off.next_s(5) for _ in range(5)] == [1, 2, 4, 5, 3.75]
    assert 2.5 < back_off.next_s(5) < 2.51
    back_off.ended_after(29.9)
    assert back_off.next_s(5) == 5
    back_off.ended_after(30)
    assert [back_off.next_s(5) for _ in range(2)] == [1, 2]


async def test_a_connection_that_was_healthy_starts_the_doubling_anew() -> None:
    hall = Hall(BackoffPolicy(first_s=0.001, cap_s=3600, healthy_s=0))
    async with hall:
        for generation in range(1, 25):  # without a fresh start the last pause would be hours
            await connect(hall, generation=generation)
            hall.far.end.hang_up()
            await until(lambda: hall.ports.open_now == 0)


@pytest.mark.parametrize("step", ["resume_point", "nonce", "new_driver", "open_port", "opened", "wake_at_ms"])
async def test_f12_whatever_fails_in_a_try_is_counted_and_tried_again(step: str, mocker: MockerFixture) -> None:
    hall = Hall()
    failures = [KeyError("Qh")] * 3
    link = hall.supervisor._links["shoe"]

    def failing(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if failures:
                raise failures.pop()
            return real(*arguments, **named)

        return call

    match step:
        case "opened":
            mocker.patch.object(LineDriver, "opened", failing(LineDriver.opened))
        case "wake_at_ms":
            mocker.patch.object(Connection, "_arm", failing(Connection._arm))
        case _:
            real = getattr(link._context, step)
            link._context = dataclasses.replace(link._context, **{step: failing(real)})  # type: ignore[arg-type]
    with capture_logs() as lines:
        async with hall:
            await until(lambda: hall.state.faults == 3)
            await connect(hall, generation=4 if step in ("opened", "wake_at_ms") else 1)
            assert hall.state.generation == 4
            assert hall.ports.open_now == 1
    assert "Qh" not in repr(lines)
    assert lines[0]["sentence"].startswith("waiting for the shoe: an internal error (KeyError in ")


async def test_a_driver_or_listener_that_fails_gets_a_fresh_start() -> None:
    hall = Hall()
    async with hall:
        await connect(hall)
        hall.far.say("raise Qh")
        await connect(hall, "B", generation=2)

        failures: list[object] = []

        def fail(_: str, report: object) -> None:
            if isinstance(report, NumberedFact) and not failures:
                failures.append(report)
                raise OSError("the journal is gone")
            hall.told.append(report)

        hall.on_report = fail
        hall.far.say("fact 1", "fact 2")
        await connect(hall, "B", generation=3)
        assert [type(report) for report in hall.told] == [LinkUp, LinkDown, LinkUp, LinkDown, LinkUp]
        assert hall.state.faults == 2
        assert "Qh" not in str(hall.told[1])


async def test_no_card_is_ever_in_a_log_line() -> None:
    hall = Hall()
    with capture_logs() as lines:
        async with hall:
            await connect(hall)
            hall.far.say("draw 1 Qh", "draw 2 Td")
            await until(lambda: len(hall.told) == 3)
            hall.far.say("raise Qh")
            await connect(hall, generation=2)
    facts = [line for line in lines if line["event"] == "device_fact"]
    assert [(line["fact"], line["number"]) for line in facts] == [("card_drawn", 1), ("card_drawn", 2)]
    for card in ("Qh", "Td", "QUEEN", "TEN"):
        assert card not in repr(lines)


async def test_stopping_closes_the_port_and_tells_nothing() -> None:
    hall = Hall()
    async with hall:
        await connect(hall)
        hall.supervisor.send("shoe", LOCK)
        await hall.stop()
        assert hall.ports.open_now == 0
        assert hall.told == [UP]
        hall.supervisor.durable("shoe", 1, "A")
        hall.supervisor.ask("shoe")


async def test_f10_the_end_is_told_even_if_the_port_does_not_close(mocker: MockerFixture) -> None:
    hall = Hall()
    async with hall:
        await connect(hall)
        close = mocker.patch.object(NullModemEnd, "close", side_effect=OSError("no"))
        hall.far.end.hang_up()
        await until(lambda: close.call_count > 0)
        mocker.stopall()
        await connect(hall, "B", generation=2)
        assert [type(report) for report in hall.told] == [LinkUp, LinkDown, LinkUp]
        assert hall.state.faults == 1


async def test_f10_stopping_does_not_wait_for_a_port_that_hangs(mocker: MockerFixture) -> None:
    mocker.patch("firmware_bridge.devices.connection.CLOSE_TIMEOUT_S", 0.01)
    hall = Hall()
    mocker.patch.object(NullModemEnd, "close", side_effect=asyncio.Event().wait)
    async with hall:
        await connect(hall)
        await hall.stop()
        assert hall.task is not None
        assert hall.task.cancelled()
