"""Records a device's port into files, one for each run, and never lets that harm the link, nor the journal's disk."""

import contextlib
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import structlog

from drivers.transports.pcapng import CaptureWriter, Piece
from firmware_bridge.logs import LogEvent

FOLDER_MODE: Final = 0o700
ROOM_LEFT: Final = 256 * 2**20
LOOK_AFTER: Final = 2**20
"""Bytes written between two looks at the room on the disk."""


class Capture:
    """A tap (firmware_bridge/devices/frame_history.py). `folder` is made where it is missing.

    `wall_ns`: the time of day, which is asked once for each connection: within one, times go on by `passing_ns`, since
    the time of day may be set meanwhile.
    """

    def __init__(
        self,
        device: str,
        port: str,
        folder: Path,
        wall_ns: Callable[[], int] = time.time_ns,
        passing_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._device = device
        self._port = port
        self._folder = folder
        self._wall_ns = wall_ns
        self._passing_ns = passing_ns
        self._ahead_ns = 0
        self._log = structlog.get_logger("capture").bind(device=device, port=port)
        self._writer: CaptureWriter | None = None
        self._looked_at = 0
        self._given_up = False

    def opened(self, nonce: bytes) -> None:
        """A connection begins; `nonce` is what its HELLO bears."""
        if self._given_up:
            return
        if self._writer is not None and self._writer.taken_away:
            self.close()
        self._ahead_ns = self._wall_ns() - self._passing_ns()
        try:
            writer = self._writer or self._new_file()
            writer.begin(port=self._port, device=self._device, nonce=nonce)
        except OSError as error:
            self._give_up(f"{error.strerror or error}: make room or correct `capture`, and start the daemon anew")

    def passed(self, *, to_host: bool, data: bytes) -> None:
        """Bytes went by; `to_host` says which way."""
        if self._writer is None:
            return
        try:
            self._writer.put(Piece(self._passing_ns() + self._ahead_ns, to_host, data))
            crowded = self._crowded(self._writer)
        except OSError as error:
            self._give_up(f"{error.strerror or error}: make room, and start the daemon anew")
            return
        if self._writer.full:
            self._give_up("the file has its greatest size: start the daemon anew for another")
        elif crowded:
            self._give_up("its disk is almost full, and the journal may need the rest: make room")

    def close(self) -> None:
        """The file is whole; a connection that is opened later gets another."""
        if self._writer is not None:
            with contextlib.suppress(OSError):  # what a disk says at the end must not reach the link
                self._writer.close()
            self._writer = None

    def _new_file(self) -> CaptureWriter:
        self._folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        began = datetime.fromtimestamp(self._wall_ns() / 1e9, UTC)
        file = self._folder / f"{self._device}-{began:%Y%m%dT%H%M%S.%fZ}.pcapng"
        self._writer = CaptureWriter(file)
        self._looked_at = -LOOK_AFTER
        self._log.warning(
            LogEvent.CAPTURE_STARTED,
            sentence=f"all that passes on this port is recorded in {file}, the cards that lie face down included:"
            " guard it as you guard the cards, and take `capture` out of the configuration when you have what you need",
        )
        return self._writer

    def _crowded(self, writer: CaptureWriter) -> bool:
        if writer.size - self._looked_at < LOOK_AFTER:
            return False
        self._looked_at = writer.size
        disk = os.statvfs(self._folder)
        return disk.f_bavail * disk.f_frsize < ROOM_LEFT

    def _give_up(self, why: str) -> None:
        self.close()
        self._given_up = True
        sentence = f"nothing more of this port is recorded in {self._folder} ({why}); the device is not affected"
        self._log.error(LogEvent.CAPTURE_STOPPED, sentence=sentence)
