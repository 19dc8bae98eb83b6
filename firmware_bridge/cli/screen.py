"""Where commands print for people."""

from rich.console import Console


class Screen(Console):
    """A console for text as it is, and whose reader may go away.

    Brackets are brackets: a text of a device's may hold what rich would read as a style, or stumble over. A reader that
    goes away ends the command, as a pipe that breaks ends any other program.
    """

    def __init__(self, *, stderr: bool = False, highlight: bool = True, soft_wrap: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=highlight, soft_wrap=soft_wrap, markup=False)

    def on_broken_pipe(self) -> None:
        """Called by rich where the reader has gone: print nothing more."""
        self.quiet = True
        raise BrokenPipeError
