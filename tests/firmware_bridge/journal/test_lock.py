"""One process writes; the sentence names it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from firmware_bridge.journal.errors import JournalHeld
from firmware_bridge.journal.lock import JournalLock
from firmware_bridge.journal.store import Store
from tests.firmware_bridge.journal.facts_and_events import KEYS, open_store, receive

_HOLD = """
import sys
from pathlib import Path
from firmware_bridge.journal.lock import JournalLock
lock = JournalLock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_the_second_is_told_who_holds_it(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with pytest.raises(JournalHeld, match=rf"process {os.getpid()} \(.+\) since 2"):
        open_store(tmp_path)
    store.commit([receive(1)])
    store.close()
    store.close()
    open_store(tmp_path).close()


def test_readers_come_beside_the_holder(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    reader = Store.open(tmp_path / "table.journal", KEYS, read_only=True)
    store.commit([receive(1)])
    assert reader.highest().received == 1


def test_a_failed_opening_lets_go(tmp_path: Path) -> None:
    (tmp_path / "table.journal").write_text("no journal " * 20)
    with pytest.raises(Exception, match="not a journal"):
        open_store(tmp_path)
    JournalLock(tmp_path / "table.journal").release()


@pytest.mark.real
def test_the_lock_goes_with_its_process_however_that_ends(tmp_path: Path) -> None:
    path = tmp_path / "table.journal"
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(JournalHeld, match=rf"process {holder.pid} \(.*python.*\) since"):
            JournalLock(path)
    finally:
        holder.kill()
        holder.wait()
    JournalLock(path).release()
