"""The line of a terminal server, over loopback."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncIterator

import pytest
from pytest_mock import MockerFixture

from drivers.errors import LinkLost, PortForbidden, PortMissing, PortUnusable
from drivers.transports import tcp
from tests.drivers.transports.ends.pty_end import Host, open_fds, opened, until

pytestmark = pytest.mark.real

NAMED = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 4001)) for address in ("127.0.0.2", "127.0.0.1")]


class TerminalServer:
    def __init__(self) -> None:
        self.connections: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self.server: asyncio.Server | None = None

    @property
    def port(self) -> str:
        assert self.server is not None
        return f"tcp:127.0.0.1:{self.server.sockets[0].getsockname()[1]}"

    async def start(self) -> None:
        self.server = await asyncio.start_server(lambda *ends: self.connections.append(ends), "127.0.0.1", 0)

    async def stop(self) -> None:
        assert self.server is not None
        self.server.close()
        for _, writer in self.connections:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()


@pytest.fixture
async def server() -> AsyncIterator[TerminalServer]:
    server = TerminalServer()
    await server.start()
    yield server
    await server.stop()


async def test_bytes_pass_both_ways_as_they_are(server: TerminalServer, host: Host) -> None:
    transport = await opened(server.port, host)
    await until(lambda: len(server.connections) == 1)
    reader, writer = server.connections[0]
    every = bytes(range(256)) * 400
    transport.write(b"")
    transport.write(every)
    assert await reader.readexactly(len(every)) == every
    writer.write(every)
    await until(lambda: host.data == every)
    await transport.close()
    assert await reader.read() == b""
    await transport.close()
    assert host.lost == []


async def test_f11_a_server_that_hangs_up_is_told_once_when_the_socket_is_closed(
    server: TerminalServer, host: Host
) -> None:
    before = open_fds()
    fds_when_lost: list[set[str]] = []
    host.on_lost = lambda error: (host.lost.append(error), fds_when_lost.append(open_fds()))[0]  # type: ignore[method-assign, func-returns-value]
    transport = await opened(server.port, host)
    await until(lambda: len(server.connections) == 1)
    server_side = server.connections[0][1]
    server_side.close()
    await server_side.wait_closed()
    await until(lambda: bool(host.lost))
    assert len(host.lost) == 1
    assert isinstance(host.lost[0], LinkLost)
    assert "the server hung up" in str(host.lost[0])
    assert fds_when_lost[0] <= before
    transport.write(b"too late")
    await transport.close()
    assert len(host.lost) == 1


async def test_a_reset_is_told_with_its_reason(server: TerminalServer, host: Host) -> None:
    await opened(server.port, host)
    await until(lambda: len(server.connections) == 1)
    server.connections[0][1].transport.abort()
    raw = server.connections[0][1].get_extra_info("socket")
    assert raw is not None
    await until(lambda: bool(host.lost))
    assert "ended (" in str(host.lost[0])


async def test_nothing_is_told_after_a_close(server: TerminalServer, host: Host) -> None:
    transport = await opened(server.port, host)
    await until(lambda: len(server.connections) == 1)
    closing = asyncio.create_task(transport.close())
    server.connections[0][1].write(b"late")
    await closing
    server.connections[0][1].transport.abort()
    await asyncio.sleep(0.01)
    assert (host.data, host.lost) == (b"", [])


async def test_f24_a_server_that_takes_nothing_is_given_up(server: TerminalServer, host: Host) -> None:
    transport = await opened(server.port, host)
    await until(lambda: len(server.connections) == 1)
    server.connections[0][1].transport.pause_reading()  # type: ignore[attr-defined]
    written = 0
    while not host.lost and written < 2**26:
        transport.write(bytes(65_536))
        written += 65_536
        await asyncio.sleep(0)
    await until(lambda: bool(host.lost))
    assert "bytes wait because the server takes none" in str(host.lost[0])


async def test_a_silent_power_cut_is_noticed_by_the_kernel(server: TerminalServer, host: Host) -> None:
    transport = await opened(server.port, host)
    assert isinstance(transport, tcp.TcpTransport)
    assert transport._transport is not None
    connection = transport._transport.get_extra_info("socket")
    assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
    idle = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE)
    tries = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT)
    assert idle + tries * connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL) <= 15
    await transport.close()


async def test_a_port_where_nothing_listens_is_missing(server: TerminalServer, host: Host) -> None:
    port = server.port
    await server.stop()
    with pytest.raises(PortMissing, match=r"nothing listens at 127\.0\.0\.1:"):
        await opened(port, host)


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (PermissionError(13, "Permission denied"), PortForbidden, "may not connect to moxa:4001"),
        (OSError(113, "No route to host"), PortUnusable, "cannot be reached"),
    ],
)
async def test_whatever_keeps_a_connection_from_being_made_is_a_sentence(
    host: Host, mocker: MockerFixture, error: OSError, kind: type[Exception], words: str
) -> None:
    mocker.patch.object(socket, "getaddrinfo", return_value=NAMED)
    mocker.patch.object(asyncio.get_running_loop(), "create_connection", side_effect=error)
    with pytest.raises(kind, match=words):
        await opened("tcp:moxa:4001", host)


@pytest.mark.parametrize("name", ["moxa", "a" * 70, "a..b"])
async def test_a_name_that_leads_nowhere_is_missing(host: Host, mocker: MockerFixture, name: str) -> None:
    if name == "moxa":
        mocker.patch.object(socket, "getaddrinfo", side_effect=socket.gaierror(-2, "Name or service not known"))
    with pytest.raises(PortMissing, match="leads to no address"):
        await opened(f"tcp:{name}:4001", host)


async def test_a_name_with_several_addresses_is_tried_at_each(
    server: TerminalServer, host: Host, mocker: MockerFixture
) -> None:
    number = int(server.port.rpartition(":")[2])
    mocker.patch.object(socket, "getaddrinfo", return_value=NAMED)
    await (await opened(f"tcp:moxa:{number}", host)).close()


async def test_a_name_service_that_hangs_costs_one_thread_and_nobody_else(host: Host, mocker: MockerFixture) -> None:
    """The loop's own threads are few: the feed reads the journal in them, and the daemon's end waits for them."""
    mocker.patch.object(tcp, "OPEN_TIMEOUT_S", 0.01)
    over = threading.Event()
    mocker.patch.object(socket, "getaddrinfo", side_effect=lambda *_, **__: over.wait(20) and NAMED)
    before = set(threading.enumerate())
    try:
        for _ in range(3):
            with pytest.raises(PortMissing, match="the name service tells no address for lost:4001"):
                await opened("tcp:lost:4001", host)
        assert len(set(threading.enumerate()) - before) == 1
        assert not [thread for thread in threading.enumerate() if thread.name.startswith("asyncio")]
    finally:
        over.set()


async def test_a_server_that_does_not_answer_is_missing(host: Host, mocker: MockerFixture) -> None:
    mocker.patch.object(tcp, "OPEN_TIMEOUT_S", 0.05)
    mocker.patch.object(socket, "getaddrinfo", return_value=NAMED)

    async def never(*_: object) -> None:
        await asyncio.Event().wait()

    mocker.patch.object(asyncio.get_running_loop(), "create_connection", never)
    with pytest.raises(PortMissing, match="moxa:4001 does not answer"):
        await opened("tcp:moxa:4001", host)


async def test_a_connection_that_does_not_close_is_cut(
    server: TerminalServer, host: Host, mocker: MockerFixture
) -> None:
    mocker.patch.object(tcp, "CLOSE_TIMEOUT_S", 0.01)
    before = len(open_fds())
    transport = await opened(server.port, host)
    await until(lambda: len(server.connections) == 1)
    server.connections[0][1].transport.pause_reading()  # type: ignore[attr-defined]
    for _ in range(64):
        transport.write(bytes(65_536))
        await asyncio.sleep(0)
    await transport.close()
    assert len(open_fds()) <= before + 1
