"""What can go wrong with a journal: each class one situation; `str(error)` is one sentence for a person."""


class JournalError(Exception):
    """The journal cannot do what was asked; nothing of the request was written."""


class JournalHeld(JournalError):
    """Another process writes this journal; the sentence names it."""


class JournalFull(JournalError):
    """No room on the disk: dealing waits until there is."""


class JournalFailed(JournalError):
    """The disk or its folder refuses: a failing disk, missing rights, a missing folder."""


class JournalDamaged(JournalError):
    """What is stored cannot be what was written."""


class JournalForeign(JournalError):
    """The file is another program's, or a newer version's."""


class JournalConflict(JournalError):
    """A write contradicts what is stored: the core does not stand where the journal does and must be rebuilt."""


class WrongKey(JournalError):
    """The journal is sealed with another key than the one given, or no key was given where one is needed."""
