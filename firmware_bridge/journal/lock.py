"""One writing process a journal: a lock that the kernel lifts when its holder ends, however it ends."""

import contextlib
import fcntl
import os
import time
from pathlib import Path
from typing import Final

from firmware_bridge.journal.errors import JournalFailed, JournalHeld

_NOTE_BYTES: Final = 4096


class JournalLock:
    """Held from construction to `release`; the note in the file tells others who holds it.

    The file stays behind: taking it away would let two processes lock two files of one name.
    Raises JournalHeld, JournalFailed.
    """

    def __init__(self, journal: Path) -> None:
        path = journal.with_name(journal.name + ".lock")
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise JournalFailed(
                f"the journal {journal} cannot be locked: {path}: {error.strerror}; check [journal] file and its folder"
            ) from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            note = os.pread(self._descriptor, _NOTE_BYTES, 0).decode(errors="replace").strip()
            os.close(self._descriptor)
            holder = note or "another process"
            raise JournalHeld(
                f"the journal {journal} is in use by {holder}: stop that one first, or name another [journal] file"
            ) from error
        os.ftruncate(self._descriptor, 0)
        with contextlib.suppress(OSError):  # the note is a courtesy; a full disk does not undo the lock
            os.pwrite(self._descriptor, _note().encode()[:_NOTE_BYTES], 0)

    def release(self) -> None:
        """Let the next one in; a second call does nothing."""
        if self._descriptor >= 0:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = -1


def _note() -> str:
    command = Path("/proc/self/cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ").decode(errors="replace")
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime())
    return f"process {os.getpid()} ({' '.join(command.split())}) since {since}"
