"""A frame there and back over a pty, beside a loop in C that does nothing but read and write: `make bench`.

The far end is the same for both: a program in C that sends back what comes. Near and far end each have a processor of
their own. Ours makes each frame, sends it through the transport on the event loop, and decodes what comes back.
"""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import tty
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import perf_counter
from typing import Final

from drivers.errors import LinkError
from drivers.framing import DELIMITER, FrameDecoder, encode_frame
from drivers.tdp.codec.header import Header
from drivers.transports.ports import SerialPort
from drivers.transports.serial import SerialTransport, open_serial

ROUNDS: Final = 400
TRIPS: Final = 25
AIM: Final = 1.25
PAYLOAD: Final = b"%016d" % 7_919
SOURCE: Final = Path(__file__).with_suffix(".c")


class _Asker:
    """Sends the next frame as soon as the last has come back."""

    def __init__(self) -> None:
        self.transport: SerialTransport | None = None
        self._decoder = FrameDecoder()
        self._decoder.feed(DELIMITER)
        self._left = 0
        self._done: asyncio.Future[None] | None = None

    async def trips(self, count: int) -> float:
        """How long so many took, in s."""
        self._left, self._done = count, asyncio.get_running_loop().create_future()
        begun = perf_counter()
        self._send()
        await self._done
        return perf_counter() - begun

    def heard(self, data: bytes) -> None:
        for body in self._decoder.feed(data):
            if Header.from_bytes(body).sequence == self._left:
                self._left -= 1
                self._send()

    def lost(self, error: LinkError) -> None:
        if self._done is not None:
            self._done.set_exception(error)

    def _send(self) -> None:
        if self._left and self.transport is not None:
            self.transport.write(_frame(self._left))
        elif self._done is not None:
            self._done.set_result(None)


def _frame(sequence: int) -> bytes:
    header = Header(to_host=True, message_type=0x90, session=0x5EED0123, sequence=sequence)
    return encode_frame(header.to_bytes() + PAYLOAD)


@contextmanager
def _running(*words: str, fd: int) -> Iterator[subprocess.Popen[str]]:
    program = subprocess.Popen(words, pass_fds=[fd], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield program
    finally:
        program.kill()
        program.communicate()


def _asked(program: subprocess.Popen[str], trips: int) -> float:
    """How long so many trips took the loop in C, in s."""
    if program.stdin is None or program.stdout is None:
        return 0
    program.stdin.write(f"{trips}\n")
    program.stdin.flush()
    return int(program.stdout.readline()) / 1e9


async def _measure(program: Path, near: int, far: int) -> tuple[float, float]:
    """The best times of so many TRIPS in s: those of the loop in C, and ours."""
    with ExitStack() as stack:
        ends = [os.openpty() for _ in range(2)]
        for end in (end for pair in ends for end in pair):
            stack.callback(os.close, end)
        (their_far, their_near), (our_far, our_near) = ends
        for end in (their_near, our_near):
            tty.setraw(end)
        for end in (their_far, our_far):
            stack.enter_context(_running(str(program), "echo", str(end), str(far), fd=end))
        size = str(len(_frame(1)))
        loop = stack.enter_context(_running(str(program), "ask", str(their_near), str(near), size, fd=their_near))
        os.sched_setaffinity(0, {near})
        asker = _Asker()
        asker.transport = await open_serial(SerialPort(os.ttyname(our_near)), asker.heard, asker.lost)
        theirs = ours = float("inf")
        for _ in range(ROUNDS):
            theirs = min(theirs, _asked(loop, TRIPS))
            ours = min(ours, await asker.trips(TRIPS))
        await asker.transport.close()
        return theirs, ours


def main() -> int:
    """Measure and print."""
    compiler = shutil.which("cc")
    processors = sorted(os.sched_getaffinity(0))
    if compiler is None or len(processors) < 2:
        print("round trips over a pty: not measured, since that needs a C compiler (cc) and two processors")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "round_trip")
        subprocess.run([compiler, "-O2", "-o", program, SOURCE], check=True)
        theirs, ours = asyncio.run(_measure(program, processors[0], processors[1]))
    print(f"round trips over a pty, one frame of {len(_frame(1))} bytes after the other, best of {ROUNDS} rounds")
    for name, seconds in {"loop in C": theirs, "firmware-bridge": ours}.items():
        print(f"  {name:16}{seconds / TRIPS * 1e6:7.1f} us a trip   {seconds / theirs:5.2f}")
    print(f"  aim: at most {AIM}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
