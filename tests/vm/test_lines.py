"""Real serial lines, where ptys differ: an FTDI adapter and a CDC-ACM device, under the project's own transport."""

import pytest

from tests.vm.guest import lines
from tests.vm.machine import VirtualMachine
from tests.vm.table_pc import UNIT

pytestmark = [pytest.mark.real, pytest.mark.timeout(600), pytest.mark.xdist_group("virtual-machine")]


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("kind", ["adapter", "acm"])
def test_f07_f09_f11_f17_f66_a_real_line(machine: VirtualMachine, kind: str) -> None:
    """Its modem lines, its character format, whom it lets in, its bytes, and its end."""
    machine.shell(f"systemctl stop {UNIT}")  # it would take the shoe
    told = machine.python(lines, kind)
    assert told["found"]
    assert told["seven_even_one"] == "7E1"
    assert told["lines_on"] == ["DTR", "RTS"]
    assert told["lines_off"] == []
    assert told["as_nobody"] == "EBUSY"
    assert "is held by this process itself" in told["held"]
    assert len(told["lost"]) == 1
    assert "check the cable and the power" in told["lost"][0]
    assert told["still_open"] == []
