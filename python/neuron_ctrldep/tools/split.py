"""Splitting an input into chunks (``--split-input-file``), with line numbers that stay those of the whole file."""

from __future__ import annotations

from collections.abc import Iterator

DEFAULT_MARKER = "// -----"


def split_input(text: str, marker: str) -> Iterator[str]:
    """The chunks of ``text`` between its markers; as in mlir-opt, a marker counts anywhere in a line.

    Each chunk is padded in front, so that its lines and columns are those of the whole text.
    """
    for line, column, part in split_with_places(text, marker):
        yield padded(line, column, part)


def padded(line: int, column: int, chunk: str) -> str:
    """``chunk``, which starts at ``line`` and ``column``, behind as many lines and spaces."""
    return "\n" * (line - 1) + " " * (column - 1) + chunk


def split_with_places(text: str, marker: str) -> Iterator[tuple[int, int, str]]:
    """The line and column at which each chunk starts, and the chunk.

    A marker at the very end has no chunk behind it.
    """
    line, column = 1, 1
    parts = text.split(marker)
    if len(parts) > 1 and not parts[-1]:
        parts.pop()
    for part in parts:
        yield line, column, part
        newlines = part.count("\n")
        line += newlines
        column = len(marker) + (len(part) - part.rfind("\n") if newlines else column + len(part))


def near_misses(text: str, marker: str) -> Iterator[tuple[int, int]]:
    """Line and column behind what starts as a marker does and lacks its last two characters: probably meant as one."""
    start, end = marker[:-2], marker[-2:]
    line, counted = 1, 0
    found = text.find(start) if start else -1
    while found >= 0:
        behind = found + len(start)
        line += text.count("\n", counted, behind)
        counted = behind
        if not text.startswith(end, behind):
            yield line, behind - text.rfind("\n", 0, behind)
        found = text.find(start, behind)
