import os
import sys

from firmware_bridge.doctor.machine import MOST_BYTES, Machine, ask_system
from tests.firmware_bridge.doctor.table_pc import TablePc


def test_nothing_is_waited_for_and_nothing_read_without_end(pc: TablePc) -> None:
    os.mkfifo(pc.at("/etc/pipe"))
    assert Machine(pc.root).read("/etc/pipe") == ""
    pc.at("/etc/endless").symlink_to("/dev/zero")
    assert len(Machine(pc.root).read("/etc/endless") or "") <= MOST_BYTES
    for text in ("9" * 5000, "\u0663", "abc"):
        pc.write("/etc/passwd", f"firmware-bridge:x:{text}:{text}:::/bin/false\n")
        Machine(pc.root).groups_of("firmware-bridge")
        assert Machine(pc.root).user_id("nobody") is None


def test_a_command_that_is_not_there_or_says_nothing_is_no_answer() -> None:
    assert ask_system(["/no/such/command"]) is None
    assert ask_system([sys.executable, "-c", ""]) is None
    assert ask_system([sys.executable, "-c", "print('yes')"]) == "yes\n"
