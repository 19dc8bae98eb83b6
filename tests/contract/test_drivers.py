"""The contract of drivers, on every one that comes with the project."""

from drivers.angel_eye.driver import AngelEyeDriver
from drivers.angel_eye.telegrams import ACK
from drivers.driver import DeviceKind, Driver
from drivers.facts import CardDrawn
from drivers.tdp.host.driver import TdpDriver
from simulator.firmware.angel_eye import AngelEyeFirmware
from simulator.firmware.device import Firmware
from simulator.firmware.identity import Identity
from tests.contract.bench import Shoe
from tests.contract.driver_contract import DriverContract, Quirks
from tests.drivers.angel_eye.wire import Lock


class TdpShoe:
    def __init__(self) -> None:
        identity = Identity(
            kind=DeviceKind.SHOE, serial_number="S-1", boot=b"boot---1", decks=1, clock_offset_ms=777_000
        )
        self._firmware = Firmware(identity, Lock())

    @property
    def wake_at_ms(self) -> int | None:
        return self._firmware.wake_at_ms

    def draw(self, drawn: CardDrawn, now_ms: int) -> bytes:
        return self._firmware.report(drawn, now_ms)

    def receive(self, data: bytes, now_ms: int) -> bytes:
        return self._firmware.receive(data, now_ms)

    def tick(self, now_ms: int) -> bytes:
        return self._firmware.tick(now_ms)

    def plugged_in(self) -> bytes:
        self._firmware.plugged_in()
        return b""


class AngelEyeShoe:
    wake_at_ms = None

    def __init__(self) -> None:
        self._firmware = AngelEyeFirmware(Lock())

    def draw(self, drawn: CardDrawn, now_ms: int) -> bytes:
        return self._firmware.report(drawn)

    def receive(self, data: bytes, now_ms: int) -> bytes:
        return self._firmware.receive(data)

    def tick(self, now_ms: int) -> bytes:
        return b""

    def plugged_in(self) -> bytes:
        return b""


class TestTdp(DriverContract):
    def new_shoe(self) -> Shoe:
        return TdpShoe()

    def new_driver(self) -> Driver:
        return TdpDriver(DeviceKind.SHOE, "S-1")


class TestAngelEye(DriverContract):
    quirks = Quirks(repairs=False, sessions=False, remembers=False)

    def new_shoe(self) -> Shoe:
        return AngelEyeShoe()

    def new_driver(self) -> Driver:
        return AngelEyeDriver(DeviceKind.SHOE, None)

    def opens_a_session(self, piece: bytes) -> bool:
        return bytes((ACK,)) in piece
