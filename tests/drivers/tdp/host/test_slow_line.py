"""A ring that is told over a line which carries one byte at a time: it takes its time, and is told once."""

from random import Random

import pytest

from drivers.driver import DeviceKind, LinkDown, NumberedFact, Step
from drivers.facts import CardDrawn
from drivers.tdp.host.driver import TdpDriver
from simulator.firmware.device import Firmware
from simulator.firmware.device_auth import DeviceAuth
from simulator.firmware.identity import Identity
from tests.drivers.tdp.wire import KEY, Machine

FACTS = 300


class SlowLine:
    """Both directions carry `baud` / 10 bytes a second, in order; what waits to be carried is not bounded."""

    def __init__(self, baud: int, key: bytes | None) -> None:
        self.bytes_a_ms = baud / 10_000
        identity = Identity(DeviceKind.SHOE, "SN-1", b"boot---1", 1, 5000, first_number=2**32 - 50, baud=baud)
        self.firmware = Firmware(identity, Machine(), DeviceAuth(Random(1).randbytes, key))
        self.driver = TdpDriver(DeviceKind.SHOE, None)
        self.waiting: dict[bool, bytearray] = {True: bytearray(), False: bytearray()}
        self.credit = {True: 0.0, False: 0.0}
        self.told: list[int] = []
        self.now_ms = 0
        self.key = key

    def open(self) -> None:
        self.host(self.driver.opened(nonce=b"12345678", key=self.key, resume=None, now_ms=self.now_ms))

    def host(self, step: Step) -> None:
        self.waiting[False] += step.to_send
        for report in step.reports:
            assert not isinstance(report, LinkDown)
            if isinstance(report, NumberedFact):
                self.told.append(report.number)
                self.host(self.driver.durable(report.number, self.now_ms))

    def run(self, ms: int) -> None:
        for _ in range(ms):
            self.now_ms += 1
            for to_host, waiting in self.waiting.items():
                self.credit[to_host] = min(self.credit[to_host], 1.0) + self.bytes_a_ms
                while waiting and self.credit[to_host] >= 1:
                    self.credit[to_host] -= 1
                    byte = bytes((waiting.pop(0),))
                    if to_host:
                        self.host(self.driver.receive(byte, self.now_ms))
                    else:
                        self.waiting[True] += self.firmware.receive(byte, self.now_ms)
            self.host(self.driver.tick(self.now_ms))
            self.waiting[True] += self.firmware.tick(self.now_ms)


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "authenticated"])
@pytest.mark.parametrize("baud", [115_200, 19_200, 9600])
def test_a_ring_is_told_once_however_slow_the_line(baud: int, key: bytes | None) -> None:
    """The first round trips are those of short messages, a full window takes ten times as long."""
    line = SlowLine(baud, key)
    for draw in range(FACTS):
        line.firmware.report(CardDrawn(at_ms=0, draw=draw, card=None, face="down"), 0)
    line.open()
    while len(line.told) < FACTS and line.now_ms < 60_000:
        line.run(100)
    assert line.told == [(2**32 - 50 + step) % 2**32 for step in range(FACTS)]
    assert line.driver.counters["repeated_frames"] == 0
