"""Splitting an input into chunks (``--split-input-file``), with line numbers that stay those of the whole file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

DEFAULT_MARKER = "// -----"


@dataclass(frozen=True, slots=True)
class Chunk:
    """One part of an input. ``text`` is padded so that every line and column is that of the whole file."""

    text: str
    line: int
    column: int


def split_input(text: str, marker: str) -> Iterator[Chunk]:
    """The chunks of ``text`` between its markers; a marker is found anywhere in a line, as mlir-opt does."""
    line, column = 1, 1
    for part in text.split(marker):
        yield Chunk("\n" * (line - 1) + " " * (column - 1) + part, line, column)
        newlines = part.count("\n")
        if newlines:
            line += newlines
            column = len(part) - part.rfind("\n")
        else:
            column += len(part)
        column += len(marker)
