"""What every device has to do, whatever it speaks, as the daemon sees it: through its driver.

A device that speaks TDP is held to its frames besides, in the other files.
"""

import os
from collections.abc import AsyncIterator

import pytest

from drivers.commands import CommandKind, Outcome
from drivers.driver import DeviceKind
from tests.hil.bench.bench import Bench
from tests.hil.bench.frames import FrameLog
from tests.hil.bench.hands import gesture
from tests.hil.bench.hosted import Hosted
from tests.hil.bench.reported import in_words

pytestmark = [pytest.mark.any_driver, pytest.mark.timeout(0)]

OPENINGS = 5
SWITCHES = {
    DeviceKind.SHUFFLER: (CommandKind.STOP, CommandKind.RESUME),
    DeviceKind.SHOE: (CommandKind.LOCK, CommandKind.UNLOCK),
    DeviceKind.LAYOUT: (),
}
NOT_FOR_IT = {
    DeviceKind.SHUFFLER: CommandKind.LOCK,
    DeviceKind.SHOE: CommandKind.DISPENSE_GROUP,
    DeviceKind.LAYOUT: CommandKind.LOCK,
}


@pytest.fixture
async def hosted(bench: Bench, kind: DeviceKind, log: FrameLog) -> AsyncIterator[Hosted]:
    """A device whose link is up."""
    async with Hosted(bench.devices[kind], log) as hosted:
        await hosted.link_up()
        bench.talked.add(kind)
        yield hosted


async def test_its_driver_knows_it(hosted: Hosted) -> None:
    """It answers, and is of the kind that it is named for."""
    assert (await hosted.link_up()).claims.kind == hosted.device.name


async def test_it_gives_a_sign_of_life_when_it_is_asked(hosted: Hosted) -> None:
    """Three times; nothing is reported meanwhile, since nothing happens."""
    for _ in range(3):
        await hosted.heard()
    assert hosted.facts_in_words() == [], "it reports what nobody has done"


async def test_it_takes_the_commands_of_its_kind(hosted: Hosted) -> None:
    """Stop and resume, lock and unlock: each comes to its end."""
    for command in SWITCHES[hosted.device.kind]:
        told = await hosted.command(command)
        assert told.outcome is Outcome.FINISHED, f'"{command.value}" ended otherwise: {told.reason}'


async def test_a_command_of_another_kind_is_refused(hosted: Hosted) -> None:
    """With a reason, by the device or by its driver."""
    told = await hosted.command(NOT_FOR_IT[hosted.device.kind])
    assert told.outcome is Outcome.REFUSED
    assert told.reason, "there is no reason"


async def test_its_link_comes_up_every_time(bench: Bench, kind: DeviceKind, log: FrameLog) -> None:
    """The port is opened and closed, and no handle of ours is left open."""
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(OPENINGS):
        async with Hosted(bench.devices[kind], log) as opened:
            await opened.link_up()
            bench.talked.add(kind)
    assert len(os.listdir("/proc/self/fd")) <= before, "this suite has left a port open"


@pytest.mark.hands
async def test_what_happens_is_told_once(bench: Bench, hosted: Hosted) -> None:
    """However often the device sends it."""
    hands = bench.hands(hosted.device.kind)
    done: list[str] = []

    def all_told() -> bool:
        return len(hosted.facts_in_words()) >= len(done)

    for turn in range(3):
        text, awaited = gesture(hosted.device.kind, turn)
        done.extend(in_words(fact) for fact in awaited)
        await hands.do(hosted.device.kind, text, awaited, seen=True)
        await hosted.wait(all_told, f'the report of "{text}"', hands.patience_s, hands.progress)
        await hosted.heard()
        assert hosted.facts_in_words() == done, "what it has reported is not what was done"


@pytest.mark.hands
async def test_its_link_comes_up_after_its_cable_was_pulled(bench: Bench, hosted: Hosted, log: FrameLog) -> None:
    """The loss is told, and the next link needs nothing but the cable."""
    kind = hosted.device.kind
    hands = bench.hands(kind)
    await hands.pull(kind)
    await hosted.wait(lambda: hosted.lost is not None, "the loss of the port", hands.patience_s, hands.progress)
    await hosted.close()
    await hands.plug(kind)
    async with Hosted(hosted.device, log) as later:
        await later.link_up()
