"""How a command ends whose output takes no more: once, in words, and with a status that a script can read."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

BROKEN_PIPE: Final = 141


@contextmanager
def told_ending(program: str) -> Iterator[None]:
    """Run a command, and write out what it printed while a failure of that can still be told.

    The interpreter would write it at exit, without a word for whoever waits at the terminal.
    """
    out, err = sys.stdout, sys.stderr
    try:
        try:
            yield
        finally:
            if sys.stdout is not out:  # typer has met a broken pipe, and put something in their place that hides it
                sys.stdout, sys.stderr = out, err
                raise BrokenPipeError
            if out is not None:
                out.flush()
    except BrokenPipeError:
        abandon_output()
        if err is not None:
            err.close()  # it may be the same pipe
        sys.exit(BROKEN_PIPE)
    except OSError as error:
        abandon_output()
        where = "the output or the temporary folder" if error.filename is None else error.filename
        why = error.strerror or error
        print(f"{program}: {where} cannot be used ({why}): make room there, or name another place.", file=sys.stderr)
        sys.exit(1)


def abandon_output() -> None:
    """What is still buffered has nowhere to go, and must not be told as a second error at exit."""
    if sys.stdout is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
