import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from drivers.driver import Claims, DeviceKind
from drivers.tdp.host.pairing import Paired
from firmware_bridge.cli.table_pc.pair import pair_device
from firmware_bridge.config import DeviceConfig
from firmware_bridge.devices.link import LinkState
from firmware_bridge.devices.supervisor import Supervisor
from firmware_bridge.doctor.unit import Unit
from simulator.firmware.device import Firmware
from simulator.firmware.device_auth import DeviceAuth
from simulator.firmware.identity import Identity
from simulator.wires.pty import PtyPort
from tests.drivers.tdp.wire import Machine
from tests.drivers.transports.ends.pty_end import until

CONFIG = """\
[table]
name = "bench"
deal = "rotation"
decks = 1
seats = 3
sensors = false

[house]
file = "licensed"

[journal]
file = "table.journal"
key = "table.key"

[sockets]
control = "c.sock"
feed = "f.sock"

[[device]]
name = "shoe"
kind = "shoe"
driver = "tdp"
port = "serial:{port}"
key = "shoe.key"
"""


def now_ms() -> int:
    return int(asyncio.get_running_loop().time() * 1000)


class Bench:
    """A shoe on a pty, and a person who confirms at the device as soon as it shows digits."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.guard = DeviceAuth(os.urandom)
        self.firmware = Firmware(Identity(DeviceKind.SHOE, "S-1", b"boot---1", 1, 5000), Machine(), self.guard)
        self.port = PtyPort(folder / "port", self._from_host)
        self.port.plug()
        self.config = folder / "table.toml"
        self.config.write_text(CONFIG.format(port=self.port.path))
        self.confirms = True
        self.shown: str | None = None
        self._ticking = asyncio.create_task(self._tick())

    async def close(self) -> None:
        self._ticking.cancel()
        self.port.pull()

    async def pair(self, *options: str, typed: str = "") -> tuple[int, str, str]:
        """Status, stdout and stderr of the command."""
        self.firmware.pairing.enter(now_ms())
        return await self.command(*options, typed=typed)

    async def command(self, *options: str, typed: str = "") -> tuple[int, str, str]:
        return await self.started(
            str(Path(sys.executable).with_name("firmware-bridge")),
            *("pair", "shoe", "--config", str(self.config), *options),
            typed=typed.encode(),
        )

    async def started(self, *command: str, typed: bytes) -> tuple[int, str, str]:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(60):
            out, err = await process.communicate(typed)
        assert process.returncode is not None
        return process.returncode, out.decode(), err.decode()

    async def daemon_link(self, key: Path | None) -> LinkState:
        """What the daemon's link to the device comes to, with that key file."""
        device = DeviceConfig(
            name="shoe",
            kind=DeviceKind.SHOE,
            driver="tdp",
            port=f"serial:{self.port.path}",
            key=None if key is None else str(key),
        )

        supervisor = Supervisor([device], now_ms, lambda *_: None, lambda _: None)
        running = asyncio.create_task(supervisor.run())
        await until(lambda: supervisor.state()["shoe"].link in (LinkState.UP, LinkState.REFUSED))
        link = supervisor.state()["shoe"].link
        running.cancel()
        await asyncio.wait([running])
        return link

    def _from_host(self, data: bytes) -> None:
        self.port.write(self.firmware.receive(data, now_ms()))
        self.shown = self.firmware.pairing.fingerprint or self.shown
        if self.confirms and self.firmware.pairing.fingerprint is not None:
            self.port.write(self.firmware.tell(self.firmware.pairing.confirm(), now_ms()))

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(0.01)
            self.port.write(self.firmware.tick(now_ms()))


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    await bench.close()


@pytest.mark.real
async def test_a_person_pairs_and_the_daemon_talks_with_the_key_alone(bench: Bench) -> None:
    status, out, err = await bench.pair(typed="yes\n")
    assert (status, err) == (0, "")
    assert bench.shown is not None
    assert f"{bench.shown[:3]} {bench.shown[3:]}" in out
    assert f"the key of the shoe (Simulated Devices Lookout 52, serial number S-1) is in {bench.folder}" in out
    file = bench.folder / "shoe.key"
    assert file.stat().st_mode & 0o777 == 0o600
    assert bench.guard.key == bytes.fromhex(file.read_text())

    assert await bench.daemon_link(file) is LinkState.UP
    assert await bench.daemon_link(None) is LinkState.REFUSED


@pytest.mark.real
async def test_yes_asks_nobody(bench: Bench) -> None:
    status, out, err = await bench.pair("--yes")
    assert (status, err) == (0, "")
    assert "Paired" in out


@pytest.mark.real
@pytest.mark.parametrize("typed", ["no\n", "", "y\n"])
async def test_anything_but_yes_declines_and_writes_nothing(bench: Bench, typed: str) -> None:
    status, _, err = await bench.pair(typed=typed)
    assert status == 1
    assert err == "firmware-bridge: The digits were not confirmed: nothing has changed, the device was not paired.\n"
    assert not (bench.folder / "shoe.key").exists()
    assert bench.guard.key is None


@pytest.mark.real
@pytest.mark.parametrize(("shell", "typed"), [('exec "$@" <&-', b""), ('exec "$@"', b"\xff\xfe\n")])
async def test_an_input_that_is_not_there_or_no_text_declines(bench: Bench, shell: str, typed: bytes) -> None:
    bench.firmware.pairing.enter(now_ms())
    command = (str(Path(sys.executable).with_name("firmware-bridge")), "pair", "shoe", "--config", str(bench.config))
    status, _, err = await bench.started("sh", "-c", shell, "sh", *command, typed=typed)
    assert status == 1
    assert err == "firmware-bridge: The digits were not confirmed: nothing has changed, the device was not paired.\n"
    assert bench.guard.key is None


@pytest.mark.real
@pytest.mark.parametrize(
    ("before", "after", "status", "words"),
    [
        ("", "", 1, "is not in pairing mode: put it into pairing mode, and try again."),
        ('key = "shoe.key"', "", 2, 'has no key: add a line such as key = "shoe.key"'),
        ('key = "shoe.key"', 'key = "gone/shoe.key"', 1, "shoe.key cannot be written: No such file"),
        ('key = "shoe.key"', 'key = "table.toml"', 1, "table.toml, which holds something else"),
        ('driver = "tdp"', 'driver = "other"', 2, "which knows no pairing"),
        ('name = "shoe"', 'name = "shoe2"', 2, 'there is no device "shoe": name one of shoe2'),
        ("/port", "/nothing", 1, "/nothing"),
    ],
)
async def test_what_hinders_it_is_told_in_a_sentence(
    bench: Bench, before: str, after: str, status: int, words: str
) -> None:
    bench.config.write_text(bench.config.read_text().replace(before, after))
    found, out, err = await bench.command()
    assert (found, out) == (status, "")
    assert words in err
    assert err.count("\n") == 1
    assert bench.guard.key is None


def test_the_key_of_a_service_goes_where_systemd_takes_it_from(tmp_path: Path, mocker: MockerFixture) -> None:
    """The service's own copy is gone while it is stopped, and it has to be stopped for this."""
    given = "/run/credentials/firmware-bridge.service/device-keys_shoe.key"
    config = tmp_path / "table.toml"
    config.write_text(CONFIG.format(port="/dev/x").replace('key = "shoe.key"', f'key = "{given}"'))
    unit = Unit("/usr/lib/systemd/system/firmware-bridge.service", "u", "g", (), {"device-keys": str(tmp_path)})
    mocker.patch("firmware_bridge.cli.table_pc.pair.installed_unit", return_value=unit)
    claims = Claims(
        kind="shoe",
        vendor="V",
        model="M",
        serial_number="1",
        firmware_version="1",
        firmware_hash="",
        protocol="TDP 1.0",
    )
    mocker.patch("firmware_bridge.cli.table_pc.pair.pair", return_value=Paired(bytes(range(32)), claims))
    pair_device("shoe", config, yes=True)
    assert (tmp_path / "shoe.key").read_text() == f"{bytes(range(32)).hex()}\n"
