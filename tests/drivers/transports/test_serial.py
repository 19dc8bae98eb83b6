import asyncio
import errno
import fcntl
import os
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import serial
from pytest_mock import MockerFixture

from drivers.errors import LinkError, LinkLost, PortForbidden, PortHeld, PortMissing, PortUnusable
from drivers.transports import serial as serial_module
from drivers.transports.aside import stuck
from drivers.transports.holders import other_holders
from drivers.transports.transport import Transport, open_transport
from tests.drivers.transports.pty_end import Host, PtyEnd, until

pytestmark = pytest.mark.real


@pytest.fixture
def pty() -> Iterator[PtyEnd]:
    end = PtyEnd()
    yield end
    end.hang_up()


@pytest.fixture
def host() -> Host:
    return Host()


async def opened(port: str, host: Host) -> Transport:
    return await open_transport(port, host.on_data, host.on_lost)


def open_fds() -> set[str]:
    found = set()
    for fd in os.listdir("/proc/self/fd"):
        try:
            found.add(f"{fd} {os.readlink(f'/proc/self/fd/{fd}')}")
        except FileNotFoundError:
            continue
    return found


def fds_on(path: str) -> int:
    return sum(entry.endswith(f" {path}") for entry in open_fds())


async def test_every_byte_passes_unchanged_in_both_directions(pty: PtyEnd, host: Host) -> None:
    everything = bytes(range(256)) * 3
    transport = await opened(pty.port, host)
    pty.write(everything)
    transport.write(everything)
    await pty.read_until(everything)
    await until(lambda: len(host.data) >= len(everything))
    assert host.data == everything
    await transport.close()


async def test_a_cooked_line_is_made_raw_and_nothing_is_echoed(pty: PtyEnd, host: Host) -> None:
    settings = termios.tcgetattr(pty.slave)
    settings[0] |= termios.ICRNL | termios.IXON | termios.BRKINT
    settings[1] |= termios.OPOST | termios.ONLCR
    settings[3] |= termios.ECHO | termios.ICANON | termios.ISIG
    termios.tcsetattr(pty.slave, termios.TCSANOW, settings)
    transport = await opened(f"{pty.port}@9600,hupcl=off", host)
    pty.write(b"\r\x03\x13junk without a newline")
    await until(lambda: host.data == b"\r\x03\x13junk without a newline")
    assert pty.read() == b""
    after = termios.tcgetattr(pty.slave)
    assert after[4] == termios.B9600
    assert not after[0] & termios.BRKINT
    assert not after[2] & termios.HUPCL
    await transport.close()


async def test_modem_lines_are_set_before_the_line_is_open(pty: PtyEnd, host: Host, mocker: MockerFixture) -> None:
    seen = mocker.patch.object(serial.Serial, "_update_dtr_state", autospec=True)
    await (await opened(f"{pty.port},dtr=off,rts=off", host)).close()
    line = seen.call_args.args[0]
    assert (line.dtr, line.rts) == (False, False)


async def test_a_hang_up_is_told_once_after_the_port_is_let_go(pty: PtyEnd) -> None:
    told: list[tuple[LinkError, int]] = []
    before = open_fds()
    path = pty.path

    class Late(Host):
        def on_lost(self, error: LinkError) -> None:
            told.append((error, sum(path in entry for entry in open_fds())))

    host = Late()
    transport = await opened(pty.port, host)
    pty.write(b"last words")
    await until(lambda: host.data == b"last words")
    pty.hang_up()
    await until(lambda: bool(told))
    transport.write(b"nobody is there")
    await transport.close()
    assert len(told) == 1
    error, still_open = told[0]
    assert isinstance(error, LinkLost)
    assert str(error).startswith(f"the connection at {path} ended (the line was hung up): check the cable")
    assert still_open == 0
    assert open_fds() <= before


async def test_a_hung_up_line_wakes_nobody(pty: PtyEnd, host: Host, mocker: MockerFixture) -> None:
    transport = await opened(pty.port, host)
    reads = mocker.spy(os, "read")
    release = threading.Event()
    close = serial.Serial.close
    mocker.patch.object(serial.Serial, "close", autospec=True, side_effect=lambda line: (release.wait(10), close(line)))
    pty.hang_up()
    await until(lambda: reads.call_count > 0)
    for _ in range(200):  # the descriptor is still open, and readable for ever
        await asyncio.sleep(0)
    await asyncio.sleep(0.05)
    assert fds_on(f"{pty.path}") + fds_on(f"{pty.path} (deleted)") >= 1
    assert reads.call_count == 1
    assert host.lost == []
    release.set()
    await until(lambda: len(host.lost) == 1)
    await transport.close()


@pytest.mark.parametrize("code", [errno.EIO, errno.ENXIO, errno.ENODEV])
@pytest.mark.parametrize("call", ["read", "write"])
async def test_each_way_a_device_goes_away_is_one_loss(
    pty: PtyEnd, host: Host, mocker: MockerFixture, call: str, code: int
) -> None:
    transport = await opened(pty.port, host)
    pty.write(b"x")
    mocker.patch.object(os, call, side_effect=OSError(code, os.strerror(code)))
    transport.write(b"x")
    transport.write(b"y")
    await until(lambda: bool(host.lost))
    mocker.stopall()
    await transport.close()
    assert len(host.lost) == 1
    assert os.strerror(code).lower() in str(host.lost[0])
    assert fds_on(pty.path) == 1


async def test_nothing_there_yet_is_no_hang_up(pty: PtyEnd, host: Host) -> None:
    transport = await opened(pty.port, host)
    transport._readable()  # type: ignore[attr-defined]
    assert host.lost == []
    pty.write(b"here")
    await until(lambda: host.data == b"here")
    await transport.close()


async def test_a_slow_reader_gets_everything_in_order(pty: PtyEnd, host: Host) -> None:
    """A pty takes about 19 kB; the rest waits here until the far end reads on."""
    transport = await opened(pty.port, host)
    sent = b"".join(number.to_bytes(4, "big") for number in range(25_000))
    for start in range(0, len(sent), 1_000):
        transport.write(sent[start : start + 1_000])
    got = bytearray()

    def all_there() -> bool:
        got.extend(pty.read())
        return len(got) >= len(sent)

    await until(all_there)
    assert bytes(got) == sent
    assert host.lost == []
    transport.write(b"and on")
    await pty.read_until(b"and on")
    await transport.close()


async def test_a_device_that_takes_nothing_is_given_up_with_a_sentence(pty: PtyEnd, host: Host) -> None:
    transport = await opened(pty.port, host)
    for _ in range(30):
        transport.write(bytes(10_000))
    await until(lambda: bool(host.lost))
    assert len(host.lost) == 1
    assert "bytes wait because the device takes none" in str(host.lost[0])
    await transport.close()
    assert fds_on(pty.path) == 1


async def test_a_closed_transport_says_nothing_more(pty: PtyEnd, host: Host) -> None:
    transport = await opened(pty.port, host)
    pty.write(b"for nobody")
    await transport.close()
    transport.write(b"neither")
    await transport.close()
    await asyncio.sleep(0)
    assert (host.data, host.lost, pty.read()) == (b"", [], b"")


async def test_many_openings_leak_nothing(pty: PtyEnd, host: Host) -> None:
    await (await opened(pty.port, host)).close()
    before, threads = open_fds(), threading.active_count()
    for number in range(300):
        transport = await opened(pty.port, host)
        if number % 3 == 0:
            pty.write(b"x")
        await transport.close()
    await until(lambda: threading.active_count() <= threads)
    assert open_fds() <= before
    assert host.lost == []


async def test_failed_openings_leak_nothing(pty: PtyEnd, host: Host, mocker: MockerFixture) -> None:
    before = open_fds()
    for step in ("tcgetattr", "tcsetattr"):
        for failing_call in (1, 2):
            calls = 0
            real = getattr(termios, step)

            def fail(*arguments: object, real=real, failing_call=failing_call) -> object:  # type: ignore[no-untyped-def]
                nonlocal calls
                calls += 1
                if calls == failing_call:
                    raise termios.error(errno.EIO, "Input/output error")
                return real(*arguments)

            mocker.patch.object(termios, step, fail)
            with pytest.raises(PortUnusable, match="input/output error"):
                await opened(pty.port, host)
            mocker.stopall()
    for step in ("_set_line", "other_holders"):
        mocker.patch.object(serial_module, step, side_effect=OSError(errno.EMFILE, "Too many open files"))
        with pytest.raises(PortUnusable, match="too many open files"):
            await opened(pty.port, host)
        mocker.stopall()
    assert open_fds() <= before
    await (await opened(pty.port, host)).close()


async def test_a_port_that_this_process_holds_is_named(pty: PtyEnd, host: Host) -> None:
    transport = await opened(pty.port, host)
    with pytest.raises(PortHeld, match=rf"{pty.path} is held by "):
        await opened(pty.port, host)
    await transport.close()
    await (await opened(pty.port, host)).close()


HOLD = (
    "import fcntl, os, sys; fd = os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY); "
    "{lock}print('held', flush=True); sys.stdin.read()"
)


@pytest.mark.parametrize("lock", ["fcntl.flock(fd, fcntl.LOCK_EX); ", "", "other = os.openpty(); "])
async def test_another_reader_is_named_locking_or_not(pty: PtyEnd, host: Host, lock: str) -> None:
    command = [sys.executable, "-c", HOLD.format(lock=lock), pty.path]
    other = await asyncio.create_subprocess_exec(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdout is not None
    assert await other.stdout.readline() == b"held\n"
    with pytest.raises(PortHeld) as caught:
        await opened(pty.port, host)
    await other.communicate(b"")
    assert f"{pty.path} is held by process {other.pid} ({sys.executable} -c import fcntl" in str(caught.value)
    assert str(caught.value).endswith("end it, or take the port out of its configuration")
    await (await opened(pty.port, host)).close()


async def test_a_locked_port_whose_holder_is_hidden_says_so(pty: PtyEnd, host: Host, mocker: MockerFixture) -> None:
    transport = await opened(pty.port, host)
    mocker.patch.object(serial_module, "other_holders", return_value=())
    with pytest.raises(PortHeld, match=rf'a process this user cannot see \(as root: "fuser -v {pty.path}"\)'):
        await opened(pty.port, host)
    await transport.close()


async def test_a_reader_that_comes_in_between_is_found_after_opening(
    pty: PtyEnd, host: Host, mocker: MockerFixture
) -> None:
    holder = other_holders(os.stat("/dev/null"), None)
    assert holder, "somebody always has /dev/null open"
    mocker.patch.object(serial_module, "other_holders", side_effect=[(), holder])
    with pytest.raises(PortHeld):
        await opened(pty.port, host)
    assert fds_on(pty.path) == 1


async def test_a_pty_is_not_left_exclusive_for_the_next_user(pty: PtyEnd, host: Host, mocker: MockerFixture) -> None:
    calls = mocker.spy(fcntl, "ioctl")
    await (await opened(pty.port, host)).close()
    assert termios.TIOCEXCL not in [call.args[1] for call in calls.call_args_list]


async def test_a_real_line_is_exclusive_and_let_go_again(pty: PtyEnd, host: Host, mocker: MockerFixture) -> None:
    mocker.patch.object(serial_module, "is_pty", return_value=False)
    calls = mocker.spy(fcntl, "ioctl")
    transport = await opened(pty.port, host)
    assert termios.TIOCEXCL in [call.args[1] for call in calls.call_args_list]
    await transport.close()
    assert calls.call_args_list[-1].args[1] == termios.TIOCNXCL


@pytest.mark.parametrize(
    ("path", "error", "words"),
    [
        ("/dev/no-such-port", PortMissing, "there is no device at /dev/no-such-port: plug it in"),
        ("/dev/null/x", PortMissing, "there is no device"),
        ("/dev/full", PortUnusable, "(inappropriate ioctl for device)"),
        ("/dev", PortUnusable, "is no device"),
        ("/etc/passwd", PortUnusable, "is no device"),
    ],
)
async def test_what_is_no_serial_line_is_told_so(host: Host, path: str, error: type[LinkError], words: str) -> None:
    with pytest.raises(error) as caught:
        await opened(f"serial:{path}", host)
    assert words in str(caught.value)
    assert "configuration" in str(caught.value)


async def test_a_forbidden_port_names_the_group(pty: PtyEnd, host: Host, mocker: MockerFixture) -> None:
    mocker.patch.object(serial.Serial, "open", side_effect=serial.SerialException(errno.EACCES, "no"))
    mocker.patch.object(os, "getgroups", return_value=[])
    mocker.patch.object(os, "getegid", return_value=65_534)
    with pytest.raises(PortForbidden, match=r"belongs to the group \w+ \(mode 0\d\d\d\): add the user to the group"):
        await opened(pty.port, host)


async def test_an_open_that_hangs_is_given_up_and_not_tried_on_top_of(
    pty: PtyEnd, host: Host, mocker: MockerFixture
) -> None:
    release = threading.Event()
    real = serial.Serial.open
    mocker.patch.object(serial.Serial, "open", autospec=True, side_effect=lambda line: (release.wait(30), real(line)))
    mocker.patch.object(serial_module, "OPEN_TIMEOUT_S", 0.05)
    with pytest.raises(PortUnusable, match="did not open within"):
        await opened(pty.port, host)
    threads = threading.active_count()
    with pytest.raises(PortUnusable, match="still hangs in an earlier call"):
        await opened(pty.port, host)
    assert threading.active_count() == threads
    release.set()
    await until(lambda: threading.active_count() < threads and fds_on(pty.path) == 1)


async def test_a_close_that_hangs_does_not_hold_the_caller(pty: PtyEnd, host: Host, mocker: MockerFixture) -> None:
    transport = await opened(pty.port, host)
    release = threading.Event()
    real = serial.Serial.close
    mocker.patch.object(serial.Serial, "close", autospec=True, side_effect=lambda line: (release.wait(30), real(line)))
    mocker.patch.object(serial_module, "CLOSE_TIMEOUT_S", 0.05)
    await transport.close()
    with pytest.raises(PortUnusable, match="still hangs in an earlier call"):
        await opened(pty.port, host)
    release.set()
    await until(lambda: fds_on(pty.path) == 1)
    mocker.stopall()
    await until(lambda: not stuck(pty.path))
    await (await opened(pty.port, host)).close()


async def test_a_cancelled_opening_leaves_nothing_open(pty: PtyEnd, host: Host, mocker: MockerFixture) -> None:
    entered, release = threading.Event(), threading.Event()
    real = serial.Serial.open

    def slow(line: serial.Serial) -> None:
        entered.set()
        release.wait(30)
        real(line)

    mocker.patch.object(serial.Serial, "open", slow)
    task = asyncio.create_task(opened(pty.port, host))
    await until(entered.is_set)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    release.set()
    await until(lambda: not stuck(pty.path) and fds_on(pty.path) == 1)


def test_the_node_is_gone_after_a_hang_up(pty: PtyEnd) -> None:
    """What the tests above stand on."""
    pty.hang_up()
    assert not Path(pty.path).exists()
