import asyncio
import errno
import fcntl
import os
import termios
import threading
from array import array

import pytest
import serial
from pytest_mock import MockerFixture

from drivers.errors import LinkError, LinkLost
from drivers.transports.transport import Counting
from tests.drivers.transports.ends.pty_end import Host, PtyEnd, fds_on, open_fds, opened, until

pytestmark = pytest.mark.real


async def test_every_byte_passes_unchanged_in_both_directions(pty: PtyEnd, host: Host) -> None:
    everything = bytes(range(256)) * 3
    transport = await opened(pty.port, host)
    pty.write(everything)
    transport.write(everything)
    await pty.read_until(everything)
    await until(lambda: len(host.data) >= len(everything))
    assert host.data == everything
    await transport.close()


async def test_f19_a_cooked_line_is_made_raw_and_nothing_is_echoed(pty: PtyEnd, host: Host) -> None:
    settings = termios.tcgetattr(pty.slave)
    settings[0] |= termios.ICRNL | termios.IXON | termios.BRKINT
    settings[1] |= termios.OPOST | termios.ONLCR
    settings[3] |= termios.ECHO | termios.ICANON | termios.ISIG
    termios.tcsetattr(pty.slave, termios.TCSANOW, settings)
    transport = await opened(f"{pty.port}@9600", host)
    pty.write(b"\r\x03\x13junk without a newline")
    await until(lambda: host.data == b"\r\x03\x13junk without a newline")
    assert pty.read() == b""
    after = termios.tcgetattr(pty.slave)
    assert after[4] == termios.B9600
    assert not after[0] & termios.BRKINT
    await transport.close()


async def test_f17_modem_lines_are_set_before_the_line_is_open(pty: PtyEnd, host: Host, mocker: MockerFixture) -> None:
    seen = mocker.patch.object(serial.Serial, "_update_dtr_state", autospec=True)
    await (await opened(f"{pty.port},dtr=off,rts=off", host)).close()
    line = seen.call_args.args[0]
    assert (line.dtr, line.rts) == (False, False)


@pytest.mark.parametrize(("setting", "drops"), [("", True), (",hupcl=off", False)])
async def test_f17_the_lines_drop_at_the_close_unless_that_is_turned_off(
    pty: PtyEnd,
    host: Host,
    setting: str,
    drops: bool,  # noqa: FBT001
) -> None:
    settings = termios.tcgetattr(pty.slave)
    settings[2] |= termios.HUPCL
    termios.tcsetattr(pty.slave, termios.TCSANOW, settings)
    await (await opened(f"{pty.port}{setting}", host)).close()
    assert bool(termios.tcgetattr(pty.slave)[2] & termios.HUPCL) is drops


async def test_f11_a_hang_up_is_told_once_after_the_port_is_let_go(pty: PtyEnd) -> None:
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


async def test_f09_a_hung_up_line_wakes_nobody(pty: PtyEnd, host: Host, mocker: MockerFixture) -> None:
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
async def test_f09_each_way_a_device_goes_away_is_one_loss(
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


async def test_f66_nothing_there_yet_is_no_hang_up(pty: PtyEnd, host: Host) -> None:
    transport = await opened(pty.port, host)
    transport._readable()  # type: ignore[attr-defined]
    assert host.lost == []
    pty.write(b"here")
    await until(lambda: host.data == b"here")
    await transport.close()


async def test_f24_a_slow_reader_gets_everything_in_order(pty: PtyEnd, host: Host, mocker: MockerFixture) -> None:
    """A pty takes about 19 kB; the rest waits here until the far end reads on, also when it makes room in between."""
    transport = await opened(pty.port, host)
    sent = b"".join(number.to_bytes(4, "big") for number in range(25_000))
    got = bytearray()
    for start in range(0, len(sent), 1_000):
        transport.write(sent[start : start + 1_000])
        if start % 10_000 == 0:
            got.extend(pty.read())

    def all_there() -> bool:
        got.extend(pty.read())
        return len(got) >= len(sent)

    await until(all_there)
    assert bytes(got) == sent
    assert host.lost == []
    transport.write(b"and on")
    await pty.read_until(b"and on")
    writes = mocker.spy(os, "write")
    for _ in range(20):  # nothing waits any more: a line that could be written to wakes nobody
        await asyncio.sleep(0)
    assert writes.call_count == 0
    await transport.close()


async def test_f10_f24_a_device_that_takes_nothing_is_given_up_with_a_sentence(
    pty: PtyEnd, host: Host, mocker: MockerFixture
) -> None:
    """What it did not take is thrown away first: a serial driver would have close() wait for it, half a minute."""
    transport = await opened(pty.port, host)
    line = mocker.Mock()
    for step in ("reset_output_buffer", "close"):
        line.attach_mock(mocker.spy(serial.Serial, step), step)
    for _ in range(30):
        transport.write(bytes(10_000))
    await until(lambda: bool(host.lost))
    assert len(host.lost) == 1
    assert [call[0] for call in line.mock_calls] == ["reset_output_buffer", "close"]
    assert "bytes wait because the device takes none" in str(host.lost[0])
    await transport.close()
    assert fds_on(pty.path) == 1


async def test_f20_what_nobody_read_is_not_heard_by_the_next_opening(pty: PtyEnd, host: Host) -> None:
    await (await opened(pty.port, host)).close()
    pty.write(b"half a fra")
    transport = await opened(pty.port, host)
    pty.write(b"new")
    await until(lambda: host.data.endswith(b"new"))
    assert host.data == b"new"
    await transport.close()


async def test_a_closed_transport_says_nothing_more(pty: PtyEnd, host: Host) -> None:
    transport = await opened(pty.port, host)
    pty.write(b"for nobody")
    await transport.close()
    transport.write(b"neither")
    await transport.close()
    await asyncio.sleep(0)
    assert (host.data, host.lost, pty.read()) == (b"", [], b"")


async def test_f12_many_openings_leak_nothing(pty: PtyEnd, host: Host) -> None:
    await (await opened(pty.port, host)).close()
    before, threads = open_fds(), threading.active_count()
    for number in range(120):
        transport = await opened(pty.port, host)
        if number % 3 == 0:
            pty.write(b"x")
        await transport.close()
    await until(lambda: threading.active_count() <= threads)
    assert open_fds() <= before
    assert host.lost == []


async def test_f24_what_the_lines_driver_lost_is_counted(pty: PtyEnd, host: Host, mocker: MockerFixture) -> None:
    transport = await opened(pty.port, host)
    assert isinstance(transport, Counting)
    assert transport.counters == {}  # a pty counts nothing

    def icount(fd: int, request: int, counts: "array[int]") -> int:
        assert (request, len(counts) * counts.itemsize) == (0x545D, 80)
        counts[5:11] = array("i", [1, 2, 3, 0, 5, 6])
        return 0

    mocker.patch.object(fcntl, "ioctl", icount)
    assert transport.counters == {"line_bad_stop_bits": 2, "line_overruns": 3, "line_buffer_overruns": 6}
    mocker.stopall()
    await transport.close()
    assert transport.counters == {}
