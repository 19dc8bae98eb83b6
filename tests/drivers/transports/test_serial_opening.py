import asyncio
import errno
import fcntl
import os
import termios
import threading
from pathlib import Path

import pytest
import serial
from pytest_mock import MockerFixture

from drivers.errors import LinkError, PortHeld, PortMissing, PortUnusable
from drivers.transports import serial as serial_module
from drivers.transports.port_users import other_holders
from drivers.transports.run_blocking import stuck
from tests.drivers.transports.ends.pty_end import Host, PtyEnd, fds_on, open_fds, opened, until

pytestmark = pytest.mark.real


async def test_f12_failed_openings_leak_nothing(pty: PtyEnd, host: Host, mocker: MockerFixture) -> None:
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


async def test_f07_a_reader_that_comes_in_between_is_found_after_opening(
    pty: PtyEnd, host: Host, mocker: MockerFixture
) -> None:
    holder = other_holders(os.stat("/dev/null"), None)
    assert holder, "somebody always has /dev/null open"
    mocker.patch.object(serial_module, "other_holders", side_effect=[(), holder])
    with pytest.raises(PortHeld):
        await opened(pty.port, host)
    assert fds_on(pty.path) == 1


async def test_f66_a_pty_is_not_left_exclusive_for_the_next_user(
    pty: PtyEnd, host: Host, mocker: MockerFixture
) -> None:
    calls = mocker.spy(fcntl, "ioctl")
    await (await opened(pty.port, host)).close()
    assert termios.TIOCEXCL not in [call.args[1] for call in calls.call_args_list]


async def test_f07_a_real_line_is_exclusive_and_let_go_again(pty: PtyEnd, host: Host, mocker: MockerFixture) -> None:
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
        ("/dev/zero", PortUnusable, "(inappropriate ioctl for device)"),
        ("/dev", PortUnusable, "is no device"),
        ("/etc/passwd", PortUnusable, "is no device"),
    ],
)
async def test_what_is_no_serial_line_is_told_so(host: Host, path: str, error: type[LinkError], words: str) -> None:
    with pytest.raises(error) as caught:
        await opened(f"serial:{path}", host)
    assert words in str(caught.value)
    assert "configuration" in str(caught.value)


async def test_f10_an_open_that_hangs_is_given_up_and_not_tried_on_top_of(
    pty: PtyEnd, host: Host, mocker: MockerFixture
) -> None:
    release = threading.Event()
    real = serial.Serial.open
    mocker.patch.object(serial.Serial, "open", autospec=True, side_effect=lambda line: (release.wait(30), real(line)))
    mocker.patch.object(serial_module, "OPEN_TIMEOUT_S", 0.05)
    with pytest.raises(PortUnusable, match="did not open within"):
        await opened(pty.port, host)
    threads = set(threading.enumerate())
    with pytest.raises(PortUnusable, match="still hangs in an earlier call"):
        await opened(pty.port, host)
    assert set(threading.enumerate()) <= threads
    release.set()
    await until(lambda: set(threading.enumerate()) < threads and fds_on(pty.path) == 1)


async def test_f10_a_close_that_hangs_does_not_hold_the_caller(pty: PtyEnd, host: Host, mocker: MockerFixture) -> None:
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
