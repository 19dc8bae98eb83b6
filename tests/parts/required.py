"""What a suite does without the part of the operating system that it needs."""

import os
from typing import NoReturn

import pytest


def missing(part: str, why: str) -> NoReturn:
    """Skip with the reason, or fail where REQUIRED_PARTS, names with spaces between them, says it must be there."""
    if part in os.environ.get("REQUIRED_PARTS", "").split():
        pytest.fail(f"{part} is required here, and {why}", pytrace=False)
    pytest.skip(f"{part}: {why}")
