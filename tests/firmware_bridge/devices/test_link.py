import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from pytest_mock import MockerFixture
from structlog.testing import capture_logs

from drivers.driver import LinkDown, LinkUp, NumberedFact
from drivers.errors import PortHeld
from firmware_bridge.devices.connection import Connection
from firmware_bridge.devices.link import BackOff, BackoffPolicy, LinkState
from tests.drivers.transports.ends.pty_end import until
from tests.firmware_bridge.devices.ends.claims import CLAIMS
from tests.firmware_bridge.devices.ends.line_driver import Hall, LineDriver, missing

UP = LinkUp(claims=CLAIMS, boot="A", gap=False)


async def connect(hall: Hall, boot: str = "A", generation: int = 1) -> None:
    await until(lambda: len(hall.ports.far) == generation)
    hall.far.say(f"up {boot}")
    await until(lambda: hall.state.link is LinkState.UP)


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
