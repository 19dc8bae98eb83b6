"""What the doctor says: one sentence for each thing looked at, with what to do where something is to be done."""

import enum
from collections.abc import Iterable

import msgspec


class Health(enum.Enum):
    """UNKNOWN: it could not be looked at, which is neither good nor bad."""

    OK = "ok"
    UNKNOWN = "unknown"
    WARNING = "warning"
    WRONG = "wrong"


class Finding(msgspec.Struct, frozen=True):
    """What one check found; the sentence says what to do where something is wrong."""

    check: str
    health: Health
    sentence: str


_STATUS = {Health.OK: 0, Health.UNKNOWN: 1, Health.WARNING: 1, Health.WRONG: 2}


def exit_status(findings: Iterable[Finding]) -> int:
    """0: all is well. 1: something may be wrong, or could not be seen. 2: something is wrong."""
    return max((_STATUS[finding.health] for finding in findings), default=0)
