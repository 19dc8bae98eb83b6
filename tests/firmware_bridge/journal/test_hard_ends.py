"""The process killed at any instant, the disk full: every commit that returned is there, none is half there."""

import contextlib
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from firmware_bridge.journal.errors import JournalError, JournalFailed, JournalFull
from firmware_bridge.journal.rows import Highest
from firmware_bridge.journal.store import Store
from tests.firmware_bridge.journal.facts_and_events import KEYS, apply, open_store, receive

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.real

_WRITE = """
import asyncio, sys
from pathlib import Path
from firmware_bridge.journal.writer import Writer
from tests.firmware_bridge.journal.facts_and_events import apply, open_store, receive

async def main():
    store = open_store(Path(sys.argv[1]))
    writer = Writer(store)
    first = store.highest().applied + 1
    async def one(n):
        await writer.commit([receive(3 * n - 2), receive(3 * n - 1), receive(3 * n), apply(3 * n, 2 * n - 1, 2 * n)])
        print(n, flush=True)
    n = first
    while True:
        await asyncio.gather(*(one(n + i) for i in range(4)))
        n += 4

asyncio.run(main())
"""


def test_kill_at_any_moment(tmp_path: Path) -> None:
    chance = random.Random(5)
    promised = 0
    for _ in range(8):
        writing = subprocess.Popen(
            [sys.executable, "-c", _WRITE, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        assert writing.stdout is not None
        for _ in range(chance.randrange(1, 60)):
            promised = max(promised, int(writing.stdout.readline()))
        for _ in range(chance.randrange(20_000)):
            pass  # somewhere in the middle of a commit
        writing.kill()
        promised = max([promised, *(int(line) for line in writing.stdout.read().split())])
        writing.wait()
        store = open_store(tmp_path)
        highest = store.highest()
        assert store.set_aside is None
        assert highest.applied >= promised
        assert highest == Highest(3 * highest.applied, highest.applied, 2 * highest.applied)
        assert [row.received for row in store.applied()] == [3 * n for n in range(1, highest.applied + 1)]
        assert len(list(store.pending())) == 2 * highest.applied
        store.close()
    assert promised > 8


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["/usr/bin/mount", "-t", "tmpfs", "-o", "size=512k", "none", str(folder)]
    if os.getuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("a file system of its own needs root and mount(8)")
    yield folder
    subprocess.run(["/usr/bin/umount", str(folder)], check=True)


def _fill(store: Store) -> None:
    for n in range(store.highest().applied + 1, 10_000):
        store.commit([receive(n), apply(n, n)])


def test_a_full_disk_is_told_and_passes(small_disk: Path) -> None:
    store = open_store(small_disk)
    (small_disk / "ballast").write_bytes(bytes(200_000))
    with pytest.raises(JournalFull, match="make room"):
        _fill(store)
    with pytest.raises(JournalFull):
        _fill(store)
    stored = store.highest().applied
    assert store.highest() == Highest(stored, stored, stored)
    assert stored > 0
    (small_disk / "ballast").unlink()
    store.commit([receive(stored + 1), apply(stored + 1, stored + 1)])
    store.close()
    store = open_store(small_disk)
    assert store.set_aside is None
    assert [row.received for row in store.applied()] == list(range(1, stored + 2))
    store.close()


def test_no_room_for_a_new_journal(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    with pytest.raises(JournalError):
        open_store(small_disk)
    ballast.unlink()
    open_store(small_disk).close()


_LIMITED = """
import resource, sys
from pathlib import Path
from firmware_bridge.journal.errors import JournalFailed
from tests.firmware_bridge.journal.facts_and_events import apply, open_store, receive

store = open_store(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
n = 0
try:
    while True:
        store.commit([receive(n + 1), apply(n + 1, n + 1)])
        n += 1
except JournalFailed as error:
    print(n, error, sep="\\n")
"""


def test_a_disk_that_refuses_to_write_is_told(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    stored, sentence = done.stdout.splitlines()
    assert int(stored) > 0
    assert "check its disk" in sentence
    store = open_store(tmp_path)
    assert store.set_aside is None
    assert [row.received for row in store.applied()] == list(range(1, int(stored) + 1))


def test_a_folder_without_rights_is_told(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    script = (
        "import os, sys; from pathlib import Path\n"
        "from firmware_bridge.journal.errors import JournalFailed\n"
        "from tests.firmware_bridge.journal.facts_and_events import open_store\n"
        "os.setuid(65534)\n"
        "try:\n    open_store(Path(sys.argv[1]))\nexcept JournalFailed as error:\n    print(error)\n"
    )
    if os.getuid() != 0:
        pytest.skip("only root can become nobody")
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False, timeout=60, cwd=ROOT
    )
    assert "cannot be locked" in done.stdout, done.stderr


def test_reading_goes_on_while_the_writer_is_killed(tmp_path: Path) -> None:
    writing = subprocess.Popen(
        [sys.executable, "-c", _WRITE, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert writing.stdout is not None
    writing.stdout.readline()
    reader = Store.open(tmp_path / "table.journal", KEYS, read_only=True)
    for line in range(40):
        promised = int(writing.stdout.readline())
        assert reader.highest().applied >= promised
        if line == 20:
            writing.kill()
            break
    writing.wait()
    writing.stdout.close()
    assert [row.received for row in reader.applied()] == [3 * n for n in range(1, reader.highest().applied + 1)]
    with pytest.raises(JournalFailed):
        reader.commit([receive(1)])
