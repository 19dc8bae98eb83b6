"""The key of a paired device: from its file to the driver, and to nobody else."""

import asyncio
import os
import signal
from pathlib import Path

import pytest
from pytest_mock import MockerFixture
from structlog.testing import capture_logs

from drivers.driver import Alarm, DeviceKind, Resume, Step
from drivers.transports.null_modem import null_modem
from drivers.transports.transport import OnData, OnLost, Transport
from firmware_bridge.config import DeviceConfig
from firmware_bridge.devices.device_keys import device_key, place_for_key
from firmware_bridge.devices.supervisor import Supervisor
from firmware_bridge.secret_files import KeyFileError
from tests.firmware_bridge.devices.ends.line_driver import LineDriver

KEY = bytes(range(32))


def shoe(key: Path | None) -> DeviceConfig:
    return DeviceConfig(
        name="shoe",
        kind=DeviceKind.SHOE,
        driver="words",
        port="serial:/dev/words",
        key=None if key is None else str(key),
    )


def write_device_key(file: Path, key: bytes) -> None:
    with place_for_key(file) as keep:
        keep(key)


def test_a_key_is_written_for_the_owner_alone_and_read_again(tmp_path: Path) -> None:
    file = tmp_path / "shoe.key"
    write_device_key(file, bytes(32))
    write_device_key(file, KEY)
    assert file.stat().st_mode & 0o777 == 0o600
    assert device_key(shoe(file)) == KEY
    assert device_key(shoe(None)) is None
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o666])
def test_a_key_file_open_to_others_is_refused_in_a_sentence(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "shoe.key"
    write_device_key(file, KEY)
    file.chmod(mode)
    with pytest.raises(KeyFileError, match=rf"mode {mode:04o}.*chmod 600 {file}"):
        device_key(shoe(file))


def test_a_service_s_credential_may_show_the_mask_of_its_access_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "shoe.key"
    write_device_key(file, KEY)
    file.chmod(0o440)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    assert device_key(shoe(file)) == KEY
    file.chmod(0o444)
    with pytest.raises(KeyFileError, match="mode 0444"):
        device_key(shoe(file))


def test_a_missing_key_says_how_to_pair(tmp_path: Path) -> None:
    with pytest.raises(KeyFileError, match=r"no such file: pair it \(firmware-bridge pair shoe\)"):
        device_key(shoe(tmp_path / "shoe.key"))


@pytest.mark.parametrize("name", ["pipe", "folder", "loop", "dangling", "k" * 300])
def test_what_cannot_hold_a_key_is_told_at_once(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    os.mkfifo(tmp_path / "pipe", 0o600)
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dangling").symlink_to("nothing")
    told = "no such file: pair it" if name == "dangling" else "is no file|cannot be read: "
    with pytest.raises(KeyFileError, match=told):
        device_key(shoe(file))


@pytest.mark.parametrize("name", ["pipe", "folder", "loop", "k" * 300, "gone/key", "letter"])
def test_a_place_that_is_not_for_a_key_stays_as_it_is(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "letter").write_text("Dear host,\n")
    before = {entry: entry.lstat() for entry in tmp_path.iterdir()}
    entered = False
    with pytest.raises(KeyFileError), place_for_key(tmp_path / name):
        entered = True
    assert not entered
    assert {entry: entry.lstat() for entry in tmp_path.iterdir()} == before


def test_a_link_goes_on_leading_to_the_key(tmp_path: Path) -> None:
    for name in ("there.key", "not yet there.key"):
        (tmp_path / "shoe.key").symlink_to(name)
        write_device_key(tmp_path / "shoe.key", KEY)
        assert device_key(shoe(tmp_path / name)) == KEY
        assert device_key(shoe(tmp_path / "shoe.key")) == KEY
        (tmp_path / "shoe.key").unlink()


def test_a_pairing_that_was_killed_leaves_no_obstacle(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        try:
            with place_for_key(tmp_path / "shoe.key"):
                os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    os.waitpid(child, 0)
    left = list(tmp_path.iterdir())
    assert [file.name for file in left] == ["shoe.key.new"]
    assert not any(bytes.fromhex(left[0].read_text()))
    write_device_key(tmp_path / "shoe.key", KEY)
    assert [file.name for file in tmp_path.iterdir()] == ["shoe.key"]


def test_two_pairings_for_one_key_do_not_meet(tmp_path: Path) -> None:
    file = tmp_path / "shoe.key"
    with place_for_key(file) as keep:
        for _ in range(2):
            with pytest.raises(KeyFileError, match="is being made already"), place_for_key(file):
                raise AssertionError("two devices would have been given a key for one place")
        keep(KEY)
    assert device_key(shoe(file)) == KEY


def test_a_place_that_was_not_needed_is_given_up(tmp_path: Path) -> None:
    file = tmp_path / "shoe.key"
    file.touch(0o600)  # as a disk that was full, or a plug that was pulled, leaves it
    with place_for_key(file):
        (room,) = set(tmp_path.iterdir()) - {file}
        assert room.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_holds_no_key_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "shoe.key"
    file.touch(0o600)
    file.write_text("6b" * 31)
    with pytest.raises(KeyFileError, match="does not hold 64 hex digits"):
        device_key(shoe(file))


def test_a_key_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, mocker: MockerFixture) -> None:
    file = tmp_path / "shoe.key"
    write_device_key(file, KEY)
    full = OSError(28, "No space left on device")
    mocker.patch("os.fsync", side_effect=full)
    with pytest.raises(KeyFileError, match="cannot be written: No space"), place_for_key(file):
        raise AssertionError("the device would have been given a key that nobody keeps")
    mocker.patch("os.fsync", side_effect=[None, full])
    with pytest.raises(KeyFileError, match="cannot be written: No space"), place_for_key(file) as keep:
        keep(bytes(32))
    assert device_key(shoe(file)) == KEY
    assert list(tmp_path.iterdir()) == [file]


def test_the_daemon_does_not_begin_with_a_key_it_cannot_use(tmp_path: Path) -> None:
    with pytest.raises(KeyFileError, match="pair it"):
        Supervisor(
            [shoe(tmp_path / "gone")], lambda: 0, lambda *_: None, lambda _: None, new_driver=lambda _: LineDriver()
        )


class KeyedDriver(LineDriver):
    def __init__(self, given: asyncio.Queue[bytes | None]) -> None:
        super().__init__()
        self._given = given

    def opened(self, *, nonce: bytes, key: bytes | None, resume: Resume | None, now_ms: int) -> Step:
        self._given.put_nowait(key)
        return Step()


@pytest.mark.parametrize("paired", [True, False])
async def test_every_connection_s_driver_is_given_the_key(tmp_path: Path, paired: bool) -> None:  # noqa: FBT001
    file = tmp_path / "shoe.key"
    write_device_key(file, KEY)
    given: asyncio.Queue[bytes | None] = asyncio.Queue()

    async def open_port(port_text: str, on_data: OnData, on_lost: OnLost) -> Transport:
        near, _ = null_modem()
        return near.attach(on_data, on_lost)

    supervisor = Supervisor(
        [shoe(file if paired else None)],
        lambda: 0,
        lambda *_: None,
        lambda _: None,
        open_port=open_port,
        new_driver=lambda _: KeyedDriver(given),
    )
    running = asyncio.create_task(supervisor.run())
    async with asyncio.timeout(5):
        assert await given.get() == (KEY if paired else None)
    running.cancel()
    await asyncio.wait([running])


class AlarmedDriver(LineDriver):
    def opened(self, *, nonce: bytes, key: bytes | None, resume: Resume | None, now_ms: int) -> Step:
        return Step(reports=(Alarm("An old frame came again: check the cable."),))


async def test_an_alarm_is_logged_and_told_on_while_the_link_goes_on() -> None:
    told: asyncio.Queue[object] = asyncio.Queue()

    async def open_port(port_text: str, on_data: OnData, on_lost: OnLost) -> Transport:
        near, _ = null_modem()
        return near.attach(on_data, on_lost)

    supervisor = Supervisor(
        [shoe(None)],
        lambda: 0,
        lambda _, report: told.put_nowait(report),
        lambda _: None,
        open_port=open_port,
        new_driver=lambda _: AlarmedDriver(),
    )
    with capture_logs() as logs:
        running = asyncio.create_task(supervisor.run())
        async with asyncio.timeout(5):
            assert isinstance(await told.get(), Alarm)
        assert supervisor.state()["shoe"].alarm == "An old frame came again: check the cable."
        running.cancel()
        await asyncio.wait([running])
    assert [line["log_level"] for line in logs if "old frame" in line.get("sentence", "")] == ["warning"]
    assert supervisor.state()["shoe"].losses == 0
