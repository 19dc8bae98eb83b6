from collections.abc import Iterator

import pytest

from tests.drivers.transports.ends.pty_end import Host, PtyEnd


@pytest.fixture
def pty() -> Iterator[PtyEnd]:
    end = PtyEnd()
    yield end
    end.hang_up()


@pytest.fixture
def host() -> Host:
    return Host()
