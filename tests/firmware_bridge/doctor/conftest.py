"""What the tests of the doctor share."""

from pathlib import Path

import pytest

from tests.firmware_bridge.doctor.table_pc import TablePc


@pytest.fixture
def pc(tmp_path: Path) -> TablePc:
    return TablePc(tmp_path)
