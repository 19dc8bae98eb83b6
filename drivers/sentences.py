"""Text for people: what an error says as a sentence, and other people's text made harmless."""


def printable(text: str) -> str:
    """The text with "?" for what cannot be shown: it may neither steer a terminal nor begin a line."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def clause(error: Exception) -> str:
    """What the error says, without a full stop, so that a sentence can go on after it."""
    return str(error).rstrip(".")


def sentence(error: Exception) -> str:
    """What the error says, ended by one full stop."""
    return f"{clause(error)}."
