"""The table of tests/README.md against the tests that there really are."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parent.parent
TABLE: Final = (ROOT / "tests/README.md").read_text()
ROWS: Final[list[tuple[str, str, str]]] = re.findall(r"^\| (F\d\d) \| (.+?) \| (.+?) \|$", TABLE, re.MULTILINE)
IDS: Final = [*(f"F{number:02}" for number in range(1, 54)), "F63", "F66", "F70"]
NAMED: Final = [(row, node) for row, _, held_by in ROWS for node in re.findall(r"`([^`]+)`", held_by)]


@cache
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


def imported_from(file: Path) -> dict[str, Path]:
    """Where the names that a file of tests takes from other files of tests come from."""
    imports = [node for node in tree(file).body if isinstance(node, ast.ImportFrom) and node.module is not None]
    return {
        name.name: ROOT / f"{node.module.replace('.', '/')}.py"
        for node in imports
        if node.module is not None and node.module.startswith("tests.")
        for name in node.names
    }


def those_in(nodes: list[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    yield from (node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def those_of(file: Path, classes: list[str]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The tests of a file, or of a class in it together with those that the class inherits."""
    if not classes:
        yield from those_in(tree(file).body)
        return
    found = [node for node in tree(file).body if isinstance(node, ast.ClassDef) and node.name == classes[0]]
    for node in found:
        yield from those_in(node.body)
        for base in [base.id for base in node.bases if isinstance(base, ast.Name)]:
            yield from those_of(imported_from(file).get(base, file), [base])


def test_every_id_has_one_row() -> None:
    assert [row for row, _, _ in ROWS] == IDS


def test_every_row_names_a_test() -> None:
    assert {row for row, _ in NAMED} == set(IDS)


@pytest.mark.parametrize(("row", "node"), NAMED, ids=[f"{row}-{node.split('::')[-1]}" for row, node in NAMED])
def test_every_test_it_names_is_there_and_bears_the_id(row: str, node: str) -> None:
    file, *classes, name = node.split("::")
    assert Path(file).name.startswith("test_"), "it would not be collected"
    found = [test for test in those_of(ROOT / file, classes) if test.name == name]
    assert found
    assert f"_{row.lower()}_" in name or row in (ast.get_docstring(found[0]) or "")
