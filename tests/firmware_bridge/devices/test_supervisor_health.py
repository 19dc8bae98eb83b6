"""What the supervisor says of a link: hints, silence, losses, and the firmware that nobody approved."""

import asyncio
from collections.abc import Callable
from typing import SupportsIndex

import pytest
from pytest_mock import MockerFixture
from structlog.testing import capture_logs

from drivers.commands import Command, CommandKind, Outcome
from drivers.driver import CommandReport, DeviceKind, Heard, LinkDown, LinkUp
from drivers.transports.transport import OnData, OnLost, Transport
from firmware_bridge.config import ApprovedFirmware, DeviceConfig
from firmware_bridge.devices.link import HOUR_MS, BackoffPolicy, LinkState
from firmware_bridge.devices.supervisor import Supervisor
from tests.drivers.transports.ends.pty_end import until
from tests.firmware_bridge.devices.ends.line_driver import Counted, Hall, LineDriver, missing

NEVER = BackoffPolicy(first_s=3600, cap_s=3600, missing_cap_s=3600, refused_s=3600)


async def connect(hall: Hall, generation: int = 1) -> None:
    await until(lambda: len(hall.ports.far) == generation)
    hall.far.say("up A")
    await until(lambda: hall.state.link is LinkState.UP)


async def test_f14_a_hint_is_a_try_at_once() -> None:
    hall = Hall(NEVER)
    hall.ports.errors = [missing()]
    async with hall:
        await until(lambda: hall.state.link is LinkState.WAITING)
        hall.hint()
        await connect(hall)


async def test_a_hint_while_a_device_is_refused_is_a_try_at_once() -> None:
    hall = Hall(NEVER)
    async with hall:
        await until(lambda: len(hall.ports.far) == 1)
        hall.far.say("final")
        await until(lambda: hall.state.link is LinkState.REFUSED)
        hall.hint()
        await connect(hall, generation=2)


async def test_f46_a_hint_is_a_try_for_every_device() -> None:
    tried: list[str] = []
    hints: list[Callable[[], None]] = []

    async def nothing_there(port_text: str, on_data: OnData, on_lost: OnLost) -> Transport:
        tried.append(port_text)
        raise missing()

    async def watch(on_change: Callable[[], None]) -> None:
        hints.append(on_change)
        await asyncio.Event().wait()

    devices = [
        DeviceConfig(name=name, kind=DeviceKind.SHOE, driver="words", port=f"serial:/dev/{name}")
        for name in ("one", "two", "three")
    ]
    supervisor = Supervisor(
        devices,
        lambda: 0,
        lambda *_: None,
        lambda _: None,
        open_port=nothing_there,
        new_driver=lambda _: LineDriver(),
        backoff=NEVER,
        watch=watch,
    )
    running = asyncio.create_task(supervisor.run())
    await until(lambda: len(tried) == 3 and bool(hints))
    hints[0]()
    await until(lambda: len(tried) == 6)
    assert sorted(tried) == sorted(2 * [device.port for device in devices])
    running.cancel()
    await asyncio.wait([running])


async def test_f46_a_hint_in_the_middle_of_a_try_is_not_lost() -> None:
    hall = Hall(NEVER)

    class HintWhileOpening(list[Exception]):
        def pop(self, index: SupportsIndex = -1) -> Exception:
            hall.hint()
            return super().pop(index)

    hall.ports.errors = HintWhileOpening([missing()])
    async with hall:
        await connect(hall)


async def test_f14_hints_while_a_device_is_up_cost_no_try_after_it() -> None:
    hall = Hall(NEVER)
    async with hall:
        await until(lambda: len(hall.ports.far) == 1)
        hall.hint()  # before it is up
        await connect(hall)
        hall.hint()
        hall.far.end.hang_up()
        await until(lambda: hall.state.link is LinkState.WAITING)
        for _ in range(20):
            await until(lambda: True)
        assert len(hall.ports.opened) == 1


async def test_f15_f16_f44_a_silent_device_is_unknown_and_keeps_its_link() -> None:
    hall = Hall(BackoffPolicy(first_s=0.001, cap_s=0.004, silent_s=0.02))
    with capture_logs() as lines:
        async with hall:
            await connect(hall)
            await until(lambda: hall.state.link is LinkState.UNKNOWN)
            await until(lambda: b"ask\n" in hall.far.heard)
            assert "so what it does now is unknown" in (hall.state.sentence or "")
            hall.supervisor.send("shoe", Command(id=5, kind=CommandKind.LOCK))
            await until(lambda: hall.far.heard.endswith(b"lock\n") or b"lock" in hall.far.heard)
            hall.far.say("heard")
            await until(lambda: any(isinstance(report, Heard) for report in hall.told))
            await until(lambda: hall.state.link in (LinkState.UP, LinkState.UNKNOWN))
            assert hall.state.generation == 1
            assert hall.state.losses == 0
    events = [line.get("sentence", "") for line in lines]
    assert events[0] == "the shoe is connected"
    assert events[1].startswith("the shoe has given no sign of life for 0.02 s")
    assert "the shoe gives signs of life again" in events
    assert not any(isinstance(report, LinkDown) for report in hall.told)


async def test_f23_f33_how_long_answers_take_is_shown(mocker: MockerFixture) -> None:
    """Of this connection's last hundred; in the line of its loss too."""
    now_ms = 5_000
    mocker.patch.object(Hall, "clock", return_value=now_ms)
    hall = Hall(NEVER)
    with capture_logs() as lines:
        async with hall:
            await connect(hall)
            assert hall.state.answers_ms is None
            hall.far.say("heard", *(f"answer {now_ms - took_ms}" for took_ms in (900, *[3] * 98, 16, 17)))
            await until(lambda: hall.state.answers_ms == (3, 17))
            hall.far.end.hang_up()
            await until(lambda: hall.state.link is LinkState.WAITING)
            assert hall.state.answers_ms is None
    assert [line["answers_ms"] for line in lines if "frames" in line] == [(3, 17)]


async def test_f44_of_a_lost_device_nothing_old_is_told() -> None:
    hall = Hall(NEVER)
    async with hall:
        await connect(hall)
        assert hall.state.heard_at_ms is not None
        assert hall.state.claims is not None
        hall.far.end.hang_up()
        await until(lambda: hall.state.link is LinkState.WAITING)
        lost = hall.state
        assert lost.claims is None
        assert lost.boot is None


async def test_f22_a_loss_is_one_line_with_the_last_frames_and_counts() -> None:
    hall = Hall()
    with capture_logs() as lines:
        async with hall:
            for generation in (1, 2):
                await connect(hall, generation)
                hall.far.say("draw 1 Qh", "junk")
                hall.far.end.hang_up()
                await until(lambda: hall.ports.open_now == 0)
            await until(lambda: len(hall.ports.far) == 3)
            assert (hall.state.losses, hall.state.losses_last_hour) == (2, 2)
            assert hall.state.counters == {"junk": 2}
            hall.later_ms = HOUR_MS
            assert (hall.state.losses, hall.state.losses_last_hour) == (2, 0)
    losses = [line for line in lines if "frames" in line]
    assert [line["losses"] for line in losses] == [1, 2]
    assert losses[0]["frames"] == ["> 31 bytes", "< 5 bytes", "< 15 bytes"]
    assert losses[1]["counters"] == {"junk": 2}
    assert "Qh" not in repr(lines)


async def test_firmware_that_is_not_approved_is_refused_and_told_nothing() -> None:
    hall = Hall(NEVER, approved=[ApprovedFirmware(model="Model", version="2.0", hash="00")])
    async with hall:
        await until(lambda: len(hall.ports.far) == 1)
        hall.far.say("up A", "fact 1")
        await until(lambda: hall.state.link is LinkState.REFUSED)
        assert "is not on the list of approved firmware (approved for this model: 2.0 (hash 00))" in (
            hall.state.sentence or ""
        )
        hall.supervisor.send("shoe", Command(id=5, kind=CommandKind.LOCK))
        await until(lambda: bool(hall.told))
        assert [type(report) for report in hall.told] == [CommandReport]
        assert isinstance(hall.told[0], CommandReport)
        assert hall.told[0].outcome is Outcome.UNKNOWN
        assert b"lock" not in hall.far.heard
        assert hall.ports.open_now == 0


async def test_approved_firmware_is_connected() -> None:
    hall = Hall(approved=[ApprovedFirmware(model="Model", version="1.0", hash="00")])
    async with hall:
        await connect(hall)
        assert [type(report) for report in hall.told] == [LinkUp]


@pytest.mark.parametrize("step", ["name", "raise"])
async def test_frames_that_cannot_be_named_do_not_cost_the_link(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> list[str]:
        raise KeyError("Qh")

    monkeypatch.setattr("firmware_bridge.devices.link.frame_namer", (lambda _: broken) if step == "name" else broken)
    hall = Hall()
    with capture_logs() as lines:
        async with hall:
            await connect(hall)
            hall.far.end.hang_up()
            await connect(hall, generation=2)
            assert hall.state.faults == 1
    assert "Qh" not in repr(lines)


async def test_f24_what_was_lost_below_the_driver_is_counted_by_generation(mocker: MockerFixture) -> None:
    lost = {"line_overruns": 7}  # before anybody opened it
    mocker.patch.object(Counted, "counters", lost, create=True)
    hall = Hall()
    async with hall:
        await connect(hall)
        assert hall.state.counters == {}
        lost["line_overruns"] += 2
        assert hall.state.counters == {"line_overruns": 2}
        hall.far.end.hang_up()
        await connect(hall, generation=2)
        lost["line_overruns"] += 1
        assert hall.state.counters == {"line_overruns": 3}
