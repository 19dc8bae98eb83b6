"""Where commands print for people."""

from rich.console import Console


class Screen(Console):
    """A console whose reader may go away: that ends the command, as a pipe that breaks ends any other program."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        raise BrokenPipeError
