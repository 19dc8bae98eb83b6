"""The supervisor on real ptys: pulled, replugged, held by somebody else, full of junk."""

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE

import pytest
from structlog.testing import capture_logs

from drivers.commands import Command, CommandKind, Outcome
from drivers.driver import CommandReport, DeviceKind, LinkDown, LinkUp, NumberedFact, Report
from firmware_bridge.config import DeviceConfig
from firmware_bridge.devices.link import BackoffPolicy, LinkState
from firmware_bridge.devices.supervisor import Supervisor
from tests.drivers.transports.ends.pty_end import PtyEnd, until
from tests.firmware_bridge.devices.ends.line_driver import LineDriver

pytestmark = pytest.mark.real


class Shoe:
    """A shoe of words behind a name in a folder, as udev gives one, and the supervisor that is to hold it."""

    def __init__(self, folder: Path) -> None:
        self.name = folder / "shoe"
        self.pty: PtyEnd | None = None
        self.told: list[Report] = []
        self.supervisor = Supervisor(
            [DeviceConfig(name="shoe", kind=DeviceKind.SHOE, driver="words", port=f"serial:{self.name}")],
            lambda: int(asyncio.get_running_loop().time() * 1000),
            lambda _, report: self.told.append(report),
            lambda _: None,
            new_driver=lambda _: LineDriver(),
            backoff=BackoffPolicy(first_s=0.01, cap_s=0.02, missing_cap_s=0.02),
        )

    def plug(self) -> PtyEnd:
        self.pty = PtyEnd()
        self.name.unlink(missing_ok=True)
        self.name.symlink_to(self.pty.path)
        return self.pty

    def pull(self) -> None:
        self.name.unlink(missing_ok=True)
        if self.pty is not None:
            self.pty.hang_up()

    @property
    def link(self) -> LinkState:
        return self.supervisor.state()["shoe"].link

    @property
    def sentence(self) -> str:
        return self.supervisor.state()["shoe"].sentence or ""

    async def connect(self, pty: PtyEnd, boot: str) -> None:
        await pty.read_until(b"hello")
        pty.write(f"up {boot}\n".encode())
        await until(lambda: self.link is LinkState.UP)


@pytest.fixture
def shoe(tmp_path: Path) -> Iterator[Shoe]:
    shoe = Shoe(tmp_path)
    yield shoe
    shoe.pull()


async def stop(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()


async def test_a_shoe_is_waited_for_pulled_and_plugged_in_again(shoe: Shoe) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with capture_logs() as lines:
        task = asyncio.create_task(shoe.supervisor.run())
        await until(lambda: shoe.supervisor.state()["shoe"].tries > 5)
        assert f"there is no device at {shoe.name}: plug it in" in shoe.sentence
        for boot in ("A", "B", "C"):
            pty = shoe.plug()
            await shoe.connect(pty, boot)
            pty.write(b"\xff\x00junk\nfact 1\n")
            await until(lambda: isinstance(shoe.told[-1], NumberedFact))
            shoe.supervisor.send("shoe", Command(id=len(shoe.told), kind=CommandKind.LOCK))
            await pty.read_until(b"lock\n")
            shoe.pull()
            await until(lambda: isinstance(shoe.told[-1], LinkDown))
        await stop(task)
    kinds = [type(report) for report in shoe.told]
    assert kinds == [LinkUp, NumberedFact, CommandReport, LinkDown] * 3
    assert {r.outcome for r in shoe.told if isinstance(r, CommandReport)} == {Outcome.UNKNOWN}
    assert [r.boot for r in shoe.told if isinstance(r, NumberedFact)] == ["A", "B", "C"]
    assert shoe.supervisor.state()["shoe"].counters == {"junk": 3}
    assert len(os.listdir("/proc/self/fd")) == before
    told = [line.get("sentence", "") for line in lines if line.get("device") == "shoe"]
    waiting = [event for event in told if "there is no device" in event]
    assert 1 <= len(waiting) <= 4
    assert told[0] == waiting[0]


async def test_f01_a_held_port_is_named_and_taken_once_it_is_free(shoe: Shoe) -> None:
    pty = shoe.plug()
    hold = "import os, sys; os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY); print('held', flush=True); sys.stdin.read()"
    other = await asyncio.create_subprocess_exec(sys.executable, "-c", hold, pty.path, stdin=PIPE, stdout=PIPE)
    assert other.stdout is not None
    assert await other.stdout.readline() == b"held\n"
    task = asyncio.create_task(shoe.supervisor.run())
    await until(lambda: shoe.link is LinkState.WAITING)
    assert f"{shoe.name} is held by process {other.pid} (" in shoe.sentence
    await other.communicate(b"")
    await shoe.connect(pty, "A")
    await stop(task)
    assert [type(report) for report in shoe.told] == [LinkUp]
    assert len([fd for fd in os.listdir("/proc/self/fd") if _leads_to(fd, pty.path)]) == 1


async def test_a_pulled_shoe_does_not_keep_the_loop_busy(shoe: Shoe) -> None:
    pty = shoe.plug()
    task = asyncio.create_task(shoe.supervisor.run())
    await shoe.connect(pty, "A")
    shoe.pull()
    await until(lambda: isinstance(shoe.told[-1], LinkDown))
    tries = shoe.supervisor.state()["shoe"].tries
    selector = asyncio.get_running_loop()._selector  # type: ignore[attr-defined]
    wakeups = 0
    select = selector.select

    def counting(timeout: float | None = None) -> object:
        nonlocal wakeups
        wakeups += 1
        return select(timeout)

    selector.select = counting
    await asyncio.sleep(0.3)
    tries = shoe.supervisor.state()["shoe"].tries - tries
    selector.select = select
    assert wakeups <= 20 + 20 * tries
    await stop(task)


def _leads_to(fd: str, path: str) -> bool:
    try:
        return os.readlink(f"/proc/self/fd/{fd}") == path
    except FileNotFoundError:
        return False
