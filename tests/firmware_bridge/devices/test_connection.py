import asyncio

import pytest

from drivers.commands import Command, CommandKind, Outcome
from drivers.driver import CommandReport, Heard, LinkDown, LinkUp, NumberedFact, Resume
from firmware_bridge.devices.link import LinkState
from tests.drivers.transports.ends.pty_end import until
from tests.firmware_bridge.devices.ends.claims import CLAIMS
from tests.firmware_bridge.devices.ends.line_driver import Hall, missing

UP = LinkUp(claims=CLAIMS, boot="A", gap=False)
LOCK = Command(id=5, kind=CommandKind.LOCK)


async def connect(hall: Hall, boot: str = "A", generation: int = 1) -> None:
    await until(lambda: len(hall.ports.far) == generation)
    hall.far.say(f"up {boot}")
    await until(lambda: hall.state.link is LinkState.UP)


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
