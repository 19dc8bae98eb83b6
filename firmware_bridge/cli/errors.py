"""How a command ends when it cannot go on."""


class CommandError(Exception):
    """One sentence for the person at the terminal, and the exit status."""

    def __init__(self, sentence: str, status: int = 1) -> None:
        super().__init__(sentence)
        self.status = status
