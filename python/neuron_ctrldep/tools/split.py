"""Splitting an input into chunks (``--split-input-file``), with line numbers that stay those of the whole file."""

from __future__ import annotations

import re
from collections.abc import Iterator

DEFAULT_MARKER = "// -----"


def split_input(text: str, marker: str) -> Iterator[str]:
    """The chunks of ``text`` between its markers; as in mlir-opt, a marker counts anywhere in a line.

    Each chunk is padded in front, so that its lines and columns are those of the whole text.
    """
    line, column = 1, 1
    for part in text.split(marker):
        yield "\n" * (line - 1) + " " * (column - 1) + part
        newlines = part.count("\n")
        line += newlines
        column = len(marker) + (len(part) - part.rfind("\n") if newlines else column + len(part))


def near_misses(text: str, marker: str) -> Iterator[tuple[int, int]]:
    """Line and column behind what looks like a marker that is a character or two short: probably meant as one."""
    if len(marker) < 5:
        return
    short = re.compile(rf"^[ \t]*({re.escape(marker[:-1])}|{re.escape(marker[:-2])})[ \t]*$")
    for number, row in enumerate(text.split("\n"), 1):
        match = short.match(row.rstrip("\r"))
        if match:
            yield number, match.end(1) + 1
