"""The terminal of the bench, whatever the tests do with standard input and output: what a person is to do."""

import asyncio
import os
import sys
import termios
from typing import Final

from tests.hil.bench.waiting import until

CLEAR: Final = "\r\x1b[K"


class NobodyThereError(Exception):
    """There is no terminal to prompt anybody at; one sentence."""


class Terminal:
    """Opens the controlling terminal. Raises NobodyThereError."""

    def __init__(self) -> None:
        try:
            self._fd = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
        except OSError:
            raise NobodyThereError(
                "Some tests need a person's hands, and there is no terminal to ask for them: "
                "run this at a terminal, or add --hands-free."
            ) from None
        self._unfinished = False

    def say(self, text: str) -> None:
        """A line that stays."""
        self._write(f"{CLEAR if self._unfinished else ''}{text}\n")
        self._unfinished = False

    def progress(self, what: str, waited_s: float, within_s: float) -> None:
        """A line that the next one overwrites."""
        self._write(f"{CLEAR}      waiting for {what}: {waited_s:.0f} s of {within_s:.0f} s")
        self._unfinished = True

    async def ask(self, question: str, within_s: float) -> str:
        """One line that a person types; the Enter key alone is an empty one. Raises BenchFaultError.

        What was typed before the question is no answer to it.
        """
        termios.tcflush(self._fd, termios.TCIFLUSH)
        self._write(f"{CLEAR if self._unfinished else ''}{question} ")
        self._unfinished = False
        typed = bytearray()
        loop = asyncio.get_running_loop()
        loop.add_reader(self._fd, lambda: typed.extend(os.read(self._fd, 1024)))
        try:
            await until(lambda: b"\n" in typed, "somebody to type an answer", within_s)
        finally:
            loop.remove_reader(self._fd)
        return typed.decode(errors="replace").splitlines()[0].strip()

    def close(self) -> None:
        os.close(self._fd)

    def _write(self, text: str) -> None:
        sys.stdout.flush()
        os.write(self._fd, text.encode())
