"""Rounds dealt through the service of a real systemd, its devices on this machine's ptys."""

import asyncio
import os
import shutil
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import msgspec
import pytest

from firmware_bridge.core.table_setup import TableSetup
from firmware_bridge.journal.keys import derive_keys
from firmware_bridge.journal.store import Store
from simulator.people.script import JsonObject, Step
from simulator.people.table_session import load_catalogue, table_session
from simulator.proving.bench import START_S, Bench, BenchSession
from simulator.proving.control import ControlClient
from tests.service.container import CONFIG, UNIT, Container, wait_for

pytestmark = [pytest.mark.real, pytest.mark.timeout(300), pytest.mark.xdist_group("nspawn")]

ROUNDS = 2


class ServiceBench(Bench):
    """Its daemon is the service in `container`, hit before the steps of `strikes` by the signals named there."""

    def __init__(self, container: Container, folder: Path, strikes: Mapping[int, str]) -> None:
        setup = TableSetup(deal="group", sensors=True)
        catalogue = msgspec.structs.replace(load_catalogue(), incident_chance=0)
        super().__init__(
            BenchSession("licensed", "licensed", setup, seed=5, pace=0, own_daemon=False), catalogue, folder, self._seen
        )
        self.catalogue = catalogue
        self._container = container
        self._strikes = strikes
        self._steps = 0
        self._incarnation = 0
        self._came_up: dict[str, int] = {}
        for name in ("control.sock", "feed.sock"):
            (folder / name).symlink_to(container.root / "run/firmware-bridge" / name)

    async def play(self, rounds: int) -> None:
        self._hand_over()
        await asyncio.to_thread(self._container.check, "systemctl", "start", UNIT)
        await self.join(START_S)
        drawn = table_session(self.catalogue, "licensed", self.table.equipment, self.streams)
        for written in islice(drawn, rounds):
            await self.perform(self.dealer.play(written))

    def _hand_over(self) -> None:
        """The ptys to the group that udev would give them, and the configuration to the container."""
        group = int(self._container.check("getent", "group", "table-devices").split(":")[2])
        text = self.config.read_text(encoding="utf-8")
        for kind in self._devices:
            pty = (self._folder / kind.value).readlink()
            os.chown(pty, -1, group)
            pty.chmod(0o660)
            text = text.replace(f"serial:{self._folder / kind.value}", f"serial:/dev/host-pts/{pty.name}")
        text = text.replace('"table.journal"', '"/var/lib/firmware-bridge/table.journal"')
        text = text.replace('"table.key"', f'"/run/credentials/{UNIT}/table.key"')
        for name in ("control.sock", "feed.sock"):
            text = text.replace(f'"{name}"', f'"/run/firmware-bridge/{name}"')
        self._container.write(CONFIG, text)

    async def _do(self, step: Step) -> JsonObject:
        self._steps += 1
        if self._steps in self._strikes:
            await self._strike(self._strikes[self._steps])
        return await super()._do(step)

    async def _strike(self, signal: str) -> None:
        await self._control.close()
        seen = self.screen.last_seq
        await asyncio.to_thread(self._strike_and_wait, signal)
        self._incarnation += 1
        self._control = ControlClient(self._folder / "control.sock", f"people-{self._incarnation}-again")
        await self._connect(START_S)
        await self._wait(
            lambda: all(self._came_up.get(kind.value, 0) > seen for kind in self._devices), "the devices to be up again"
        )

    def _seen(self, _: bytes, event: JsonObject) -> None:
        if event["event"] == "device_up":
            self._came_up[event["device"]] = event["seq"]

    def _strike_and_wait(self, signal: str) -> None:
        before = self._container.show("MainPID")
        self._container.check("systemctl", "kill", "--kill-whom=main", f"--signal={signal}", UNIT)

        def another() -> bool | None:
            now = self._container.show("MainPID")
            return True if now not in ("0", before) and self._container.show("ActiveState") == "active" else None

        wait_for(another, "systemd to start the daemon again", 60)


def settled(container: Container, folder: Path) -> list[JsonObject]:
    """How the rounds of the stopped service's journal ended. SQLite cannot open it where it lies: it is copied."""
    for file in (container.root / "var/lib/firmware-bridge").iterdir():
        shutil.copy(file, folder)
    store = Store.open(folder / "table.journal", derive_keys(bytes.fromhex("5a" * 32)), read_only=True)
    try:
        events = [msgspec.json.decode(body) for _, body in store.events_after(0, 100_000)]
    finally:
        store.close()
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    ends = [event for event in events if event["event"] in ("round_settled", "round_void")]
    return [{name: value for name, value in event.items() if name not in ("seq", "at_ms")} for event in ends]


async def undisturbed(container: Container, folder: Path) -> list[JsonObject]:
    async with ServiceBench(container, folder, {}) as bench:
        await bench.play(ROUNDS)
    container.check("systemctl", "stop", UNIT)
    told = settled(container, folder)
    container.check("/bin/sh", "-c", "rm -rf /var/lib/firmware-bridge/*")
    return told


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    undisturbed, struck = tmp_path / "undisturbed", tmp_path / "struck"
    undisturbed.mkdir()
    struck.mkdir()
    return undisturbed, struck


async def test_rounds_go_on_where_the_service_is_killed_and_where_it_hangs(
    container: Container, folders: tuple[Path, Path]
) -> None:
    """Whatever systemd has to do to get it going again, the rounds end as if nobody had noticed."""
    expected = await undisturbed(container, folders[0])
    assert len(expected) == ROUNDS
    container.watchdog(8)
    async with ServiceBench(container, folders[1], {9: "KILL", 16: "STOP"}) as bench:
        await bench.play(ROUNDS)
        assert int(container.show("NRestarts")) == 2, container.journal()
    container.check("systemctl", "stop", UNIT)
    assert settled(container, folders[1]) == expected


async def test_f52_stopped_in_the_middle_of_a_round_it_goes_on_after_the_next_start(
    container: Container, folders: tuple[Path, Path]
) -> None:
    expected = await undisturbed(container, folders[0])
    async with StoppedBench(container, folders[1], {12: "TERM"}) as bench:
        await bench.play(ROUNDS)
    container.check("systemctl", "stop", UNIT)
    assert settled(container, folders[1]) == expected


class StoppedBench(ServiceBench):
    """Stops the service and starts it again instead."""

    def _strike_and_wait(self, signal: str) -> None:
        self._container.check("systemctl", "stop", UNIT)
        assert self._container.show("Result") == "success"
        assert self._container.show("ActiveState") == "inactive"
        self._container.check("systemctl", "start", UNIT)
