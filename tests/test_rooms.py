"""The rooms of the house: how many files a folder holds, how long they are, and what may stand loose."""

from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parent.parent
PRODUCT: Final = ("drivers", "firmware_bridge", "simulator")
FOLDERS: Final = sorted(
    {file.parent.relative_to(ROOT) for top in (*PRODUCT, "tests") for file in (ROOT / top).rglob("*.py")}
)
LOOSE: Final = {"__init__.py", "__main__.py", "config.py", "logs.py", "secret_files.py", "unix_sockets.py"}
MOST_FILES: Final = 14
MOST_TEST_FILES: Final = 2 * MOST_FILES  # one for each module, and as many for what several do together
MOST_LINES: Final = 400


def modules(folder: Path) -> list[Path]:
    return [file for file in (ROOT / folder).glob("*.py") if file.name != "__init__.py"]


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_a_folder_holds_no_more_files_than_one_can_take_in(folder: Path) -> None:
    assert len(modules(folder)) <= (MOST_TEST_FILES if folder.parts[0] == "tests" else MOST_FILES)


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_no_file_is_longer_than_one_can_read(folder: Path) -> None:
    lines = {file.name: len(file.read_text().splitlines()) for file in modules(folder)}
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}


def test_nothing_stands_loose_beside_the_rooms() -> None:
    assert {file.name for file in (ROOT / "firmware_bridge").glob("*.py")} <= LOOSE
