"""Every test that ``docs/faithfulness.md`` names exists, and every row names one."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from .blocks import ROOT

PAGE = ROOT / "docs" / "faithfulness.md"
_REFERENCE = re.compile(r"`((?:lit_tests|tests)/[a-z_][^`]*)`")


def references() -> list[str]:
    """What the page refers to: ``tests/….py::test_…``, ``lit_tests/….mlir`` or ``lit_tests/….mlir::text``."""
    return sorted(set(_REFERENCE.findall(PAGE.read_text(encoding="utf-8"))))


@cache
def defined_in(path: Path) -> frozenset[str]:
    """The names of the tests a Python file defines; methods as ``Class::test``."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef)}
            found.add(node.name)
    return frozenset(found)


@pytest.mark.parametrize("reference", references())
def test_what_the_page_names_exists(reference: str) -> None:
    file, _, name = reference.partition("::")
    path = ROOT / file
    assert path.is_file(), f"there is no {file}"
    if not name:
        return
    if path.suffix == ".py":
        assert name.partition("[")[0] in defined_in(path), f"{file} has no {name}"
    else:
        assert name in path.read_text(encoding="utf-8"), f"{file} does not mention {name}"


def test_every_claim_names_a_test() -> None:
    rows = [
        line
        for line in PAGE.read_text(encoding="utf-8").split("\n")
        if line.startswith("| ") and not re.match(r"\| (Claim|Marked|---)", line)
    ]
    bare = [row for row in rows if not _REFERENCE.search(row)]
    assert len(rows) > 60
    assert not bare
