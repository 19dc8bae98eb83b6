"""An open USB device: bytes, stalls, time limits, and every way in which it ends."""

import asyncio
import errno
import threading
from typing import Any

import pytest
from pytest_mock import MockerFixture

from drivers.errors import LinkError, LinkLost, PortUnusable
from drivers.transports import usb as usb_module
from drivers.transports.run_blocking import stuck
from drivers.transports.usb import READ_AHEAD, UNSENT_BYTES
from drivers.transports.usb_device import MOST_STALLS, TRANSFER_TIMEOUT_MS, UsbPipe
from simulator.wires.usb_bus import UsbBus
from simulator.wires.usb_device import UsbDevice
from tests.drivers.transports.ends.pty_end import Host, open_fds, until
from tests.drivers.transports.ends.usb_end import UsbEnd, identity


@pytest.mark.parametrize("packet_size", [8, 64, 512])
async def test_every_byte_passes_unchanged_in_both_directions(host: Host, packet_size: int) -> None:
    end = UsbEnd(identity(packet_size=packet_size, inward=0x85, outward=0x06, wake=0x87))
    transport = await end.open(host)
    everything = bytes(range(256)) * 33
    end.socket.write(everything)
    transport.write(everything)
    await until(lambda: len(host.data) >= len(everything) and len(end.received) >= len(everything))
    assert host.data == everything
    assert end.received == everything
    await transport.close()


async def test_f42_a_full_packet_is_told_at_once_though_nothing_marks_the_end(host: Host) -> None:
    end = UsbEnd()
    transport = await end.open(host)
    for count in range(1, 6):
        end.socket.write(bytes(64))
        await until(lambda count=count: len(host.data) == 64 * count)  # type: ignore[misc]
    await transport.close()
    assert end.device.seen["reads ended half way"] == 0


async def test_f42_what_was_carried_before_the_time_was_over_is_neither_lost_nor_sent_again(host: Host) -> None:
    end = UsbEnd()
    end.device.take(100)
    transport = await end.open(host)
    sent = bytes(range(250))
    transport.write(sent)
    await until(lambda: end.device.seen["writes ended half way"] > 0)
    assert end.received == sent[:100]
    end.device.take(7)
    await until(lambda: len(end.received) == 107)
    end.device.take(10_000)
    await until(lambda: len(end.received) == len(sent))
    assert end.received == sent
    await transport.close()
    assert host.lost == []


async def test_f43_no_device_can_send_more_than_was_asked_for(host: Host) -> None:
    """A read must hold at least one packet, and whole ones."""
    end = UsbEnd(identity(packet_size=512))
    transport = await end.open(host)
    for size in (1, 511, 512, 513, 5_000):
        end.socket.write(bytes(size))
    await until(lambda: len(host.data) == 1 + 511 + 512 + 513 + 5_000)
    await transport.close()
    assert host.lost == []


async def test_f43_the_bits_above_the_size_in_wmaxpacketsize_are_no_size(host: Host, mocker: MockerFixture) -> None:
    """Else a read would hold many packets, and wait for the last of them."""
    real = UsbBus.get_endpoint_descriptor

    def with_bits_above(*arguments: Any) -> Any:
        described = real(*arguments)
        described.wMaxPacketSize |= 0x1800
        return described

    mocker.patch.object(UsbBus, "get_endpoint_descriptor", with_bits_above)
    end = UsbEnd()
    transport = await end.open(host)
    end.socket.write(bytes(64))
    await until(lambda: len(host.data) == 64)
    await transport.close()
    assert end.device.seen["reads ended half way"] == 0


async def test_f43_a_device_that_babbles_all_the_same_is_told_of_in_words(host: Host) -> None:
    end = UsbEnd()
    transport = await end.open(host)
    end.device.send_packet(b"")
    end.socket.write(b"good")
    end.device.send_packet(bytes(65))
    await until(lambda: bool(host.lost))
    await transport.close()
    assert host.data == b"good"
    assert "ended (it sent more than its own descriptors say that a packet holds)" in str(host.lost[0])
    assert not end.bus.handles


async def test_a_device_that_takes_nothing_holds_up_no_close(host: Host) -> None:
    end = UsbEnd()
    end.device.take(0)
    transport = await end.open(host)
    transport.write(bytes(5000))
    await until(lambda: end.device.seen["reads"] >= 2)
    await transport.close()
    assert live("read usb:") + live("write usb:") == 0
    assert not end.bus.handles
    assert host.lost == []


async def test_transfers_to_the_device_end_with_a_short_packet(host: Host) -> None:
    """A device that reads more than a packet at a time waits for one."""
    end = UsbEnd()
    transport = await end.open(host)
    for size in (64, 128, 4096, 1):
        transport.write(bytes(size))
    await until(lambda: len(end.received) == 64 + 128 + 4096 + 1)
    await transport.close()
    assert end.device.seen["transfers that end unmarked"] == 0


@pytest.mark.parametrize("way", ["inward", "outward"])
async def test_a_stall_is_cleared_and_nothing_is_lost(host: Host, way: str) -> None:
    end = UsbEnd()
    transport = await end.open(host)
    for count in range(1, MOST_STALLS + 3):
        end.device.stall(getattr(end.device.identity, way))
        end.socket.write(b"in")
        transport.write(b"out")
        await until(lambda count=count: len(host.data) == 2 * count and len(end.received) == 3 * count)  # type: ignore[misc]
    assert end.device.seen["halts cleared"] == MOST_STALLS + 2
    await transport.close()
    assert host.lost == []


async def test_a_device_that_stalls_for_ever_is_given_up(host: Host, mocker: MockerFixture) -> None:
    end = UsbEnd()
    transport = await end.open(host)
    mocker.patch.object(UsbDevice, "clear_halt")
    end.device.stall(end.device.identity.inward)
    await until(lambda: bool(host.lost))
    assert "broken pipe" in str(host.lost[0])
    assert end.device.seen["stalls met"] == MOST_STALLS + 1
    await transport.close()


@pytest.mark.parametrize("code", [errno.ENODEV, errno.EIO])
async def test_f44_unplugging_is_told_once_after_everything_is_let_go(code: int) -> None:
    end = UsbEnd()
    told: list[tuple[LinkError, int, int]] = []
    threads = threading.active_count()

    class Late(Host):
        def on_lost(self, error: LinkError) -> None:
            told.append((error, len(end.bus.handles), live("read usb:") + live("write usb:")))

    host = Late()
    transport = await end.open(host)
    end.socket.write(b"last words")
    await until(lambda: host.data == b"last words")
    end.socket.pull(code)
    transport.write(b"nobody is there")
    await until(lambda: bool(told))
    transport.write(b"nobody is there")
    await transport.close()
    (error, handles, ours) = told[0]
    assert len(told) == 1
    assert isinstance(error, LinkLost)
    assert str(error).startswith("the connection at usb:vid=1209,pid=0002,serial=S-1 ended (")
    assert str(error).endswith("check the cable and the power of the device")
    assert (handles, ours) == (0, 0)
    await until(lambda: threading.active_count() <= threads)


async def test_what_came_before_the_cable_was_pulled_is_told_before_the_loss(host: Host) -> None:
    end = UsbEnd()
    await end.open(host)
    for number in range(50):
        end.socket.write(bytes((number,)))
    await until(lambda: len(host.data) > 0)
    end.socket.pull()
    await until(lambda: bool(host.lost))
    assert host.data == bytes(range(len(host.data)))


async def test_f41_no_transfer_waits_longer_than_a_thread_may(host: Host) -> None:
    end = UsbEnd()
    transport = await end.open(host)
    await until(lambda: end.device.seen["reads"] >= 2)
    await transport.close()
    assert TRANSFER_TIMEOUT_MS <= 200
    assert 0 < end.device.seen["longest read ms"] <= 200
    assert live("read usb:") + live("write usb:") == 0


async def test_f41_a_device_is_not_closed_under_a_transfer_that_hangs(host: Host, mocker: MockerFixture) -> None:
    end = UsbEnd()
    release, entered = threading.Event(), threading.Event()
    real = UsbBus.bulk_read

    def hang(*arguments: object) -> int:
        entered.set()
        release.wait(30)
        return int(real(*arguments))  # type: ignore[arg-type]

    mocker.patch.object(UsbBus, "bulk_read", hang)
    mocker.patch.object(usb_module, "CLOSE_TIMEOUT_S", 0.05)
    transport = await end.open(host)
    await until(entered.is_set)
    await transport.close()
    assert len(end.bus.handles) == 1
    with pytest.raises(PortUnusable, match=r"an earlier call about usb:\S+ still hangs: unplug the device"):
        await end.open(host)
    release.set()
    await until(lambda: not end.bus.handles and not stuck("usb:vid=1209,pid=0002,serial=S-1"))
    mocker.stopall()
    await (await end.open(host)).close()


async def test_a_device_that_takes_nothing_is_given_up_with_a_sentence(host: Host) -> None:
    end = UsbEnd()
    end.device.take(0)
    transport = await end.open(host)
    for _ in range(UNSENT_BYTES // 8192 + 1):
        transport.write(bytes(8192))
    await until(lambda: bool(host.lost))
    transport.write(b"more")
    assert len(host.lost) == 1
    assert "bytes wait because the device takes none" in str(host.lost[0])
    assert not end.bus.handles


async def test_a_slow_reader_makes_the_device_wait_and_loses_nothing(host: Host) -> None:
    end = UsbEnd()
    transport = await end.open(host)
    packets = 4 * READ_AHEAD
    sent = b"".join(number.to_bytes(8, "big") * 8 for number in range(packets))
    end.socket.write(sent)
    threading.Event().wait(0.3)  # the event loop is busy elsewhere
    assert end.device.seen["reads"] <= READ_AHEAD + 2
    await until(lambda: len(host.data) == len(sent))
    assert host.data == sent
    await transport.close()


async def test_an_error_of_our_own_ends_the_link_instead_of_leaving_it_deaf(host: Host, mocker: MockerFixture) -> None:
    end = UsbEnd()
    mocker.patch.object(UsbBus, "bulk_read", side_effect=KeyError("boom"))
    await end.open(host)
    await until(lambda: bool(host.lost))
    assert "an internal error, KeyError" in str(host.lost[0])
    assert not end.bus.handles


async def test_a_closed_transport_says_nothing_more(host: Host) -> None:
    end = UsbEnd()
    transport = await end.open(host)
    closing = asyncio.create_task(transport.close())
    await asyncio.sleep(0)
    end.socket.write(b"for nobody")
    end.socket.pull()
    await closing
    transport.write(b"neither")
    await transport.close()
    assert (host.data, host.lost) == (b"", [])
    assert not end.bus.handles


@pytest.mark.real
async def test_f38_a_thousand_openings_leak_no_handle_descriptor_or_thread() -> None:
    """Twenty devices at a time; now and then one is pulled, or stalls, or has something to say."""
    ends = [UsbEnd(identity(serial_number=f"S-{number}")) for number in range(20)]
    hosts = [Host() for _ in ends]
    fds, threads = open_fds(), threading.active_count()
    for turn in range(50):
        opening = (
            end.open(host, f"serial=S-{number}") for number, (end, host) in enumerate(zip(ends, hosts, strict=True))
        )
        transports = await asyncio.gather(*opening)
        for number, end in enumerate(ends):
            match (turn + number) % 5:
                case 0:
                    end.socket.write(b"something to say")
                case 1:
                    end.device.stall(end.device.identity.inward)
                case 2 if turn % 10 == 0:
                    end.socket.pull(errno.EIO)
                    end.socket.plug()
        await asyncio.gather(*(transport.close() for transport in transports))
        assert not any(end.bus.handles for end in ends)
    assert sum(end.bus.opened for end in ends) >= 1000
    await until(lambda: threading.active_count() <= threads)
    assert open_fds() <= fds


async def test_a_cancelled_opening_leaves_nothing_open(host: Host, mocker: MockerFixture) -> None:
    end = UsbEnd()
    entered, release = threading.Event(), threading.Event()
    real = UsbBus.claim_interface

    def slow(*arguments: object) -> None:
        entered.set()
        release.wait(30)
        real(*arguments)  # type: ignore[arg-type]

    mocker.patch.object(UsbBus, "claim_interface", slow)
    given_back = mocker.spy(UsbPipe, "release")
    task = asyncio.create_task(end.open(host))
    await until(entered.is_set)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    release.set()
    await until(lambda: given_back.call_count == 1 and not end.bus.handles)


def live(prefix: str) -> int:
    return sum(thread.name.startswith(prefix) for thread in threading.enumerate())
