"""The contract of transports, on every one there is."""

from pathlib import Path

import pytest

from tests.contract.lines import Line, NullModemLine, PtyLine, ReplayLine, TcpLine, UsbLine
from tests.contract.transport_contract import TransportContract


class TestNullModem(TransportContract):
    def new_line(self, folder: Path) -> Line:
        return NullModemLine()


@pytest.mark.real
class TestPty(TransportContract):
    def new_line(self, folder: Path) -> Line:
        return PtyLine(folder)


@pytest.mark.real
class TestUsb(TransportContract):
    def new_line(self, folder: Path) -> Line:
        return UsbLine()


@pytest.mark.real
class TestTcp(TransportContract):
    def new_line(self, folder: Path) -> Line:
        return TcpLine()


class TestReplay(TransportContract):
    def new_line(self, folder: Path) -> Line:
        return ReplayLine(folder / "recording")
